/**
 * Decides which task a thread for block work runs next. A task is small: one value to code, one block to assemble,
 * one block to open, one value to read. Accounts take turns by the processor time they have used (fair-turns.ts).
 * Background work runs when no request waits, one task at a time for each account. It is interrupted for requests, and
 * is the first to be dropped.
 *
 * The queue is bounded, in all and for each account. Requests have a deadline: one that would miss it is refused at
 * once, and one whose caller has gone leaves no task behind.
 */

import type { Requester } from "../base/accounts.ts";
import { assert } from "../base/assert.ts";
import type { TimerClock } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { FairShares, type Share } from "../base/fair-turns.ts";
import type { Metrics } from "../base/metrics.ts";
import { BlockMetrics, type MetricKind, type TaskOutcome } from "./block-metrics.ts";
import type { BlockMessage, BlockResults, BlockTaskKind } from "./block-tasks.ts";
import type { Reply, Workers } from "./block-threads.ts";

export interface Work extends Requester {
  /** When its wait ends, by the scheduler's clock. The time in which its own tasks run is added. */
  readonly deadline?: { atMs: number };
  /** No request waits for it. */
  readonly background?: true;
}

export interface Task<K extends BlockTaskKind = BlockTaskKind> {
  /** In units of work: the expected time is the size times the measured time of a unit. */
  readonly size: number;
  /** Called when the task is about to run; undefined skips the task. */
  readonly message: () => BlockMessage<K> | undefined;
  readonly done: (result: BlockResults[K]) => void;
}

interface SchedulerOptions {
  readonly workers: Workers;
  readonly clock: TimerClock;
  /** Waiting tasks in all. A request is let in whole: it may go over by its own tasks. */
  readonly queueMax: number;
  readonly metrics: Metrics;
}

/** What a request may wait, not counting the time in which its own tasks run. */
export const DEADLINE_MS = 10_000;
/** How often the deadline is checked while its own tasks run. */
const CHECK_MS = 100;
/** One account may have this part of the queue. */
const ACCOUNT_QUEUE_SHARE = 1 / 4;

/** The tasks of one call, which fail together. */
interface Batch {
  readonly work: Work;
  readonly account: AccountQueue;
  /** How the metrics count its tasks. */
  readonly kind: MetricKind;
  readonly waiting: Set<QueuedTask>;
  running: number;
  /** Resolves the call, or rejects it with an error; undefined once it has. */
  answer: ((error?: unknown) => void) | undefined;
}

interface QueuedTask {
  readonly batch: Batch;
  readonly task: Task;
  readonly taskKind: BlockTaskKind;
  readonly queuedAtMs: number;
  readonly expectedMs: number;
}

interface AccountQueue extends Share {
  /** Waiting tasks in the order they came: those of requests, and background work. */
  readonly foreground: Set<QueuedTask>;
  readonly background: Set<QueuedTask>;
  /** Expected time of the foreground tasks. */
  foregroundMs: number;
  running: number;
  backgroundRunning: number;
}

export class BlockScheduler {
  readonly #workers: Workers;
  readonly #clock: TimerClock;
  readonly #queueMax: number;
  readonly #metrics: BlockMetrics;
  readonly #accounts = new FairShares<AccountQueue>({ make: newQueue, isIdle });
  readonly #batches = new Set<Batch>();
  #waiting = 0;
  #running = 0;
  #closed = false;

  constructor({ workers, clock, queueMax, metrics }: SchedulerOptions) {
    assert(queueMax >= 1, "the queue has room for a task");
    this.#workers = workers;
    this.#clock = clock;
    this.#queueMax = queueMax;
    this.#metrics = new BlockMetrics(metrics, () => ({ batches: this.#batches, healthy: workers.healthy }));
    workers.onIdle = () => this.#dispatch();
  }

  get healthy(): boolean {
    return this.#workers.healthy;
  }

  /** Starts a thread before it is needed. */
  warm(): void {
    this.#workers.grow();
  }

