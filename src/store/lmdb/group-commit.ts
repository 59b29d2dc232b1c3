/**
 * Group commit: the one writer of the store. Writes that arrive while the disk is busy wait in a queue and go into
 * one transaction together. Each runs against the store and what the group has written so far, so what it checks
 * (limits, idempotency keys) is exact. All are answered when the transaction is on disk, or all are refused.
 *
 * If the disk does not confirm a group in time, its outcome is unknown, and its callers are told so. Nothing else is
 * written until the disk has answered: queued and new writes are refused as not stored.
 */

import { assert, elementAt } from "../../base/assert.ts";
import type { MonotonicClock } from "../../base/clock.ts";
import { Failure } from "../../base/errors.ts";
import { FairTurns } from "../../base/fair-turns.ts";
import type { Metrics } from "../../base/metrics.ts";
import { atOnce, inSlices } from "../../base/slices.ts";
import type { AtStep } from "../../base/steps.ts";
import { CommitMetrics } from "../../memory/commit-metrics.ts";
import { type Change, CommitError, type Environment } from "./environment.ts";
import { ChangeLog, type LongWrite, LongWriter } from "./long-writes.ts";
import { UserLocks } from "./user-locks.ts";
import { type Write, Writer } from "./writer.ts";

interface GroupCommitOptions {
  readonly queueMax: number;
  /** How long the disk may take to confirm a group. */
  readonly confirmMs?: number;
  readonly metrics: Metrics;
  readonly monotonic: MonotonicClock;
  readonly atStep: AtStep;
  /** Whether what is written is still in the data folder. Asked before and after each commit. */
  readonly isOwner: () => boolean;
  /** The data folder, for the operator. */
  readonly folder?: string;
  /** Free bytes of the disk. lmdb can end the process on a full disk, so a group is refused before that. */
  readonly freeBytes?: () => number;
  /** Called when a failed commit has left an environment that lmdb neither reads nor writes any more. */
  readonly onPanic: (error: CommitError) => void;
  /** Called for each group that is on disk; where the store is being copied, also for the parts of a long write. */
  readonly onCommitted: (changes: readonly Change[]) => void;
  readonly isCopied?: () => boolean;
  /** Shares the event loop between accounts. */
  readonly turns?: FairTurns | undefined;
}

interface Queued {
  readonly write: Write<unknown>;
  readonly users: readonly string[];
  readonly long: LongWrite<unknown> | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** The answer, given when the group is on disk. */
  result: unknown;
}

/** What a commit takes on disk at most: some pages for each change, and a reserve for what others write meanwhile. */
const CHANGE_BYTES_MAX = 16_384;
const ROOM_BYTES_MIN = 2 ** 18;
/** Of a long write the entries lie together: its pages take so many times what its changes have in bytes, at most. */
const LOG_SHARE = 8;
/** Changes that are looked at in one go. */
const TOLD_MAX = 1_000;
const GROUP_MAX = 512;
/** A group that has held the event loop for so long takes no further write: forgetting many users takes seconds. */
const GROUP_MS_MAX = 5;
const CONFIRM_MS = 10_000;
const RETRY_AFTER_S = 5;
const LOST = "The data folder was moved, removed or replaced.";

export class GroupCommit {
  readonly #environment: () => Environment;
  readonly #options: GroupCommitOptions;
  readonly #metrics: CommitMetrics;
  readonly #turns: FairTurns;
  #queue: Queued[] = [];
  readonly #locks = new UserLocks<Queued>();
  /** Long writes that lock their users, and begin when the group before them is on disk. */
  #beginning: Queued[] = [];
  /** When all long writes have ended. */
  readonly #longs = new Set<Promise<void>>();
  /** Work that runs alone, between two groups. */
  readonly #alone: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  #closed = false;
  /** The disk has not confirmed the last group yet, although its time is up. */
  #stuck = false;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  /** @param environment what a group is written to; asked anew for each group, because a compaction replaces it */
  constructor(environment: () => Environment, options: GroupCommitOptions) {
    assert(options.queueMax >= 1, "the queue has room for a write");
    this.#environment = environment;
    this.#options = options;
    this.#turns = options.turns ?? new FairTurns();
    this.#metrics = new CommitMetrics(options.metrics, options.monotonic, () => this.#waiting);
  }

