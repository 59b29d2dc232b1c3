/**
 * Group commit: writes that arrive while a commit is under way wait and then go to the database together, in
 * one call of the batch function (migrations/0002). Each is answered when the transaction is on disk. The row
 * that counts a limited key is locked once for each group and not once for each write, which makes this fast.
 *
 * A lane is a queue with one commit at a time. A single PostgreSQL has one lane; a cluster has one for each shard,
 * so that the rows of a call are on one machine.
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

  /** Refuses new writes and finishes the queued ones. */
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
    // Writes of the same event-loop turn go into the first group.
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
      // A write whose data the database refuses must fail alone: each write of the group is tried by itself.
      if (group.length > 1 && isDataRefused(error)) {
        for (const queued of group) await this.#commit([queued]);
        return;
      }
      this.#metrics.failed();
      for (const { reject } of group) reject(asFailure(error));
    }
  }
}

/** The next group, in order. It has each idempotency key at most once: the second use is answered from the first. */
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
