/**
 * A long random run against a data folder that is killed, stopped, compacted and backed up all the time, from a seed
 * that reproduces it: npm run test:crash -- SEED STEPS. Eight clients write, overwrite and forget, each for its own
 * users, and know what every user's facts must be. After each kill the service is started again and everything is
 * compared: all that was acknowledged, and of a write in flight all or nothing. The encodes that were counted must
 * agree too. With STEPS 0 only the second part runs: stopped for 40 seconds at each named step.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../src/base/random.ts";
import { STEPS } from "../../src/base/steps.ts";
import { ProgressLine } from "../../src/cli/printed.ts";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { send } from "../http/plain-client.ts";
import { type CrashServer, checkFacts, type Expected, makeKey, startServer } from "./crash-server.ts";
import { makeTemplate, SERVED_STEPS, trySteps } from "./crash-steps.ts";

const CLIENTS = 8;
const USERS = 6;
const LABELS = ["USER.name", "USER.os", "PREF.tone", "TASK.current", "TASK.next", "PROJ.goal"];
const STOP_MS = 40_000;
/** Steps that come by themselves, or with the work that the run does. */
const RUNNING_STEPS = STEPS.filter((step) => /^(group|copy|compaction|backup):/.test(step));

type Random = ReturnType<typeof seededRandom>;

