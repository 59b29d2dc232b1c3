/**
 * Who may use the threads for block work, and when. A task is small: one value to code, one block to assemble, one
 * block to open, one value to read. Accounts take turns by the processor time they have used (start-time fair
 * queueing, Goyal, Vin and Cheng 1996): each has a virtual time that grows with its tasks, the lowest goes next, and
 * whoever was idle starts at the present minimum. Work ahead of time goes when nobody waits, for each account one
 * task at a time; it is interrupted for what somebody waits for, and is the first to be dropped.
 *
 * The queue is bounded, in all and for each account. Requests have a deadline: one that would miss it is refused at
 * once, and one whose caller has gone leaves no task behind.
 */

import type { Asker } from "../base/asker.ts";
import { Failure } from "../base/errors.ts";
import type { Metrics } from "../base/metrics.ts";
import { BlockFigures, type FigureKind, type TaskOutcome } from "./block-metrics.ts";
import type { BlockMessage, BlockResults, BlockTaskKind } from "./block-tasks.ts";
import type { Reply, SchedulerClock, Workers } from "./block-threads.ts";

export interface Work extends Asker {
  /** When it has waited long enough, by the scheduler's clock; moves on while its own tasks run. */
  readonly deadline?: { atMs: number };
  /** Nobody waits for it. */
  readonly ahead?: true;
}

export interface Task<K extends BlockTaskKind = BlockTaskKind> {
  /** What its time grows with: the time for each unit is measured. */
  readonly size: number;
  /** Asked for when its turn has come; undefined where it is not needed any more. */
  readonly message: () => BlockMessage<K> | undefined;
  readonly done: (result: BlockResults[K]) => void;
}

export interface SchedulerOptions {
  readonly workers: Workers;
  readonly clock: SchedulerClock;
  /** Waiting tasks in all. A request is let in whole: it may go over by its own tasks. */
  readonly queueMax: number;
  readonly metrics: Metrics;
}

/** What a request may wait, not counting the time in which its own tasks run. */
export const DEADLINE_MS = 10_000;
/** While they run, its deadline is looked at so often. */
const LOOK_MS = 100;
/** One account may have this part of the queue. */
const ACCOUNT_SHARE = 1 / 4;

/** The tasks of one call, which fail together. */
interface Errand {
  readonly work: Work;
  readonly account: Account;
  /** What the figures call its tasks. */
  readonly kind: FigureKind;
  readonly waiting: Set<Entry>;
  running: number;
  /** Undefined once it has ended. */
  settle: ((error?: unknown) => void) | undefined;
}

interface Entry {
  readonly errand: Errand;
  readonly task: Task;
  readonly taskKind: BlockTaskKind;
  readonly queuedAtMs: number;
  readonly expectedMs: number;
}

interface Account {
  virtualMs: number;
  /** Waiting tasks in the order they came: those that somebody waits for, and those ahead of time. */
  readonly urgent: Set<Entry>;
  readonly ahead: Set<Entry>;
  /** What the urgent ones will take. */
  urgentMs: number;
  running: number;
  aheadRunning: number;
}

export class BlockScheduler {
  readonly #workers: Workers;
  readonly #clock: SchedulerClock;
  readonly #queueMax: number;
  readonly #figures: BlockFigures;
  readonly #accounts = new Map<string, Account>();
  readonly #errands = new Set<Errand>();
  /** The virtual time at which the last task began. */
  #virtualMs = 0;
  #waiting = 0;
  #running = 0;
  #closed = false;

  constructor({ workers, clock, queueMax, metrics }: SchedulerOptions) {
    this.#workers = workers;
    this.#clock = clock;
    this.#queueMax = queueMax;
    this.#figures = new BlockFigures(metrics, () => ({ errands: this.#errands, healthy: workers.healthy }));
    workers.onIdle = () => this.#dispatch();
  }

  get healthy(): boolean {
    return this.#workers.healthy;
  }

  /** Has a thread started before it is needed. */
  warm(): void {
    this.#workers.grow();
  }

