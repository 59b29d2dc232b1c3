/** A service in a process of its own that the crash tests kill and stop, and writers whose facts can be checked. */

import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Step } from "../../src/base/steps.ts";
import { readConfig } from "../../src/config.ts";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { startService } from "../../src/main/service.ts";
import { bundledProgram } from "../fixtures/bundled-program.ts";
import { type Answer, send } from "../http/plain-client.ts";

const PROGRAM = new URL("./crash-child.ts", import.meta.url);
const START_TIMEOUT_MS = 180_000;

/** Where a child kills or stops itself. */
export interface Arm {
  readonly step: Step;
  readonly signal: "SIGKILL" | "SIGSTOP";
  /** The occurrence of the step that counts, from 1. */
  readonly nth: number;
}

export interface CrashServer {
  readonly child: ChildProcess;
  readonly url: string;
  /** What it printed on its way. */
  readonly lines: readonly string[];
  /** The exit status or the signal that ended it. */
  readonly ended: Promise<number | string>;
  arm(arm: Arm): void;
  end(): Promise<void>;
}

export async function startChild(args: readonly string[]): Promise<{
  child: ChildProcess;
  ended: Promise<number | string>;
}> {
  const child = fork(await bundledProgram(PROGRAM), args, { execArgv: [], stdio: ["ignore", 2, 2, "ipc"] });
  const ended = once(child, "exit").then(([status, signal]) => status ?? signal);
  return { child, ended };
}

/** Starts a service; undefined where it ended on the way, killed at a step of the start. */
export async function startServer(folder: string, arm?: Arm): Promise<CrashServer | undefined> {
  const { child, ended } = await startChild(["serve", folder, arm === undefined ? "" : JSON.stringify(arm)]);
  const lines: string[] = [];
  const listening = new Promise<string>((resolve) => {
    child.on("message", (line: string) => {
      lines.push(line);
      const url = /listening on (\S+)/.exec(lines.join("\n"))?.[1];
      // The key, where there is one, comes with the place of the admin token, after the address.
      if (line.startsWith("admin token")) resolve(url!);
    });
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), START_TIMEOUT_MS);
  const url = await Promise.race([listening, ended.then(() => undefined)]);
  clearTimeout(timer);
  if (url === undefined) return undefined;
  return {
    child,
    url,
    lines,
    ended,
    arm: (next) => {
      // It may be dying already.
      if (child.connected) child.send(next, () => {});
    },
    async end() {
      child.kill("SIGTERM");
      assert.equal(await ended, 0);
    },
  };
}

/** A service in this process, where nothing is to be killed: what a child left is looked at with it. */
export async function serveHere(folder: string): Promise<Pick<CrashServer, "url" | "end">> {
  const config = readConfig({ SIDEBAND_DATA: folder, SIDEBAND_PORT: "0", SIDEBAND_LOG_LEVEL: "error" });
  const { url, close } = await startService(config, { warm: false });
  return { url, end: close };
}

export async function makeKey(folder: string): Promise<string> {
  const client = OwnerClient.of(folder);
  return (await client.json<{ key: string }>("POST", "/admin/keys", { account: "acme", tier: "unlimited" }))
    .key;
}

/** What a user's facts must be: as they were before the write in flight, or as they are after it. */
export interface Expected {
  settled: ReadonlyMap<string, string>;
  inFlight: ReadonlyMap<string, string> | undefined;
}

export async function readFacts(url: string, key: string, user: string): Promise<Map<string, string>> {
  const answer = await send(url, "GET", `/facts?user_id=${user}`, { key });
  assert.equal(answer.status, 200, answer.text);
  return new Map(answer.json.facts.map(({ label, value }: Record<string, string>) => [label, value]));
}

/** All that was acknowledged is there, and nothing else: a write in flight is there whole or not at all. */
export async function checkFacts(
  url: string,
  key: string,
  expected: ReadonlyMap<string, Expected>,
): Promise<number> {
  let found = 0;
  for (const [user, state] of expected) {
    const actual = await readFacts(url, key, user);
    found += actual.size;
    if (state.inFlight !== undefined && isSame(actual, state.inFlight)) state.settled = state.inFlight;
    assert.deepEqual(sorted(actual), sorted(state.settled), user);
    state.inFlight = undefined;
  }
  return found;
}

/** Between two writes of a writer: without a pause the writers would take all of the processor until the step comes. */
const WRITE_PAUSE_MS = 30;

/** Eight writers, each with its own users, until the service is gone or they are stopped. */
export class Writers {
  readonly expected = new Map<string, Expected>();
  acknowledged = 0;
  #running = true;
  readonly #done: Promise<unknown>;

  constructor(url: string, key: string) {
    this.#done = Promise.all(Array.from({ length: 8 }, (_, i) => this.#write(url, key, i)));
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#done;
  }

  async #write(url: string, key: string, writer: number): Promise<void> {
    for (let i = 0; this.#running; i++, await pause(WRITE_PAUSE_MS)) {
      const user = `w${writer}-${i % 5}`;
      const state = this.expected.get(user) ?? { settled: new Map(), inFlight: undefined };
      this.expected.set(user, state);
      const facts = ["USER.name", "USER.os", "TASK.next"].map((label) => ({ label, value: `${label} ${i}` }));
      const forgets = i % 9 === 8;
      state.inFlight = new Map(forgets ? [] : facts.map(({ label, value }) => [label, value]));
      let answer: Answer;
      try {
        answer = forgets
          ? await send(url, "DELETE", `/users?user_id=${user}`, { key })
          : await send(url, "POST", "/encode/batch", { key, body: { user_id: user, facts } });
      } catch {
        return;
      }
      // After 404 there was nothing to forget. Anything else that is no 200 leaves it open.
      if (answer.status !== 200 && answer.status !== 404) continue;
      state.settled = state.inFlight;
      state.inFlight = undefined;
      this.acknowledged += 1;
    }
  }
}

export function isSame(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([label, value]) => b.get(label) === value);
}

function sorted(facts: ReadonlyMap<string, string>): [string, string][] {
  return [...facts].sort(([a], [b]) => (a < b ? -1 : 1));
}