  get #waiting(): number {
    return this.#queue.length + this.#locks.waiting;
  }

  /** @param user whom it concerns, or EVERYBODY; it waits while they are locked */
  run<T>(write: Write<T>, user?: string): Promise<T> {
    return this.#enqueue(write, user === undefined ? [] : [user], undefined);
  }

  runLong<T>(long: LongWrite<T>): Promise<T> {
    return this.#enqueue((writer) => atOnce(long.prepare(writer)), long.users, long);
  }

  #enqueue<T>(write: Write<T>, users: readonly string[], long: LongWrite<T> | undefined): Promise<T> {
    if (this.#closed) return Promise.reject(storeUnavailable("The store is closed."));
    if (this.#stuck) return Promise.reject(storeUnavailable("The disk does not answer."));
    if (this.#waiting >= this.#options.queueMax) {
      return Promise.reject(new Failure("overloaded", "Too many writes are waiting.", { retryAfterS: 1 }));
    }
    return new Promise<T>((resolve, reject) => {
      const answer = { resolve: resolve as (result: unknown) => void, reject, result: undefined };
      const queued = { write, users, long, ...answer };
      if (this.#locks.take(queued)) return;
      this.#queue.push(queued);
      this.#running ??= this.#drain();
    });
  }

  /** Runs `work` between two groups. */
  between(work: () => Promise<void>): Promise<void> {
    if (this.#closed) return Promise.reject(storeUnavailable("The store is closed."));
    return this.#inTurn(work);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#alone.push(() => work().then(resolve, reject));
      this.#running ??= this.#drain();
    });
  }

  /** Refuses new writes and finishes the queued ones. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#running !== undefined || this.#longs.size > 0)
      await Promise.all([this.#running, ...this.#longs]);
    assert(this.#waiting === 0 && this.#alone.length === 0, "nothing waits in a closed store");
  }

  /** The failure of a group in the last few seconds, if there was one, whatever was stored since: a full disk has room for some. */
  get recentFailure(): Failure | undefined {
    return this.#options.monotonic.now() - this.#failedAtMs < RETRY_AFTER_S * 1000
      ? storeUnavailable("The last commit failed.")
      : undefined;
  }

  async #drain(): Promise<void> {
    // Writes of the same event-loop turn go into one group.
    await new Promise((resolve) => setImmediate(resolve));
    for (;;) {
      const alone = this.#alone.shift();
      if (alone !== undefined) await alone();
      else if (this.#queue.length > 0) await this.#commit();
      else break;
    }
    this.#running = undefined;
  }

  async #commit(): Promise<void> {
    assert(this.#queue.length > 0, "a group has a write");
    const ended = this.#metrics.begin();
    const writer = new Writer(this.#environment());
    const { count, answers } = this.#runGroup(writer);
    if (await this.#store(writer.changes(), answers)) ended(count);
    for (const queued of this.#beginning.splice(0)) {
      const long = this.#runLong(queued, queued.long!).finally(() => this.#longs.delete(long));
      this.#longs.add(long);
    }
  }

  /** Prepares a long write while groups of others are committed, and then stores it between two of them. */
  async #runLong(queued: Queued, { account, users, prepare }: LongWrite<unknown>): Promise<void> {
    const turn = () => this.#turns.next(account);
    try {
      for (let isPrepared = false; !isPrepared; ) {
        const prepared = new LongWriter(this.#environment);
        queued.result = await inSlices(prepare(prepared), turn);
        await this.#inTurn(async () => {
          assert(this.#locks.isLocked(users), "a user is locked until what was prepared is stored");
          const writer = new Writer(this.#environment());
          isPrepared = prepared.conclude(writer);
          const ended = this.#metrics.begin();
          if (isPrepared && (await this.#store(writer.changes(), [queued], prepared.log))) ended(1);
        });
      }
    } catch (error) {
      queued.reject(error);
    } finally {
      this.#queue.unshift(...this.#locks.unlock(users));
      if (this.#queue.length > 0) this.#running ??= this.#drain();
    }
  }

  /** Stores changes and answers those who wait for it. False where they are refused. */
  async #store(
    changes: readonly Change[],
    answers: readonly Queued[],
    log = new ChangeLog(),
  ): Promise<boolean> {
    assert(!this.#stuck, "nothing is written before the disk has confirmed the last group");
    const { atStep, freeBytes, isOwner, onPanic } = this.#options;
    const environment = this.#environment();
    atStep("group: checked");
    // This is asked also where nothing changes: the answer would come from a store that another process owns by now.
    if (!isOwner()) return this.#refuse(answers, storeUnavailable(LOST));
    if (changes.length + log.count > 0) {
      const bytesMax = ROOM_BYTES_MIN + changes.length * CHANGE_BYTES_MAX + LOG_SHARE * log.sizeBytes;
      const roomBytes = freeBytes?.() ?? Number.POSITIVE_INFINITY;
      if (roomBytes < bytesMax) return this.#refuse(answers, this.#diskFull(roomBytes, bytesMax));
      const committed = log.count === 0 ? environment.commit(changes) : environment.commitLog(log, changes);
      atStep("group: sent");
      try {
        await this.#confirmed(committed, answers);
      } catch (error) {
        this.#refuse(answers, commitFailure(error));
        if (error instanceof CommitError && !error.nothingStored) onPanic(error);
        return false;
      }
      this.#options.onCommitted(changes);
      if (log.count > 0 && this.#options.isCopied?.()) await this.#tellOfLog(log);
      atStep("group: on disk");
      // The folder may have been copied before, and replaced by the copy after the first look.
      if (!isOwner()) return this.#refuse(answers, outcomeUnknown(LOST));
    } else {
      // Nothing waits for the disk here: without this, groups that only look would hold the event loop one after the other.
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const { resolve, result } of answers) resolve(result);
    return true;
  }

  /** Callers are not told which folder it is. */
  #diskFull(freeBytes: number, bytesMax: number): Failure {
    const [free, needed] = [freeBytes, bytesMax].map((bytes) => Math.floor(bytes / 1024));
    const reason = `the disk of the data folder ${this.#options.folder} is nearly full: ${free} KiB are free, a commit needs ${needed}; make room, no restart is needed`;
    return storeUnavailable("The disk is nearly full.", undefined, reason);
  }

  async #tellOfLog(log: ChangeLog): Promise<void> {
    let part: Change[] = [];
    for (const change of log.records()) {
      if (part.push(change) < TOLD_MAX) continue;
      this.#options.onCommitted(part);
      part = [];
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#options.onCommitted(part);
  }

  /** Takes writes from the queue and runs them, as many as a group may have; those that did not throw are to be answered. */
  #runGroup(writer: Writer): { count: number; answers: readonly Queued[] } {
    const { monotonic } = this.#options;
    const endMs = monotonic.now() + GROUP_MS_MAX;
    const answers: Queued[] = [];
    let count = 0;
    do {
      const queued = elementAt(this.#queue, count++);
      assert(!this.#locks.isLocked(queued.users), "the writes of a locked user wait");
      if (queued.long?.isLong(writer)) {
        const rest = this.#locks.lock(queued.long.users, this.#queue.slice(count));
        this.#queue = [...this.#queue.slice(0, count), ...rest];
        this.#beginning.push(queued);
      } else if (run(queued, writer)) answers.push(queued);
    } while (count < Math.min(this.#queue.length, GROUP_MAX) && monotonic.now() < endMs);
    this.#queue.splice(0, count);
    return { count, answers };
  }

  /** Waits for the disk, however long it takes. After `confirmMs` the callers are told that the outcome is unknown. */
  async #confirmed(committed: Promise<void>, answers: readonly Queued[]): Promise<void> {
    let settled = false;
    const giveUp = () => {
      if (settled) return;
      this.#stuck = true;
      this.#refuse(answers, outcomeUnknown("The disk has not confirmed this write in time."));
      const waiting = [...this.#queue.splice(0), ...this.#locks.takeAll()];
      this.#refuse(waiting, storeUnavailable("The disk does not answer."));
    };
    // After a stop and a continue of the process, timer and answer are due together: the answer is handled first.
    const afterEvents = () => setImmediate(() => setImmediate(giveUp));
    const timer = setTimeout(afterEvents, this.#options.confirmMs ?? CONFIRM_MS);
    try {
      await committed;
    } finally {
      settled = true;
      this.#stuck = false;
      clearTimeout(timer);
    }
  }

  #refuse(queued: readonly Queued[], failure: Failure): false {
    this.#metrics.failed();
    this.#failedAtMs = this.#options.monotonic.now();
    for (const { reject } of queued) reject(failure);
    return false;
  }
}

/** Runs one write of a group. If it throws, for example on a damaged record, only this write is refused. */
function run(queued: Queued, writer: Writer): boolean {
  try {
    queued.result = writer.attempt(queued.write);
    return true;
  } catch (error) {
    queued.reject(error);
    return false;
  }
}

function commitFailure(error: unknown): Failure {
  return error instanceof CommitError && error.nothingStored
    ? storeUnavailable("The store cannot take data now.", error)
    : outcomeUnknown("The store failed while it wrote.", error);
}

function storeUnavailable(detail: string, cause?: unknown, reason?: string): Failure {
  const more = reason === undefined ? {} : { reason };
  return new Failure("store_unavailable", detail, { retryAfterS: RETRY_AFTER_S, cause, ...more });
}

function outcomeUnknown(detail: string, cause?: unknown): Failure {
  const advice = "It may be stored or not: send the same request again with the same Idempotency-Key.";
  return new Failure("outcome_unknown", `${detail} ${advice}`, { retryAfterS: RETRY_AFTER_S, cause });
}
