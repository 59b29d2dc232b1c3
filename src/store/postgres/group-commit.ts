/**
 * Group commit: writes that arrive while a commit is under way wait and then go to the database together, in
 * one transaction (group-transaction.ts). Each is answered when it is on disk. The row
 * that counts a limited key is locked once for each group and not once for each write, which makes this fast.
 *
 * A lane is a queue with one commit at a time, and usually there is one. Where a commit fails for a group with users of
 * several workers of a cluster, it is tried again for each worker by itself. A worker that fails then gets a lane of its
 * own until it is back, so that users of the others do not wait for it. Where somebody else has locked a user of the
 * group, its users are committed apart (LockedUsers), and the lane goes on.
 */

import { assert, elementAt } from "../../base/assert.ts";
import type { MonotonicClock } from "../../base/clock.ts";
import { Failure } from "../../base/errors.ts";
import type { FairTurns } from "../../base/fair-turns.ts";
import type { Metrics } from "../../base/metrics.ts";
import { CommitMetrics } from "../../memory/commit-metrics.ts";
import type { WriteOutcome, WriteRequest } from "../../memory/ports.ts";
import { userSlot } from "./cluster/placement.ts";
import type { Database } from "./connection/database.ts";
import { asFailure, isLocked, unavailable } from "./connection/database-failure.ts";
import { groupTransaction } from "./group-transaction.ts";
import { LockedUsers } from "./locked-users.ts";
import { type CommitEnd, isLong, type QueuedWrite, takeGroup, userOf } from "./write-queue.ts";

interface Lane {
  /** The worker that it is for; undefined for the lane of all the others. */
  readonly worker: number | undefined;
  queue: QueuedWrite[];
  running: Promise<void> | undefined;
}

interface GroupCommitOptions {
  readonly queueMax: number;
  /** Writes in one transaction. */
  readonly groupMax: number;
  /** How many earlier values of a fact are kept. */
  readonly historyMax: number;
  /** How long a write waits for a user whom somebody else has locked. */
  readonly lockWaitMs: number;
  readonly metrics: Metrics;
  readonly monotonic: MonotonicClock;
  /** The worker of a cluster that holds the users of a slot. */
  readonly workerOf: (slot: number) => number;
  /** Whether the tables are distributed. */
  readonly isCluster: () => boolean;
  readonly turns: FairTurns;
}

export class GroupCommit {
  readonly #database: Database;
  readonly #options: GroupCommitOptions;
  readonly #metrics: CommitMetrics;
  readonly #shared: Lane = { worker: undefined, queue: [], running: undefined };
  /** The lanes of the workers that failed. */
  readonly #apart = new Map<number, Lane>();
  readonly #held: LockedUsers;
  #waiting = 0;
  #closed = false;
  #storedMs = Number.NEGATIVE_INFINITY;
  #failed: { readonly atMs: number; readonly failure: Failure } | undefined;

