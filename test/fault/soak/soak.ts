/**
 * A soak: a steady mixture of all operations on one service, at a fixed rate, with connections that come, go and are
 * cut off, and a compaction every two minutes. Every answer is checked against what the client knows; at the end every
 * fact is read again, and the service verifies its store.
 */

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Random, seededRandom } from "../../../src/base/random.ts";
import { pickByWeight } from "../load/mixture.ts";
import { type Gauges, startWatched, type WatchedServer } from "../load/watched-server.ts";
import { MCP_OPERATIONS } from "./mcp-operations.ts";
import { MEMORY_OPERATIONS } from "./memory-operations.ts";
import { newUsers } from "./model.ts";
import { serviceOperations } from "./service-operations.ts";
import { type Operation, SoakWorld, Unfinished } from "./world.ts";

export interface SoakOptions {
  readonly minutes: number;
  /** It takes longer where a busy machine has not done so many by then. */
  readonly operationsMin?: number;
  /** Operations a second. */
  readonly rate: number;
  readonly seed: number;
  readonly users: number;
  readonly compactEveryMs: number;
  readonly scrapeEveryMs: number;
  /** Minutes after which the gauges are noted. */
  readonly marks: readonly number[];
  readonly print: (line: string) => void;
}

export interface Mark extends Gauges {
  readonly minutes: number;
}

export interface SoakReport {
  readonly operations: number;
  readonly cuts: number;
  readonly refusals: number;
  /** Operations that could not begin in time, as too many ran. */
  readonly late: number;
  /** Milliseconds of each answer, by operation, in ascending order. */
  readonly times: ReadonlyMap<string, readonly number[]>;
  readonly compactionsMs: readonly number[];
  readonly marks: readonly Mark[];
  readonly fault: string | undefined;
}

const AT_ONCE_MAX = 64;
const HEAP_WINDOW = 6;

export async function soak(options: SoakOptions): Promise<SoakReport> {
  const server = await startWatched({ SIDEBAND_TRUST_PROXY: "127.0.0.1", SIDEBAND_DEMO_RESET_S: "86400" });
  try {
    return await new Soak(server, options).run();
  } finally {
    await server.end();
  }
}

class Soak {
  readonly #server: WatchedServer;
  readonly #options: SoakOptions;
  readonly #random: Random;
  readonly #operations: readonly Operation[] = [
    ...MEMORY_OPERATIONS,
    ...MCP_OPERATIONS,
    ...serviceOperations(),
  ];
  readonly #running = new Set<Promise<void>>();
  readonly #compactionsMs: number[] = [];
  readonly #marks: Mark[] = [];
  #recent: Gauges[] = [];
  #started = 0;
  #late = 0;
  #fault: string | undefined;

  constructor(server: WatchedServer, options: SoakOptions) {
    this.#server = server;
    this.#options = options;
    this.#random = seededRandom(options.seed);
  }

  async run(): Promise<SoakReport> {
    const { key } = await this.#server.newKey("soak");
    const strangersKey = (await this.#server.newKey("stranger")).key;
    const users = newUsers(this.#options.users, this.#random);
    const world = new SoakWorld(this.#server, { key, strangersKey }, users);
    const { minutes, operationsMin = 0, compactEveryMs, scrapeEveryMs, marks } = this.#options;
    const endMs = performance.now() + minutes * 60_000;
    const isOver = () => performance.now() >= endMs && this.#started >= operationsMin;
    const stopped = () => this.#fault !== undefined || isOver();
    const beside = [
      this.#every(compactEveryMs, stopped, () => this.#compact()),
      this.#every(scrapeEveryMs, stopped, () => this.#scrape(world)),
      ...marks.filter((mark) => mark < minutes).map((mark) => this.#markAt(mark, stopped)),
    ];
    await this.#load(world, stopped);
    await Promise.all([...beside, ...this.#running]);
    if (this.#fault === undefined) await this.#try("the end", () => this.#checkEnd(world));
    world.end();
    const times = new Map([...world.times].map(([name, ms]) => [name, ms.sort((a, b) => a - b)]));
    return {
      operations: this.#started,
      cuts: world.cuts,
      refusals: world.refusals,
      late: this.#late,
      times,
      compactionsMs: this.#compactionsMs,
      marks: this.#marks,
      fault: this.#fault,
    };
  }

  /** Begins operations at their times, whether the ones before have ended or not. */
  async #load(world: SoakWorld, stopped: () => boolean): Promise<void> {
    const startMs = performance.now();
    for (let due = 0; !stopped(); due++) {
      const waitMs = startMs + (due * 1000) / this.#options.rate - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      if (this.#running.size >= AT_ONCE_MAX) {
        this.#late += 1;
        continue;
      }
      const operation = pickByWeight(this.#operations, this.#random);
      this.#started += 1;
      // Its own numbers: what it does not depend on how the others run.
      const random = seededRandom(this.#random.below(2 ** 32));
      const running = this.#try(operation.name, () => operation.run(world, random)).then(() => {
        this.#running.delete(running);
      });
      this.#running.add(running);
    }
  }

  async #try(what: string, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof Unfinished)) this.#fault ??= `${what}: ${(error as Error).message}`;
    }
  }

  async #every(intervalMs: number, stopped: () => boolean, run: () => Promise<void>): Promise<void> {
    for (let nextMs = performance.now() + intervalMs; ; nextMs += intervalMs) {
      while (performance.now() < nextMs && !stopped()) await sleep(Math.min(200, intervalMs));
      if (stopped()) return;
      await this.#try("beside the load", run);
    }
  }

  async #compact(): Promise<void> {
    const startMs = performance.now();
    await this.#server.owner.work("/operator/compact", {}, () => {});
    this.#compactionsMs.push(performance.now() - startMs);
  }

  async #scrape(world: SoakWorld): Promise<void> {
    const gauges = await world.scrape(seededRandom(this.#started));
    this.#recent = [...this.#recent.slice(1 - HEAP_WINDOW), gauges];
  }

  async #markAt(minutes: number, stopped: () => boolean): Promise<void> {
    const atMs = performance.now() + minutes * 60_000;
    while (performance.now() < atMs && !stopped()) await sleep(200);
    if (!stopped()) await this.#try("a mark", () => this.#mark(minutes, this.#server.gauges()));
  }

  /** The heap between two collections of garbage says little: the least of the last scrapes counts. */
  async #mark(minutes: number, found: Promise<Gauges>): Promise<void> {
    const gauges = await found;
    const heapBytes = Math.min(gauges.heapBytes, ...this.#recent.map((recent) => recent.heapBytes));
    const mark = { ...gauges, heapBytes, minutes };
    this.#marks.push(mark);
    this.#options.print(
      `${minutes} minutes: ${this.#started} operations, ${gauges.descriptors} descriptors, ${gauges.connections} connections`,
    );
  }

  async #checkEnd(world: SoakWorld): Promise<void> {
    await sleep(Math.max(0, ...world.users.map(({ restUntilMs }) => restUntilMs - performance.now())));
    for (const user of world.users) await world.settle(user);
    const { owner } = this.#server;
    const { findings } = await owner.work<{ findings: unknown[] }>(
      "/operator/verify",
      { deep: true },
      () => {},
    );
    assert.deepEqual(findings, []);
    world.end();
    await this.#mark(this.#options.minutes, this.#server.quietGauges());
    assert.deepEqual(this.#server.complaints(), [], "the service logged a warning");
  }
}