  /** A request's block work begins: its deadline counts from now. */
  begin(asker: Asker): Work {
    return { ...asker, deadline: { atMs: this.#clock.now() + DEADLINE_MS } };
  }

  /** Resolves when all tasks are done, or rejects with the first that fails; then the others are given up. */
  run<K extends BlockTaskKind>(work: Work, kind: K, tasks: readonly Task<K>[]): Promise<void> {
    if (tasks.length === 0) return Promise.resolve();
    const label = work.ahead ? "ahead" : kind;
    const expected = tasks.map(({ size }) => this.#figures.expectedMs(kind, size));
    const account = this.#accountOf(work.account);
    const refusal = work.signal?.aborted
      ? work.signal.reason
      : this.#refusalOf(
          work,
          account,
          expected.reduce((sum, ms) => sum + ms, 0),
        );
    if (refusal !== undefined) {
      this.#figures.count(label, work.signal?.aborted ? "cancelled" : "refused", tasks.length);
      return Promise.reject(refusal);
    }
    if (account.urgent.size + account.ahead.size + account.running === 0)
      account.virtualMs = Math.max(account.virtualMs, this.#virtualMs);
    return new Promise((resolve, reject) => {
      const errand: Errand = {
        work,
        account,
        kind: label,
        waiting: new Set(),
        running: 0,
        settle: (error) => {
          release();
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      const release = this.#watch(errand);
      this.#errands.add(errand);
      const queuedAtMs = this.#clock.now();
      tasks.forEach((task, i) => {
        this.#enter({
          errand,
          task: task as unknown as Task,
          taskKind: kind,
          queuedAtMs,
          expectedMs: expected[i],
        });
      });
      this.#dispatch();
    });
  }

  /** Everything that waits is given up, and the threads end with what they are at. */
  async close(): Promise<void> {
    this.#closed = true;
    const stopping = new Failure("overloaded", "The service is stopping.", { retryAfterS: 1 });
    for (const errand of [...this.#errands]) this.#end(errand, "dropped", stopping);
    await this.#workers.close();
  }

  /** Why this work is not let in, if so. Makes room for what somebody waits for. */
  #refusalOf(work: Work, account: Account, ownMs: number): Failure | undefined {
    const share = Math.max(1, this.#queueMax * ACCOUNT_SHARE);
    const refuse = (detail: string) => new Failure("overloaded", detail, { retryAfterS: secondsOf(waitMs) });
    const waitMs = this.#waitMs(account, ownMs);
    if (this.#closed) return new Failure("overloaded", "The service is stopping.", { retryAfterS: 1 });
    if (account.urgent.size + (work.ahead ? account.ahead.size : 0) >= share)
      return refuse("Too much block work of this account is waiting.");
    while (this.#waiting >= this.#queueMax) {
      if (work.ahead || !this.#dropAhead()) return refuse("Too much block work is waiting.");
    }
    if (work.deadline !== undefined && this.#clock.now() + waitMs >= work.deadline.atMs)
      return refuse("The block work that is waiting takes too long.");
    return undefined;
  }

  /**
   * How long others' work holds up work of `ownMs`: all that the account has waiting already, and of each other account
   * as much as it gets through in the meantime.
   */
  #waitMs(account: Account, ownMs: number): number {
    const turnMs = account.urgentMs + ownMs;
    let beforeMs = account.urgentMs;
    for (const other of this.#accounts.values())
      if (other !== account) beforeMs += Math.min(other.urgentMs, turnMs);
    return beforeMs / this.#workers.count;
  }

  /** Gives up what came last of the account with the most work ahead of time; false where there is none. */
  #dropAhead(): boolean {
    let most: Account | undefined;
    for (const account of this.#accounts.values())
      if (account.ahead.size > (most?.ahead.size ?? 0)) most = account;
    if (most === undefined) return false;
    const { errand } = [...most.ahead].at(-1)!;
    this.#end(
      errand,
      "dropped",
      new Failure("overloaded", "Others wait for block work.", { retryAfterS: 1 }),
    );
    return true;
  }

  /** Ends an errand when its asker goes or its time is over; returns how to stop watching. */
  #watch(errand: Errand): () => void {
    const { signal, deadline } = errand.work;
    const gone = () => this.#end(errand, "cancelled", signal?.reason);
    signal?.addEventListener("abort", gone, { once: true });
    let stopClock = () => {};
    const look = () => {
      const leftMs = deadline!.atMs - this.#clock.now();
      if (leftMs > 0 || errand.running > 0) stopClock = this.#clock.after(Math.max(leftMs, LOOK_MS), look);
      else {
        const retryAfterS = secondsOf(this.#waitMs(errand.account, 0));
        const late = new Failure("overloaded", "The block work was not done in time.", { retryAfterS });
        this.#end(errand, "late", late);
      }
    };
    if (deadline !== undefined) look();
    return () => {
      signal?.removeEventListener("abort", gone);
      stopClock();
    };
  }

  /** Takes an errand's waiting tasks out of the queue; what is running ends by itself, and nobody hears of it. */
  #end(errand: Errand, outcome: TaskOutcome, error: unknown): void {
    this.#figures.count(errand.kind, outcome, errand.waiting.size);
    for (const entry of errand.waiting) this.#leave(entry);
    this.#settle(errand, error);
  }

  #settle(errand: Errand, error?: unknown): void {
    const { settle } = errand;
    errand.settle = undefined;
    this.#errands.delete(errand);
    settle?.(error);
  }

  #enter(entry: Entry): void {
    const { errand, expectedMs } = entry;
    errand.waiting.add(entry);
    this.#waiting++;
    if (errand.work.ahead) errand.account.ahead.add(entry);
    else {
      errand.account.urgent.add(entry);
      errand.account.urgentMs += expectedMs;
    }
  }

  #leave(entry: Entry): void {
    const { errand, expectedMs } = entry;
    errand.waiting.delete(entry);
    this.#waiting--;
    if (!errand.account.ahead.delete(entry)) {
      errand.account.urgent.delete(entry);
      errand.account.urgentMs -= expectedMs;
    }
  }

  #dispatch(): void {
    for (;;) {
      const entry = this.#closed ? undefined : this.#next();
      if (entry === undefined) break;
      if (this.#workers.idle === 0) {
        // A value that is coded ahead of time is begun again later: it may take longer than somebody's whole request.
        if (!entry.errand.work.ahead) this.#workers.interrupt();
        this.#workers.grow();
        break;
      }
      this.#leave(entry);
      const message = entry.task.message();
      if (message !== undefined) void this.#start(entry, message);
      else if (entry.errand.waiting.size + entry.errand.running === 0) this.#settle(entry.errand);
    }
    if (this.#waiting + this.#running > 0) return;
    // Nobody owes anybody anything.
    for (const { virtualMs } of this.#accounts.values())
      this.#virtualMs = Math.max(this.#virtualMs, virtualMs);
    this.#accounts.clear();
  }

  /** The first urgent task of the account that has used least; where none waits anywhere, one ahead of time. */
  #next(): Entry | undefined {
    let urgent: Account | undefined;
    let ahead: Account | undefined;
    for (const [name, account] of this.#accounts) {
      if (account.urgent.size > 0) {
        if (urgent === undefined || account.virtualMs < urgent.virtualMs) urgent = account;
      } else if (account.ahead.size > 0) {
        if (account.aheadRunning > 0) continue;
        if (ahead === undefined || account.virtualMs < ahead.virtualMs) ahead = account;
      } else if (account.running === 0 && account.virtualMs <= this.#virtualMs) this.#accounts.delete(name);
    }
    const [first] = urgent?.urgent ?? ahead?.ahead ?? [];
    return first;
  }

  async #start(entry: Entry, message: BlockMessage): Promise<void> {
    const { errand, expectedMs } = entry;
    const { account, kind, work } = errand;
    const aheadCount = work.ahead ? 1 : 0;
    this.#virtualMs = Math.max(this.#virtualMs, account.virtualMs);
    // What it will use counts from now on, so that one account does not get all threads at once.
    account.virtualMs += expectedMs;
    account.running++;
    account.aheadRunning += aheadCount;
    errand.running++;
    this.#running++;
    this.#figures.began(kind, this.#clock.now() - entry.queuedAtMs);
    const reply = await this.#workers.run(message, { interruptible: aheadCount > 0 });
    account.virtualMs += reply.ms - expectedMs;
    if (work.deadline !== undefined) work.deadline.atMs += reply.ms;
    account.running--;
    account.aheadRunning -= aheadCount;
    errand.running--;
    this.#running--;
    this.#figures.ended({ kind, taskKind: entry.taskKind, size: entry.task.size, tier: work.tier }, reply);
    if (errand.settle !== undefined && reply.outcome === "interrupted") this.#enter(entry);
    else if (errand.settle !== undefined) this.#finish(entry, reply);
    // What this result lets its asker ask for next is asked first: else a task of somebody else came in between.
    setImmediate(() => this.#dispatch());
  }

  #finish({ errand, task }: Entry, { outcome, result, error }: Reply): void {
    if (outcome === "ok") {
      task.done(result as never);
      if (errand.waiting.size + errand.running === 0) this.#settle(errand);
    } else if (outcome === "error") this.#end(errand, "dropped", new Error(`block task failed: ${error}`));
    else {
      const lost = new Failure("overloaded", "The block work could not be finished.", { retryAfterS: 1 });
      this.#end(errand, "dropped", lost);
    }
  }

  #accountOf(name: string): Account {
    let account = this.#accounts.get(name);
    if (account === undefined) {
      account = {
        virtualMs: this.#virtualMs,
        urgent: new Set(),
        ahead: new Set(),
        urgentMs: 0,
        running: 0,
        aheadRunning: 0,
      };
      this.#accounts.set(name, account);
    }
    return account;
  }
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
