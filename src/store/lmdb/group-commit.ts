/**
 * Group commit: writes that arrive while the disk is busy wait in a queue and go into one transaction
 * together. Each runs inside it, one after the other, so that what it checks (limits, idempotency keys) is
 * exact; all are answered when the transaction is on disk, or all are refused.
 */

import { Failure } from "../../base/errors.ts";
import type { Metrics } from "../../base/metrics.ts";
import { DATABASES, type DatabaseName, type Environment, type Transaction } from "./environment.ts";
import { COMPACTING, type Generations, MOVED } from "./generations.ts";
import { packNumber, unpackNumber } from "./records.ts";

/** What a write sees of the store: the state inside the transaction. */
export interface Writer extends Transaction {
  /** A counter, what this group has added to it included. */
  count(name: string): number;
  /** Sets a counter. Most writes of a group count on the same few: each is stored once, when the group is through. */
  setCount(name: string, count: number): void;
  /** As it was before the group. */
  readonly environment: Environment;
}

/** Must not wait, and must check everything before it writes anything. */
export type Write<T> = (writer: Writer) => T;

interface Queued {
  readonly write: Write<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What a write itself has thrown, told apart from what the commit did. */
class WriteError extends Error {
  override name = "WriteError";
}

/** One transaction holds the event loop for about ten milliseconds at most. */
const GROUP_MAX = 512;
const RETRY_AFTER_S = 5;
const MOVE = Symbol("moved");

export class GroupCommit {
  readonly #generations: Generations;
  readonly #queueMax: number;
  readonly #metrics: Metrics;
  #queue: Queued[] = [];
  #running: Promise<void> | undefined;
  #closed = false;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(generations: Generations, options: { queueMax: number; metrics: Metrics }) {
    this.#generations = generations;
    this.#queueMax = options.queueMax;
    this.#metrics = options.metrics;
    const { metrics } = options;
    metrics.define({
      name: "sideband_commit_size",
      help: "Writes in one group commit.",
      type: "histogram",
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    });
    metrics.define({
      name: "sideband_commit_seconds",
      help: "Time of one group commit, the disk included.",
      type: "histogram",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    });
    metrics.define({
      name: "sideband_commit_failures_total",
      help: "Group commits that failed.",
      type: "counter",
    });
    metrics.define({
      name: "sideband_write_queue_depth",
      help: "Writes that wait for a commit.",
      type: "gauge",
    });
    metrics.onCollect(() => metrics.set("sideband_write_queue_depth", this.#queue.length));
  }

  run<T>(write: Write<T>): Promise<T> {
    if (this.#closed) return Promise.reject(unavailable("The store is closed."));
    if (this.#queue.length >= this.#queueMax) {
      return Promise.reject(new Failure("overloaded", "Too many writes are waiting.", { retryAfterS: 1 }));
    }
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ write, resolve: resolve as (result: unknown) => void, reject });
      this.#running ??= this.#drain();
    });
  }

  /** Finishes what waits, then takes no more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #drain(): Promise<void> {
    // What arrives in the same turn of the event loop goes together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, GROUP_MAX);
      try {
        await this.#settle(group);
      } catch (error) {
        // One write that meets a damaged record must not take its whole group with it.
        if (error instanceof WriteError && group.length > 1)
          for (const one of group) await this.#settleAlone(one);
        else this.#refuse(group, error);
      }
    }
    this.#running = undefined;
  }

  async #settleAlone(one: Queued): Promise<void> {
    try {
      await this.#settle([one]);
    } catch (error) {
      this.#refuse([one], error);
    }
  }

  async #settle(group: readonly Queued[]): Promise<void> {
    const startedMs = performance.now();
    const results = await this.#commit(group);
    this.#generations.renew();
    for (const [i, { resolve }] of group.entries()) resolve(results[i]);
    this.#metrics.observe("sideband_commit_size", group.length);
    this.#metrics.observe("sideband_commit_seconds", (performance.now() - startedMs) / 1000);
  }

  /** The failure of a commit that was refused a short while ago, if there was one. */
  get recentFailure(): Failure | undefined {
    return performance.now() - this.#failedAtMs < RETRY_AFTER_S * 1000
      ? unavailable("The last commit failed.")
      : undefined;
  }

  #refuse(group: readonly Queued[], error: unknown): void {
    this.#metrics.add("sideband_commit_failures_total");
    if (!(error instanceof WriteError)) this.#failedAtMs = performance.now();
    const failure =
      error instanceof WriteError ? error.cause : unavailable("The store cannot take data now.", error);
    for (const { reject } of group) reject(failure);
  }

  async #commit(group: readonly Queued[]): Promise<unknown[]> {
    for (;;) {
      const environment = this.#generations.latest;
      const results = await environment.commit((transaction) => {
        if (transaction.get("meta", MOVED) !== undefined) return MOVE;
        const writer = writerOn(environment, transaction);
        try {
          const done = group.map(({ write }) => write(writer));
          writer.storeCounts();
          return done;
        } catch (cause) {
          throw new WriteError("a write failed inside its transaction", { cause });
        }
      });
      if (results !== MOVE) return results as unknown[];
      await this.#generations.awaitMove();
    }
  }
}

/** While a compaction copies the store, every key that is written is noted in the journal as well. */
function writerOn(environment: Environment, transaction: Transaction): Writer & { storeCounts(): void } {
  const journals = transaction.get("meta", COMPACTING) !== undefined;
  const note = (name: DatabaseName, key: Buffer) => {
    if (!journals || name === "journal") return;
    transaction.put("journal", Buffer.concat([Buffer.of(DATABASES.indexOf(name)), key]), Buffer.of(1));
  };
  const put = (name: DatabaseName, key: Buffer, value: Buffer) => {
    transaction.put(name, key, value);
    note(name, key);
  };
  const counts = new Map<string, number>();
  const changed = new Set<string>();
  return {
    environment,
    get: (name, key) => transaction.get(name, key),
    put,
    count: (name) => {
      let count = counts.get(name);
      if (count === undefined) {
        count = unpackNumber(transaction.get("counters", Buffer.from(name)));
        counts.set(name, count);
      }
      return count;
    },
    setCount: (name, count) => {
      counts.set(name, count);
      changed.add(name);
    },
    storeCounts: () => {
      for (const name of changed) put("counters", Buffer.from(name), packNumber(counts.get(name)!));
    },
    remove: (name, key) => {
      transaction.remove(name, key);
      note(name, key);
    },
  };
}

function unavailable(detail: string, cause?: unknown): Failure {
  return new Failure("store_unavailable", detail, { retryAfterS: RETRY_AFTER_S, cause });
}