class CrashRun {
  readonly #home = mkdtempSync(join(tmpdir(), "sideband-crash-"));
  readonly #folder = join(this.#home, "data");
  readonly #random: Random;
  readonly #expected = new Map<string, Expected>();
  #server!: CrashServer;
  #key = "";
  /** Encodes that were acknowledged, and those of which it is not known. */
  #counted = 0;
  #unsure = 0;
  #upkeep: Promise<unknown> | undefined;
  readonly counts: Record<string, number> = {};

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  async run(steps: number, progress: ProgressLine): Promise<void> {
    this.#server = (await startServer(this.#folder))!;
    this.#key = await makeKey(this.#folder);
    for (let done = 0; done < steps; done += CLIENTS) {
      await this.#disturb();
      await Promise.all(Array.from({ length: CLIENTS }, (_, client) => this.#act(client)));
      progress.step(CLIENTS);
      if (this.#server.child.exitCode !== null || this.#server.child.signalCode !== null)
        await this.#startAgain();
    }
    await this.#startAgain();
    await this.#server.end();
    rmSync(this.#home, { recursive: true });
  }

  #note(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** One step of one client: writes, overwrites or forgets facts of one of its users, or reads them. */
  async #act(client: number): Promise<void> {
    const random = this.#random;
    const user = `c${client}-${random.below(USERS)}`;
    const state = this.#expected.get(user) ?? { settled: new Map(), inFlight: undefined };
    this.#expected.set(user, state);
    // Whether its last write was stored will be known after the next start.
    if (state.inFlight !== undefined) return;
    const kind = random.below(20);
    const after = new Map(state.settled);
    const facts = LABELS.filter(() => random.below(3) === 0).map((label) => ({
      label,
      value: `${label} ${random.below(1e9)}`,
    }));
    let request: () => ReturnType<typeof send>;
    let encodes = 0;
    if (kind < 14 && facts.length > 0) {
      for (const { label, value } of facts) after.set(label, value);
      encodes = facts.length;
      const headers = { "idempotency-key": `${user}-${random.below(1e9)}` };
      const body = { user_id: user, facts };
      request = () => this.#call("POST", "/encode/batch", { body, headers });
    } else if (kind < 16) {
      const [label] = [...state.settled.keys()];
      if (label === undefined) return;
      after.delete(label);
      request = () => this.#call("DELETE", `/facts?user_id=${user}&label=${label}`);
    } else if (kind === 16) {
      if (state.settled.size === 0) return;
      after.clear();
      request = () => this.#call("DELETE", `/users?user_id=${user}`);
    } else return this.#readNow(user, state);
    state.inFlight = after;
    const status = await request().then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) {
      state.settled = after;
      state.inFlight = undefined;
      this.#counted += encodes;
      this.#note("acknowledged");
      await this.#readNow(user, state);
    } else {
      this.#unsure += encodes;
      this.#note(status === 0 ? "lost with the connection" : `answered ${status}`);
    }
  }

  /** What was acknowledged is seen by the next read, on whatever connection. */
  async #readNow(user: string, state: Expected): Promise<void> {
    if (state.inFlight !== undefined) return;
    const answer = await this.#call("GET", `/facts?user_id=${user}`).catch(() => undefined);
    if (answer?.status !== 200) return;
    const read = answer.json.facts.map(({ label, value }: Record<string, string>) => [label, value]);
    assert.deepEqual(new Map(read), new Map([...state.settled]), `what ${user} reads`);
    this.#note("read");
  }

  #call(method: string, path: string, options: { body?: unknown; headers?: Record<string, string> } = {}) {
    return send(this.#server.url, method, path, { key: this.#key, ...options });
  }

  /** Now and then something happens to the service, while the clients go on. */
  async #disturb(): Promise<void> {
    const random = this.#random;
    const kind = random.below(60);
    if (kind === 0) {
      this.#note("killed");
      setTimeout(() => this.#server.child.kill("SIGKILL"), random.below(20));
    } else if (kind === 1) {
      this.#note("killed at a step");
      const step = RUNNING_STEPS[random.below(RUNNING_STEPS.length)];
      this.#server.arm({ step, signal: "SIGKILL", nth: 1 + random.below(3) });
      this.#work(step.startsWith("backup:"));
    } else if (kind === 2) {
      this.#note("stopped");
      const { child } = this.#server;
      child.kill("SIGSTOP");
      setTimeout(() => child.kill("SIGCONT"), random.below(300));
    } else if (kind === 3) {
      this.#note("ended in order");
      await this.#startAgain();
    } else if (kind < 8) this.#work(random.below(4) === 0);
  }

  /** A compaction or a backup beside the clients, one at a time. */
  #work(backup: boolean): void {
    if (this.#upkeep !== undefined) return;
    const folder = join(this.#home, `backup-${this.counts.backup ?? 0}`);
    this.#note(backup ? "backup" : "compaction");
    const client = OwnerClient.of(this.#folder);
    const work = backup
      ? client.work("/operator/backup", { folder, without_master_key: false }, () => {})
      : client.work("/operator/compact", {}, () => {});
    this.#upkeep = work
      .catch(() => {})
      .finally(() => {
        rmSync(folder, { recursive: true, force: true });
        this.#upkeep = undefined;
      });
  }

  async #startAgain(): Promise<void> {
    const { child, ended } = this.#server;
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    const status = await ended;
    assert.ok(status === 0 || status === "SIGKILL", `it ended with ${status}`);
    await this.#upkeep;
    this.#server = (await startServer(this.#folder))!;
    const found = await checkFacts(this.#server.url, this.#key, this.#expected);
    const { used } = (await this.#call("GET", "/usage")).json;
    assert.ok(used >= this.#counted && used <= this.#counted + this.#unsure, `${used} encodes were counted`);
    this.#counted = used;
    this.#unsure = 0;
    const metrics = (await this.#call("GET", "/metrics")).text;
    assert.equal(Number(/^sideband_store_facts (\d+)/m.exec(metrics)?.[1]), found, "facts in the store");
    this.#note("compared");
  }
}

const seed = Number(process.argv[2] ?? Date.now() % 2 ** 32);
const steps = Number(process.argv[3] ?? 10_000);
console.log(`seed ${seed}, ${steps} steps`);
if (steps > 0) {
  const run = new CrashRun(seed);
  const progress = new ProgressLine("steps", steps);
  await run.run(steps, progress);
  progress.end();
  for (const [what, count] of Object.entries(run.counts).sort()) console.log(`${what.padEnd(28)}${count}`);
}
console.log(`stopped for ${STOP_MS / 1000} s at each of ${SERVED_STEPS.length} steps`);
const template = await makeTemplate();
await trySteps(template, { steps: SERVED_STEPS, atOnce: SERVED_STEPS.length, stopMs: STOP_MS });
template.remove();
console.log("nothing was lost, and nothing was there that should not be");
