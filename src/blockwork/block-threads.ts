/**
 * The threads for block work: started when needed, replaced when lost. A new thread first checks itself and says
 * that it is ready; a task that goes over its budget costs its thread. Only threads that do not even start make the
 * workers ill: that is about this machine, whereas a task may be dear because of what somebody has stored.
 */

import { Worker } from "node:worker_threads";
import type { BlockMessage } from "./block-tasks.ts";

/** What became of a message: a result, the name of an error, or nothing, where it or the thread with it was given up. */
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
  /** How many could begin at once. */
  readonly idle: number;
  readonly healthy: boolean;
  /** Asks for one more; `onIdle` tells when it is there. */
  grow(): void;
  onIdle: () => void;
  run(message: BlockMessage, options?: { interruptible: boolean }): Promise<Reply>;
  /** Has one of the interruptible tasks end soon. */
  interrupt(): void;
  close(): Promise<void>;
}

export interface SchedulerClock {
  now(): number;
  /** Calls back later; returns how to take that back. */
  after(ms: number, run: () => void): () => void;
}

export interface Thread {
  post(message: BlockMessage): void;
  /** Ends what was posted last, if it still runs. */
  interrupt(): void;
  /** Whether the process must not end without it. */
  hold(held: boolean): void;
  end(): Promise<unknown>;
}

export interface ThreadEvents {
  ready(): void;
  replied(reply: Reply): void;
  ended(): void;
}

export interface BlockThreadsOptions {
  readonly start: (events: ThreadEvents) => Thread;
  readonly count: number;
  readonly clock: SchedulerClock;
}

interface Member {
  thread: Thread;
  ready: boolean;
  /** Answers the task that it is at. */
  reply: ((reply: Reply) => void) | undefined;
  interruptible: boolean;
  stopClock: () => void;
}

/** Many times what the dearest task takes on a slow machine. */
export const TASK_BUDGET_MS = 5_000;
const START_BUDGET_MS = 30_000;
/** After a thread that did not start, the next one is tried so much later. */
export const RESTART_MS = 1_000;
/** So many in a row that did not start, and the workers are ill. */
const FAILED_STARTS_MAX = 3;

export class BlockThreads implements Workers {
  readonly count: number;
  onIdle: () => void = () => {};
  readonly #start: BlockThreadsOptions["start"];
  readonly #clock: SchedulerClock;
  readonly #members = new Set<Member>();
  #failedStarts = 0;
  #stopRestart: (() => void) | undefined;
  #closed = false;

  constructor({ start, count, clock }: BlockThreadsOptions) {
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

  /** One at a time: when it is ready, whoever still waits asks for the next. */
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
  }

  run(message: BlockMessage, { interruptible } = { interruptible: false }): Promise<Reply> {
    const member = [...this.#members].find(({ ready, reply }) => ready && reply === undefined)!;
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
    await Promise.all(members.map(({ thread }) => thread.end()));
  }

  #becomeReady(member: Member): void {
    if (!this.#members.has(member)) return;
    this.#failedStarts = 0;
    member.ready = true;
    member.stopClock();
    member.thread.hold(false);
    this.onIdle();
  }

  #answer(member: Member, reply: Reply): void {
    const { reply: resolve } = member;
    member.stopClock();
    member.thread.hold(false);
    member.reply = undefined;
    member.interruptible = false;
    resolve?.(reply);
  }

  /** Gives a thread up, with the task it was at. */
  #lose(member: Member): void {
    if (!this.#members.delete(member)) return;
    member.stopClock();
    void member.thread.end();
    member.reply?.({ outcome: "lost", ms: TASK_BUDGET_MS });
    if (member.ready || this.#closed) return;
    this.#failedStarts++;
    // Tried again even where nobody waits: who asks whether the workers are well must hear of their recovery.
    this.#stopRestart = this.#clock.after(RESTART_MS, () => {
      this.#stopRestart = undefined;
      this.grow();
    });
  }
}

/** What a thread gets: a message under a number, and where the number stands of what it shall not go on with. */
export interface Posted {
  readonly number: number;
  readonly message: BlockMessage;
}
export type Stopped = Int32Array<SharedArrayBuffer>;

/** A real thread. Its module says `"ready"`, and then answers each message with a Reply. */
export function startWorker(module: URL): BlockThreadsOptions["start"] {
  return ({ ready, replied, ended }) => {
    const stopped: Stopped = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(module, { workerData: stopped });
    let number = 0;
    worker.on("message", (message: "ready" | Reply) => (message === "ready" ? ready() : replied(message)));
    worker.on("error", ended);
    worker.on("exit", ended);
    return {
      post: (message) => worker.postMessage({ number: ++number, message } satisfies Posted),
      interrupt: () => void Atomics.store(stopped, 0, number),
      hold: (held) => (held ? worker.ref() : worker.unref()),
      end: () => worker.terminate(),
    };
  };
}

export const threadClock: SchedulerClock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
