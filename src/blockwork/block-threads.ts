/**
 * The threads for block work: started when needed, replaced when lost. A new thread first checks itself and says
 * that it is ready. A task that exceeds its time budget ends its thread. The workers are unhealthy only when threads
 * fail to start: that is a fault of the machine, whereas a slow task may be due to a stored value.
 */

import { Worker } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { monotonicClock, type TimerClock } from "../base/clock.ts";
import type { BlockMessage } from "./block-tasks.ts";

/** The answer to a message: a result, the name of an error, or neither where the task was interrupted or its thread lost. */
export interface Reply {
  readonly outcome: "ok" | "error" | "interrupted" | "lost";
  readonly result?: unknown;
  readonly error?: string;
  /** Processor time, as the thread saw it. */
  readonly ms: number;
}

export interface Workers {
  /** How many there may be. */
  readonly count: number;
  /** How many can begin a task now. */
  readonly idle: number;
  readonly healthy: boolean;
  /** Starts one more thread; `onIdle` is called when it is ready. */
  grow(): void;
  onIdle: () => void;
  run(message: BlockMessage, options: { interruptible: boolean }): Promise<Reply>;
  /** Stops one of the interruptible tasks. */
  interrupt(): void;
  close(): Promise<void>;
}

export interface Thread {
  post(message: BlockMessage): void;
  /** Stops the task that was posted last, if it still runs. */
  interrupt(): void;
  /** While held, the thread keeps the process alive. */
  hold(held: boolean): void;
  end(): Promise<unknown>;
}

export interface ThreadEvents {
  ready(): void;
  replied(reply: Reply): void;
  ended(): void;
}

interface BlockThreadsOptions {
  readonly start: (events: ThreadEvents) => Thread;
  readonly count: number;
  readonly clock: TimerClock;
}

interface Member {
  thread: Thread;
  ready: boolean;
  /** Answers the running task. */
  reply: ((reply: Reply) => void) | undefined;
  interruptible: boolean;
  stopClock: () => void;
}

/** Many times what the longest task takes on a slow machine. */
export const TASK_BUDGET_MS = 5_000;
const START_BUDGET_MS = 30_000;
/** The pause before the next attempt after a thread failed to start. */
export const RESTART_MS = 1_000;
/** The workers are unhealthy after this many failed starts in a row. */
const FAILED_STARTS_MAX = 3;

export class BlockThreads implements Workers {
  readonly count: number;
  onIdle: () => void = () => {};
  readonly #start: BlockThreadsOptions["start"];
  readonly #clock: TimerClock;
  readonly #members = new Set<Member>();
  #failedStarts = 0;
  #stopRestart: (() => void) | undefined;
  #closed = false;

  constructor({ start, count, clock }: BlockThreadsOptions) {
    assert(count >= 1, "there is a thread for block work");
    this.#start = start;
    this.count = count;
    this.#clock = clock;
  }

  get healthy(): boolean {
    return this.#failedStarts < FAILED_STARTS_MAX;
  }

  get idle(): number {
    let count = 0;
    for (const { ready, reply } of this.#members) if (ready && reply === undefined) count++;
    return count;
  }

  /** Starts one thread at a time. When it is ready, the scheduler asks for the next if tasks still wait. */
  grow(): void {
    const starting = [...this.#members].some(({ ready }) => !ready);
    if (this.#closed || starting || this.#stopRestart !== undefined || this.#members.size >= this.count)
      return;
    const member: Member = {
      thread: this.#start({
        ready: () => this.#becomeReady(member),
        replied: (reply) => this.#answer(member, reply),
        ended: () => this.#lose(member),
      }),
      ready: false,
      reply: undefined,
      interruptible: false,
      stopClock: this.#clock.after(START_BUDGET_MS, () => this.#lose(member)),
    };
    this.#members.add(member);
    assert(this.#members.size <= this.count, "there are no more threads than allowed");
  }

  run(message: BlockMessage, { interruptible }: { interruptible: boolean }): Promise<Reply> {
    const member = [...this.#members].find(({ ready, reply }) => ready && reply === undefined);
    assert(member !== undefined, "a task is handed over only while a thread is idle");
    member.interruptible = interruptible;
    member.stopClock = this.#clock.after(TASK_BUDGET_MS, () => this.#lose(member));
    member.thread.hold(true);
    member.thread.post(message);
    return new Promise((resolve) => {
      member.reply = resolve;
    });
  }

  interrupt(): void {
    const member = [...this.#members].find(({ interruptible }) => interruptible);
    if (member === undefined) return;
    member.interruptible = false;
    member.thread.interrupt();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopRestart?.();
    const members = [...this.#members];
    for (const member of members) this.#lose(member);
    assert(this.#members.size === 0, "no thread is left at the close");
    await Promise.all(members.map(({ thread }) => thread.end()));
  }

  #becomeReady(member: Member): void {
    if (!this.#members.has(member)) return;
    assert(!member.ready, "a thread says once that it is ready");
    this.#failedStarts = 0;
    member.ready = true;
    member.stopClock();
    member.thread.hold(false);
    this.onIdle();
  }

  #answer(member: Member, reply: Reply): void {
    // A thread that is being ended must hold the process until it has ended.
    if (!this.#members.has(member)) return;
    const { reply: resolve } = member;
    assert(resolve !== undefined, "a thread answers only the task that it was given");
    member.stopClock();
    member.thread.hold(false);
    member.reply = undefined;
    member.interruptible = false;
    resolve(reply);
  }

  /** Ends a thread; its running task is answered as lost. */
  #lose(member: Member): void {
    if (!this.#members.delete(member)) return;
    member.stopClock();
    void member.thread.end();
    member.reply?.({ outcome: "lost", ms: TASK_BUDGET_MS });
    if (member.ready || this.#closed) return;
    this.#failedStarts++;
    // Also where no task waits: otherwise `healthy` would never become true again.
    this.#stopRestart = this.#clock.after(RESTART_MS, () => {
      this.#stopRestart = undefined;
      this.grow();
    });
  }
}

/** A message with its number. The shared memory of a thread holds the number of the message to stop. */
export interface NumberedMessage {
  readonly number: number;
  readonly message: BlockMessage;
}
export type StopSignal = Int32Array<SharedArrayBuffer>;

/** A real thread. Its module says `"ready"`, and then answers each message with a Reply. */
export function startWorker(module: URL): BlockThreadsOptions["start"] {
  return ({ ready, replied, ended }) => {
    const stopped: StopSignal = new Int32Array(new SharedArrayBuffer(4));
    // In one piece, as in tests, a module needs no loader of the process.
    const execArgv = module.protocol === "data:" ? [] : undefined;
    const worker = new Worker(module, { workerData: stopped, execArgv });
    let number = 0;
    worker.on("message", (message: "ready" | Reply) => (message === "ready" ? ready() : replied(message)));
    worker.on("error", ended);
    worker.on("exit", ended);
    return {
      post: (message) => worker.postMessage({ number: ++number, message } satisfies NumberedMessage),
      interrupt: () => void Atomics.store(stopped, 0, number),
      hold: (held) => (held ? worker.ref() : worker.unref()),
      end: () => worker.terminate(),
    };
  };
}

/** Its timers do not keep the process alive. */
export const timerClock: TimerClock = {
  ...monotonicClock,
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
