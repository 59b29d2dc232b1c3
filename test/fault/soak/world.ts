/** What the operations of a soak share: the service, its users as the client knows them, connections, and the times. */

import assert from "node:assert/strict";
import { Agent } from "node:http";
import type { Random } from "../../../src/base/random.ts";
import { CutOffError, exchange, type Reply, type Request } from "../load/exchange.ts";
import type { Gauges, WatchedServer } from "../load/watched-server.ts";
import { EncodeCount, type Facts, indexOf, UserModel } from "./model.ts";

export interface Operation {
  readonly name: string;
  /** How often it comes, to the others. */
  readonly weight: number;
  run(world: SoakWorld, random: Random): Promise<void>;
}

export interface WriteOptions {
  /** The facts once it has happened. */
  readonly after: Facts;
  /** How many encodes it is. */
  readonly encodes: number;
}

const CUT_SHARE = 0.03;
const CUT_AFTER_MS_MAX = 12;

/** There is no answer to check: the client hung up, as it wanted to, or the service had too much block work. */
export class Unfinished extends Error {
  override name = "Unfinished";
}

export class SoakWorld {
  readonly server: WatchedServer;
  readonly key: string;
  /** Of another account: it must not see what this one's users have. */
  readonly strangersKey: string;
  readonly users: readonly UserModel[];
  readonly demo: UserModel;
  readonly encodes = new EncodeCount();
  /** Milliseconds of every answer, by operation. */
  readonly times = new Map<string, number[]>();
  cuts = 0;
  /** Block work that was refused, as too much of it was waiting. */
  refusals = 0;
  readonly #kept = new Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 16 });

  constructor(
    server: WatchedServer,
    keys: { key: string; strangersKey: string },
    users: readonly UserModel[],
  ) {
    this.server = server;
    this.key = keys.key;
    this.strangersKey = keys.strangersKey;
    this.users = users;
    this.demo = new UserModel("demo", users[0].labels);
  }

  /** Asks under the key of the account, and notes how long the answer took. May hang up instead: Unfinished. */
  async ask(name: string, random: Random, request: Request, mayCut = true): Promise<Reply> {
    const cut = mayCut && random.unit() < CUT_SHARE;
    // Connections come and go: most are kept, a fifth of the requests has its own.
    const agent = random.below(5) === 0 ? false : this.#kept;
    const headers = { authorization: `Bearer ${this.key}`, ...request.headers };
    try {
      const cutAfterMs = cut ? random.below(CUT_AFTER_MS_MAX) : undefined;
      const reply = await exchange(this.server.url, { agent, ...request, headers, cutAfterMs });
      const times = this.times.get(name) ?? [];
      this.times.set(name, times);
      times.push(reply.ms);
      return reply;
    } catch (error) {
      if (!cut || !(error instanceof CutOffError)) throw error;
      this.cuts += 1;
      throw new Unfinished("hung up");
    }
  }

  /** Asks for something that needs block work: it may be refused, with the time to wait. */
  async askForBlock(name: string, random: Random, request: Request, mayCut = true): Promise<Reply> {
    const reply = await this.ask(name, random, request, mayCut);
    if (reply.status === 503 && JSON.parse(reply.text).code === "overloaded" && reply.headers["retry-after"])
      this.refuse();
    return reply;
  }

  refuse(): never {
    this.refusals += 1;
    throw new Unfinished("refused");
  }

  /** A request that changes a user. Once it is answered with 200 the change has happened. */
  async write(
    name: string,
    random: Random,
    user: UserModel,
    request: Request,
    { after, encodes }: WriteOptions,
  ): Promise<Reply> {
    this.encodes.possible += encodes;
    try {
      const reply = await this.ask(name, random, request);
      assert.equal(reply.status, 200, reply.text);
      this.encodes.acknowledged += encodes;
      user.change(after);
      return reply;
    } catch (error) {
      if (error instanceof Unfinished) user.leaveInDoubt(after, encodes);
      throw error;
    }
  }

  /** Runs one operation of a user at a time, on a user that no other runs on. */
  async withUser(random: Random, run: (user: UserModel) => Promise<void>): Promise<void> {
    const free = this.users.filter(({ isFree }) => isFree);
    if (free.length === 0) return;
    const user = random.pick(free);
    user.busy = true;
    try {
      if (user.doubt !== undefined) await this.settle(user);
      await run(user);
    } catch (error) {
      if (error instanceof Unfinished) user.rest();
      throw error;
    } finally {
      user.busy = false;
    }
  }

  /** The demo is one user. It has no facts in doubt, as none of its writes is cut off. */
  async withDemo(run: (demo: UserModel) => Promise<void>): Promise<void> {
    if (this.demo.busy) return;
    this.demo.busy = true;
    try {
      await run(this.demo);
    } finally {
      this.demo.busy = false;
    }
  }

  /** Whatever came to the service before has happened when this has: writes of an account are stored in their order. */
  async #writeAfterOthers(): Promise<void> {
    this.encodes.possible += 1;
    const headers = { authorization: `Bearer ${this.key}`, "content-type": "application/json" };
    const body = JSON.stringify({ user_id: "after others", label: "TASK.current", value: "x" });
    const reply = await exchange(this.server.url, { method: "POST", path: "/encode", headers, body });
    assert.equal(reply.status, 200, reply.text);
    this.encodes.acknowledged += 1;
  }

  /** Reads a user's facts: they are those that the client knows, or those that a write in doubt would have made. */
  async settle(user: UserModel): Promise<void> {
    // Where the service was kept from working, what nobody waits for is still to come.
    if (user.doubt !== undefined) await this.#writeAfterOthers();
    const path = `/facts?user_id=${encodeURIComponent(user.id)}`;
    const headers = { authorization: `Bearer ${this.key}` };
    const reply = await exchange(this.server.url, { method: "GET", path, headers });
    assert.equal(reply.status, 200, reply.text);
    const read: { label: string; value: string }[] = JSON.parse(reply.text).facts;
    const found = new Map(read.map(({ label, value }) => [label, value]));
    const { doubt } = user;
    user.doubt = undefined;
    if (doubt !== undefined && indexOf(found) === indexOf(doubt.facts)) {
      user.change(doubt.facts);
      this.encodes.acknowledged += doubt.encodes;
    } else if (doubt !== undefined) this.encodes.possible -= doubt.encodes;
    assert.equal(indexOf(found), indexOf(user.facts), `the facts of ${user.id}`);
  }

  /** The gauges of the service, which has damaged nothing and complains of nothing. */
  async scrape(random: Random): Promise<Gauges> {
    const { status, text } = await this.ask("metrics", random, { method: "GET", path: "/metrics" });
    assert.equal(status, 200);
    const gauges = this.server.gaugesIn(text);
    for (const bad of ["commit_failures", "corrupt_records"]) {
      const count = Number(new RegExp(`^sideband_${bad}_total (\\d+)`, "m").exec(text)?.[1] ?? 0);
      assert.equal(count, 0, bad);
    }
    assert.deepEqual(this.server.complaints(), [], "the service logged a warning");
    return gauges;
  }

  end(): void {
    this.#kept.destroy();
  }
}