  /** The block work of a request that begins now: sets its deadline. */
  begin({ account, tier, signal }: Requester): Work {
    return { account, tier, signal, deadline: { atMs: this.#clock.now() + DEADLINE_MS } };
  }

  /** Resolves when all tasks are done. Rejects with the first failure, and drops the other tasks. */
  run<K extends BlockTaskKind>(work: Work, kind: K, tasks: readonly Task<K>[]): Promise<void> {
    if (tasks.length === 0) return Promise.resolve();
    const label = work.background ? "background" : kind;
    const expected = tasks.map(({ size }) => this.#metrics.expectedMs(kind, size));
    const account = this.#accounts.of(work.account);
    const refusal = work.signal?.aborted
      ? work.signal.reason
      : this.#refusalOf(
          work,
          account,
          expected.reduce((sum, ms) => sum + ms, 0),
        );
    if (refusal !== undefined) {
      this.#metrics.count(label, work.signal?.aborted ? "cancelled" : "refused", tasks.length);
      return Promise.reject(refusal);
    }
    return new Promise((resolve, reject) => {
      const batch: Batch = {
        work,
        account,
        kind: label,
        waiting: new Set(),
        running: 0,
        answer: (error) => {
          release();
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      const release = this.#watch(batch);
      this.#batches.add(batch);
      const queuedAtMs = this.#clock.now();
      tasks.forEach((task, i) => {
        this.#enter({
          batch,
          task: task as unknown as Task,
          taskKind: kind,
          queuedAtMs,
          expectedMs: expected[i],
        });
      });
      this.#dispatch();
    });
  }

  /** Drops everything that waits and ends the threads, with the tasks that they run. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const batch of [...this.#batches]) this.#end(batch, "dropped", stopping());
    assert(this.#waiting === 0, "no task waits in a closed scheduler");
    assert(this.#batches.size === 0, "every call is answered when the scheduler closes");
    await this.#workers.close();
  }

  /** The reason to refuse this work; undefined where it is accepted. Drops background work to make room for a request. */
  #refusalOf(work: Work, account: AccountQueue, ownMs: number): Failure | undefined {
    const share = Math.max(1, this.#queueMax * ACCOUNT_QUEUE_SHARE);
    const refuse = (detail: string) => new Failure("overloaded", detail, { retryAfterS: secondsOf(waitMs) });
    const waitMs = this.#waitMs(account, ownMs);
    if (this.#closed) return stopping();
    if (account.foreground.size + (work.background ? account.background.size : 0) >= share)
      return refuse("Too much block work of this account is waiting.");
    while (this.#waiting >= this.#queueMax) {
      if (work.background || !this.#dropBackground()) return refuse("Too much block work is waiting.");
    }
    if (work.deadline !== undefined && this.#clock.now() + waitMs >= work.deadline.atMs)
      return refuse("The block work that is waiting takes too long.");
    return undefined;
  }

  /**
   * How long work of `ownMs` will wait: for everything that its account has waiting already, and for the tasks of each
   * other account that will run in the same time.
   */
  #waitMs(account: AccountQueue, ownMs: number): number {
    const turnMs = account.foregroundMs + ownMs;
    let beforeMs = account.foregroundMs;
    for (const other of this.#accounts.all())
      if (other !== account) beforeMs += Math.min(other.foregroundMs, turnMs);
    return beforeMs / this.#workers.count;
  }

  /** Drops the newest batch of the account with the most background work; false where there is none. */
  #dropBackground(): boolean {
    let most: AccountQueue | undefined;
    for (const account of this.#accounts.all())
      if (account.background.size > (most?.background.size ?? 0)) most = account;
    if (most === undefined) return false;
    const { batch } = [...most.background].at(-1)!;
    this.#end(
      batch,
      "dropped",
      new Failure("overloaded", "Dropped to make room for requests.", { retryAfterS: 1 }),
    );
    return true;
  }

  /** Ends a batch when its requester has gone or its deadline is over. Returns a function that stops watching. */
  #watch(batch: Batch): () => void {
    const { signal, deadline } = batch.work;
    const gone = () => this.#end(batch, "cancelled", signal?.reason);
    signal?.addEventListener("abort", gone, { once: true });
    let stopClock = () => {};
    // Also where the deadline has passed since the work was let in: the batch must not end before its tasks are queued.
    const checkLater = (leftMs: number) => {
      stopClock = this.#clock.after(Math.max(leftMs, CHECK_MS), check);
    };
    const check = () => {
      const leftMs = deadline!.atMs - this.#clock.now();
      if (leftMs > 0 || batch.running > 0) checkLater(leftMs);
      else {
        const retryAfterS = secondsOf(this.#waitMs(batch.account, 0));
        const late = new Failure("overloaded", "The block work was not done in time.", { retryAfterS });
        this.#end(batch, "late", late);
      }
    };
    if (deadline !== undefined) checkLater(deadline.atMs - this.#clock.now());
    return () => {
      signal?.removeEventListener("abort", gone);
      stopClock();
    };
  }

  /** Takes a batch's waiting tasks out of the queue and rejects its call. Results of running tasks are ignored. */
  #end(batch: Batch, outcome: TaskOutcome, error: unknown): void {
    this.#metrics.count(batch.kind, outcome, batch.waiting.size);
    for (const entry of batch.waiting) this.#leave(entry);
    this.#answer(batch, error);
  }

  #answer(batch: Batch, error?: unknown): void {
    const { answer } = batch;
    assert(answer !== undefined, "a call is answered once");
    assert(batch.waiting.size === 0, "an answered call has no task in the queue");
    batch.answer = undefined;
    this.#batches.delete(batch);
    answer(error);
  }

  #enter(entry: QueuedTask): void {
    const { batch, expectedMs } = entry;
    assert(batch.answer !== undefined, "a task is queued only while its call waits");
    assert(!batch.waiting.has(entry), "a task is in the queue once");
    batch.waiting.add(entry);
    this.#waiting++;
    if (batch.work.background) batch.account.background.add(entry);
    else {
      batch.account.foreground.add(entry);
      batch.account.foregroundMs += expectedMs;
    }
  }

  #leave(entry: QueuedTask): void {
    const { batch, expectedMs } = entry;
    const waited = batch.waiting.delete(entry);
    assert(waited, "a task that leaves the queue was in it");
    this.#waiting--;
    assert(this.#waiting >= 0, "the number of waiting tasks is not negative");
    if (!batch.account.background.delete(entry)) {
      const queued = batch.account.foreground.delete(entry);
      assert(queued, "a waiting task is in the queue of its account");
      batch.account.foregroundMs -= expectedMs;
    }
  }

  #dispatch(): void {
    for (;;) {
      const entry = this.#closed ? undefined : this.#next();
      if (entry === undefined) break;
      if (this.#workers.idle === 0) {
        // A background task may take longer than a whole request. It starts again later.
        if (!entry.batch.work.background) this.#workers.interrupt();
        this.#workers.grow();
        break;
      }
      this.#leave(entry);
      const message = entry.task.message();
      if (message !== undefined) void this.#start(entry, message);
      else if (entry.batch.waiting.size + entry.batch.running === 0) this.#answer(entry.batch);
    }
    if (this.#waiting + this.#running > 0) return;
    assert(this.#batches.size === 0, "a call waits only for tasks that wait or run");
    this.#accounts.rest();
  }

  /** The first foreground task of the account with the lowest virtual time; without any, the first background task. */
  #next(): QueuedTask | undefined {
    const foreground = this.#accounts.lowest((account) => account.foreground.size > 0);
    if (foreground !== undefined) return first(foreground.foreground);
    const background = this.#accounts.lowest(
      (account) => account.background.size > 0 && account.backgroundRunning === 0,
    );
    return background && first(background.background);
  }

  async #start(entry: QueuedTask, message: BlockMessage): Promise<void> {
    const { batch, expectedMs } = entry;
    const { account, kind, work } = batch;
    const backgroundCount = work.background ? 1 : 0;
    this.#accounts.begin(account);
    // The expected time counts from now on, so that one account does not get all threads at once.
    account.virtualMs += expectedMs;
    account.running++;
    account.backgroundRunning += backgroundCount;
    batch.running++;
    this.#running++;
    assert(account.backgroundRunning <= 1, "an account has one background task at a time");
    this.#metrics.began(kind, this.#clock.now() - entry.queuedAtMs);
    const reply = await this.#workers.run(message, { interruptible: backgroundCount > 0 });
    assert(reply.ms >= 0, "the time of a task is not negative");
    account.virtualMs += reply.ms - expectedMs;
    if (work.deadline !== undefined) work.deadline.atMs += reply.ms;
    account.running--;
    account.backgroundRunning -= backgroundCount;
    batch.running--;
    this.#running--;
    assert(account.running >= 0 && batch.running >= 0 && this.#running >= 0, "a task ends once");
    this.#metrics.ended({ kind, taskKind: entry.taskKind, size: entry.task.size, tier: work.tier }, reply);
    if (batch.answer !== undefined && reply.outcome === "interrupted") this.#enter(entry);
    else if (batch.answer !== undefined) this.#takeReply(entry, reply);
    // The requester may follow up on this result. Its next task must be in the queue before a thread is given away.
    setImmediate(() => this.#dispatch());
  }

  #takeReply({ batch, task }: QueuedTask, { outcome, result, error }: Reply): void {
    if (outcome === "ok") {
      task.done(result as never);
      if (batch.waiting.size + batch.running === 0) this.#answer(batch);
    } else if (outcome === "error") this.#end(batch, "dropped", new Error(`block task failed: ${error}`));
    else {
      const lost = new Failure("overloaded", "The block work could not be finished.", { retryAfterS: 1 });
      this.#end(batch, "dropped", lost);
    }
  }
}

function newQueue(virtualMs: number): AccountQueue {
  return {
    virtualMs,
    foreground: new Set(),
    background: new Set(),
    foregroundMs: 0,
    running: 0,
    backgroundRunning: 0,
  };
}

function isIdle({ foreground, background, running }: AccountQueue): boolean {
  return foreground.size + background.size + running === 0;
}

function first(tasks: ReadonlySet<QueuedTask>): QueuedTask | undefined {
  const [task] = tasks;
  return task;
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

function stopping(): Failure {
  return new Failure("overloaded", "The service is stopping.", { retryAfterS: 1 });
}