  constructor(database: Database, options: GroupCommitOptions) {
    const { groupMax, lockWaitMs, metrics, monotonic } = options;
    assert(options.queueMax >= 1 && groupMax >= 1, "the queue and a group have room for a write");
    this.#database = database;
    this.#options = options;
    this.#metrics = new CommitMetrics(metrics, monotonic, () => this.#waiting);
    this.#held = new LockedUsers({
      commit: (group) => this.#attempt(group),
      giveUp: (group) =>
        this.#answer(group, ({ reject }) =>
          reject(unavailable("Another transaction keeps this user locked.")),
        ),
      groupMax,
      waitMaxMs: lockWaitMs,
      monotonic,
    });
  }

  write(request: WriteRequest): Promise<WriteOutcome> {
    if (this.#closed) return Promise.reject(unavailable("The store is closed."));
    if (this.#waiting >= this.#options.queueMax) {
      return Promise.reject(new Failure("overloaded", "Too many writes are waiting.", { retryAfterS: 1 }));
    }
    return new Promise((resolve, reject) => {
      const queuedMs = this.#options.monotonic.now();
      const write = { request, queuedMs, answered: false, resolve, reject };
      this.#waiting += 1;
      if (this.#held.take(write)) return;
      const lane = (this.#apart.size > 0 && this.#apart.get(this.#workerOf(write))) || this.#shared;
      if (isLong(request)) {
        this.#setUserApart(lane, write);
        return;
      }
      lane.queue.push(write);
      lane.running ??= this.#drain(lane);
    });
  }

  /** It is done apart, behind what waits of its user. */
  #setUserApart(lane: Lane, write: QueuedWrite): void {
    const isOfUser = (other: QueuedWrite) => userOf(other) === userOf(write);
    this.#held.add([...lane.queue.filter(isOfUser), write]);
    lane.queue = lane.queue.filter((other) => !isOfUser(other));
  }

  /** Whether a write was stored within this time. */
  hasStored(withinMs: number): boolean {
    return this.#options.monotonic.now() - this.#storedMs < withinMs;
  }

  /** The failure of the last commit, if it failed within this time. A lock and refused data are not failures. */
  recentFailure(withinMs: number): Failure | undefined {
    if (this.#failed === undefined || this.#options.monotonic.now() - this.#failed.atMs >= withinMs)
      return undefined;
    return this.#failed.failure;
  }

  /** Refuses new writes and finishes the queued ones. */
  async close(): Promise<void> {
    this.#closed = true;
    const running = () =>
      [this.#shared, ...this.#apart.values(), this.#held].flatMap((part) => part.running ?? []);
    // While one lane ends, another may be set apart, or a user held.
    for (let parts = running(); parts.length > 0; parts = running()) await Promise.all(parts);
    assert(this.#waiting === 0, "every write is answered when the store closes");
  }

  #workerOf({ request: { account, userId } }: QueuedWrite): number {
    return this.#options.workerOf(userSlot(account, userId));
  }

  async #drain(lane: Lane): Promise<void> {
    // Writes of the same event-loop turn go into the first group.
    await Promise.resolve();
    let end: CommitEnd = "failed";
    while (lane.queue.length > 0) {
      const { group, rest } = takeGroup(lane.queue, this.#options.groupMax);
      lane.queue = rest;
      end = await this.#commit(group);
      if (end === "locked") {
        // Writes of the same users that came meanwhile must not overtake these.
        const users = new Set(group.map(userOf));
        this.#held.add([...group, ...lane.queue.filter((write) => users.has(userOf(write)))]);
        lane.queue = lane.queue.filter((write) => !users.has(userOf(write)));
      }
    }
    lane.running = undefined;
    if (lane.worker !== undefined && end === "stored") this.#apart.delete(lane.worker);
  }

  /** A write that is refused, by the database or by a fault in what is stored of its user, must fail alone: then each write is tried by itself. */
  async #commit(group: readonly QueuedWrite[]): Promise<CommitEnd> {
    const end = await this.#attempt(group);
    if (end !== "refused") return end;
    for (const queued of group) {
      if (!this.#held.take(queued) && (await this.#attempt([queued])) === "locked") this.#held.add([queued]);
    }
    return "stored";
  }

  async #attempt(group: readonly QueuedWrite[]): Promise<CommitEnd> {
    assert(
      group.length >= 1 && group.length <= this.#options.groupMax,
      "a group has a write, and not too many",
    );
    const ended = this.#metrics.begin();
    try {
      const { historyMax, isCluster, turns } = this.#options;
      const requests = group.map(({ request }) => request);
      const transaction = groupTransaction(requests, { historyMax, isCluster: isCluster(), turns });
      const results = await this.#database.commit(transaction, requests.some(isLong));
      this.#storedMs = this.#options.monotonic.now();
      this.#failed = undefined;
      this.#answer(group, ({ resolve, reject }, i) => {
        const result = elementAt(results, i);
        if (result instanceof Failure) reject(result);
        else resolve(result);
      });
      ended(group.length);
      return "stored";
    } catch (error) {
      if (isLocked(error instanceof Failure ? error.extra.cause : error)) return "locked";
      const failure = asFailure(error);
      // Neither the database's being away nor a lock: nothing is stored, and it may be the fault of one write.
      if (group.length > 1 && !(failure instanceof Failure)) return "refused";
      this.#metrics.failed();
      // Nothing is stored: a lost connection, after which nobody knows, has another code.
      const isSafe = failure instanceof Failure && failure.code === "store_unavailable";
      if (isSafe && new Set(group.map((write) => this.#workerOf(write))).size > 1) {
        await this.#commitByWorker(group);
        return "stored";
      }
      if (failure instanceof Failure) this.#failed = { atMs: this.#options.monotonic.now(), failure };
      this.#answer(group, ({ reject }) => reject(failure));
      return "failed";
    }
  }

  async #commitByWorker(group: readonly QueuedWrite[]): Promise<void> {
    const workers = new Set(group.map((write) => this.#workerOf(write)));
    await Promise.all(
      [...workers].map(async (worker) => {
        const part = group.filter((write) => this.#workerOf(write) === worker);
        const end = await this.#commit(part);
        if (end === "locked") this.#held.add(part);
        if (end === "failed") this.#setApart(worker);
      }),
    );
  }

  /** Gives the worker a lane of its own, and moves the writes that already wait for it there. */
  #setApart(worker: number): void {
    if (this.#apart.has(worker)) return;
    const isOfWorker = (write: QueuedWrite) => this.#workerOf(write) === worker;
    const lane: Lane = { worker, queue: this.#shared.queue.filter(isOfWorker), running: undefined };
    this.#shared.queue = this.#shared.queue.filter((write) => !isOfWorker(write));
    this.#apart.set(worker, lane);
    if (lane.queue.length > 0) lane.running = this.#drain(lane);
  }

  #answer(group: readonly QueuedWrite[], answer: (write: QueuedWrite, i: number) => void): void {
    this.#waiting -= group.length;
    assert(this.#waiting >= 0, "only writes that wait are answered");
    for (const [i, write] of group.entries()) {
      assert(!write.answered, "a write is answered once");
      write.answered = true;
      answer(write, i);
    }
  }
}
