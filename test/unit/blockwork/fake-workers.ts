/** A clock that moves when told to, workers that finish a task when told to, and workers that do it at once. */

import type { TimerClock } from "../../../src/base/clock.ts";
import { type BlockMessage, type BlockTaskKind, runBlockTask } from "../../../src/blockwork/block-tasks.ts";
import type { Reply, Workers } from "../../../src/blockwork/block-threads.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";

export class FakeClock implements TimerClock {
  #nowMs: number;
  readonly #alarms = new Set<{ atMs: number; run: () => void }>();

  constructor(nowMs = 0) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, run: () => void): () => void {
    const alarm = { atMs: this.#nowMs + ms, run };
    this.#alarms.add(alarm);
    return () => void this.#alarms.delete(alarm);
  }

  get alarmCount(): number {
    return this.#alarms.size;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const alarm of [...this.#alarms].sort((a, b) => a.atMs - b.atMs)) {
      if (alarm.atMs <= this.#nowMs && this.#alarms.delete(alarm)) alarm.run();
    }
  }
}

export class FakeWorkers implements Workers {
  count: number;
  healthy = true;
  closed = false;
  interrupted = 0;
  grown = 0;
  onIdle = () => {};
  /** What runs now, in the order it began; all that ever began, as `channel` of its message. */
  readonly running: { message: BlockMessage; interruptible: boolean; reply: (reply: Reply) => void }[] = [];
  readonly began: number[] = [];

  constructor(count = 1) {
    this.count = count;
  }

  get idle(): number {
    return this.count - this.running.length;
  }

  grow(): void {
    this.grown++;
  }

  interrupt(): void {
    this.interrupted++;
  }

  run(message: BlockMessage, { interruptible }: { interruptible: boolean }): Promise<Reply> {
    this.began.push(message.kind === "code" ? message.channel : -1);
    return new Promise((reply) => this.running.push({ message, interruptible, reply }));
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const { reply } of this.running.splice(0)) reply({ outcome: "lost", ms: 0 });
  }

  /** Ends the task that began first. */
  async finish(ms = 10, reply: Omit<Reply, "ms"> = { outcome: "ok" }): Promise<void> {
    this.running.shift()!.reply({ ...reply, ms });
    await settled();
  }
}

/** When everything that follows from what has happened has happened. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Workers that do each task in this thread, with the plain codebook, as soon as they are let. */
export class DirectWorkers implements Workers {
  readonly count = 1;
  readonly healthy = true;
  onIdle = () => {};
  /** The kinds of the tasks that began, in order. */
  readonly began: BlockTaskKind[] = [];
  /** Resolves when a task may be done. */
  #gate: Promise<void> = Promise.resolve();
  /** May replace a result, as a faulty thread would. */
  distort = (_message: BlockMessage, result: unknown): unknown => result;
  #running = 0;

  get idle(): number {
    return this.count - this.#running;
  }

  grow(): void {}

  interrupt(): void {}

  /** Tasks that begin from now on are not done before the result is called. */
  hold(): () => void {
    let open = () => {};
    this.#gate = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  }

  async run(message: BlockMessage): Promise<Reply> {
    this.began.push(message.kind);
    this.#running++;
    await this.#gate;
    this.#running--;
    try {
      return { outcome: "ok", result: this.distort(message, runBlockTask([PLAIN_CODEBOOK], message)), ms: 1 };
    } catch (error) {
      return { outcome: "error", error: (error as Error).name, ms: 1 };
    }
  }

  async close(): Promise<void> {}

  countOf(kind: BlockTaskKind): number {
    return this.began.filter((began) => began === kind).length;
  }
}
