/**
 * Group commit: writes that arrive while a commit is under way wait and then go to the database together, in
 * one call of the batch function (migrations/0002). Each is answered when the transaction is on disk. The row
 * that counts a limited key is locked once for a group and not once for a write, which is where the speed is.
 *
 * A lane is a queue with one commit at a time. One machine has one lane; a cluster has one for each shard, so
 * that a call's rows live together.
 */

import type { MonotonicClock } from "../../base/clock.ts";
import { Failure } from "../../base/errors.ts";
import type { Metrics } from "../../base/metrics.ts";
import { CommitMetrics } from "../../memory/commit-metrics.ts";
import type { WriteOutcome, WriteRequest } from "../../memory/ports.ts";
import type { Database } from "./database.ts";
import { asFailure, isDataRefused, unavailable } from "./database-failure.ts";
import { userSlot } from "./placement.ts";
import { callOf } from "./write-call.ts";

interface Queued {
  readonly request: WriteRequest;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

interface Lane {
  queue: Queued[];
  running: Promise<void> | undefined;
}

export interface GroupCommitOptions {
  readonly queueMax: number;
  /** Writes in one call. */
  readonly groupMax: number;
  readonly metrics: Metrics;
  readonly monotonic: MonotonicClock;
  /** The lane of a slot. */
  readonly laneOf: (slot: number) => number;
}

export class GroupCommit {
  readonly #database: Database;
  readonly #options: GroupCommitOptions;
  readonly #metrics: CommitMetrics;
  readonly #lanes = new Map<number, Lane>();
  #waiting = 0;
  #closed = false;

  constructor(database: Database, options: GroupCommitOptions) {
    this.#database = database;
    this.#options = options;
    this.#metrics = new CommitMetrics(options.metrics, options.monotonic, () => this.#waiting);
  }

  write(request: WriteRequest): Promise<WriteOutcome> {
    if (this.#closed) return Promise.reject(unavailable("The store is closed."));
    if (this.#waiting >= this.#options.queueMax) {
      return Promise.reject(new Failure("overloaded", "Too many writes are waiting.", { retryAfterS: 1 }));
    }
    const lane = this.#lane(this.#options.laneOf(userSlot(request.account, request.userId)));
    return new Promise((resolve, reject) => {
      this.#waiting += 1;
      lane.queue.push({ request, resolve, reject });
      lane.running ??= this.#drain(lane);
    });
  }

  /** Finishes what waits, then takes no more. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#lanes.values()].map(({ running }) => running));
  }

  #lane(number: number): Lane {
    let lane = this.#lanes.get(number);
    if (lane === undefined) {
      lane = { queue: [], running: undefined };
      this.#lanes.set(number, lane);
    }
    return lane;
  }

  async #drain(lane: Lane): Promise<void> {
    // What is asked for in the same turn of the event loop goes into the first group already.
    await Promise.resolve();
    while (lane.queue.length > 0) {
      const { group, rest } = takeGroup(lane.queue, this.#options.groupMax);
      lane.queue = rest;
      await this.#commit(group);
      this.#waiting -= group.length;
    }
    lane.running = undefined;
  }

  async #commit(group: readonly Queued[]): Promise<void> {
    const ended = this.#metrics.begin();
    try {
      const outcomes = await this.#database.write(callOf(group.map(({ request }) => request)));
      for (const [i, { resolve }] of group.entries()) resolve(outcomes[i]);
      ended(group.length);
    } catch (error) {
      // One write that the database refuses as data must not take its neighbours with it.
      if (group.length > 1 && isDataRefused(error)) {
        for (const queued of group) await this.#commit([queued]);
        return;
      }
      this.#metrics.failed();
      for (const { reject } of group) reject(asFailure(error));
    }
  }
}

/** The next group: in order, but an idempotency key only once, since its second use is answered from the first. */
function takeGroup(queue: readonly Queued[], groupMax: number): { group: Queued[]; rest: Queued[] } {
  const group: Queued[] = [];
  const rest: Queued[] = [];
  const seen = new Set<string>();
  for (const queued of queue) {
    const { idempotency } = queued.request;
    const key = idempotency && `${idempotency.keyId}\0${idempotency.key}`;
    if (group.length >= groupMax || (key !== undefined && seen.has(key))) {
      rest.push(queued);
      continue;
    }
    if (key !== undefined) seen.add(key);
    group.push(queued);
  }
  return { group, rest };
}
