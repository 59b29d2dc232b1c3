/**
 * Block work in worker threads: a pool with a bounded queue. Urgent work (build, read) goes before background
 * work (encode). Threads start when first needed. A task that takes too long costs its thread, which is
 * replaced; its caller is told that the service is overloaded.
 */

import { Worker } from "node:worker_threads";
import { Failure } from "../base/errors.ts";
import type { Metrics } from "../base/metrics.ts";
import type { BlockTask, BlockTaskResult } from "./block-tasks.ts";
import type { BuildResult, ReadResult, StoredFact, Workshop } from "./ports.ts";

export interface WorkerPoolOptions {
  /** The thread's module: answers each BlockTask message with { result } or { error }. */
  readonly module: URL;
  readonly threads: number;
  readonly queueMax: number;
  readonly taskTimeoutMs: number;
  readonly version: number;
  readonly keepsCodes: boolean;
  readonly metrics: Metrics;
}

interface Pending {
  readonly task: BlockTask;
  readonly resolve: (result: BlockTaskResult) => void;
  readonly reject: (error: unknown) => void;
  readonly queuedAtMs: number;
}

interface Thread {
  readonly worker: Worker;
  current: Pending | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** After so many tasks in a row that failed or cost their thread, the reader counts as ill. */
const FAILURES_MAX = 3;
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class WorkerPool implements Workshop {
  readonly version: number;
  readonly keepsCodes: boolean;
  readonly #options: WorkerPoolOptions;
  readonly #urgent: Pending[] = [];
  readonly #background: Pending[] = [];
  readonly #threads = new Set<Thread>();
  #closed = false;
  /** Tasks and threads lost since the last task that was done. */
  #failures = 0;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.version = options.version;
    this.keepsCodes = options.keepsCodes;
    const { metrics } = options;
    metrics.define({
      name: "sideband_block_tasks_total",
      help: "Block tasks by kind and result.",
      type: "counter",
    });
    metrics.define({
      name: "sideband_block_task_seconds",
      help: "Time of a block task in its worker thread (building, reading, encoding).",
      type: "histogram",
      buckets: SECONDS,
    });
    metrics.define({ name: "sideband_block_queue_depth", help: "Block tasks that wait.", type: "gauge" });
    metrics.define({
      name: "sideband_reader_healthy",
      help: "1 while the reader model's threads do their work, 0 after several failures in a row.",
      type: "gauge",
    });
    metrics.onCollect(() => {
      metrics.set("sideband_block_queue_depth", this.#urgent.length + this.#background.length);
      metrics.set("sideband_reader_healthy", this.healthy ? 1 : 0);
    });
  }

  build(job: Extract<BlockTask, { kind: "build" }>["job"]): Promise<BuildResult> {
    return this.#submit({ kind: "build", job }) as Promise<BuildResult>;
  }

  read(job: Extract<BlockTask, { kind: "read" }>["job"]): Promise<ReadResult> {
    return this.#submit({ kind: "read", job }) as Promise<ReadResult>;
  }

  encode(facts: readonly StoredFact[]): Promise<BuildResult["codes"]> {
    return this.#submit({ kind: "encode", facts }) as Promise<BuildResult["codes"]>;
  }

  get healthy(): boolean {
    return this.#failures < FAILURES_MAX;
  }

  /** Starts a thread before it is needed. */
  warm(): void {
    if (this.#threads.size === 0) this.#start();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const pending of [...this.#urgent.splice(0), ...this.#background.splice(0)]) {
      pending.reject(new Failure("overloaded", "The service is stopping.", { retryAfterS: 1 }));
    }
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }

  #submit(task: BlockTask): Promise<BlockTaskResult> {
    const queue = task.kind === "encode" ? this.#background : this.#urgent;
    if (this.#closed || queue.length >= this.#options.queueMax) {
      return Promise.reject(new Failure("overloaded", "Too much block work is waiting.", { retryAfterS: 1 }));
    }
    return new Promise((resolve, reject) => {
      queue.push({ task, resolve, reject, queuedAtMs: performance.now() });
      this.#dispatch();
    });
  }

  #dispatch(): void {
    for (;;) {
      if (this.#urgent.length + this.#background.length === 0) return;
      let idle = [...this.#threads].find(({ current }) => current === undefined);
      if (idle === undefined && this.#threads.size < this.#options.threads) idle = this.#start();
      if (idle === undefined) return;
      this.#run(idle, (this.#urgent.shift() ?? this.#background.shift())!);
    }
  }

  #run(thread: Thread, pending: Pending): void {
    thread.current = pending;
    const startedMs = performance.now();
    thread.timer = setTimeout(() => this.#lose(thread, "took too long"), this.#options.taskTimeoutMs);
    thread.worker.ref();
    thread.worker.postMessage(pending.task);
    thread.worker.once("message", (reply: { result?: BlockTaskResult; error?: string }) => {
      clearTimeout(thread.timer);
      thread.current = undefined;
      // A process may end while its threads are idle, not while one works.
      thread.worker.unref();
      const { metrics } = this.#options;
      const kind = `kind="${pending.task.kind}"`;
      metrics.observe("sideband_block_task_seconds", (performance.now() - startedMs) / 1000, kind);
      metrics.add(
        "sideband_block_tasks_total",
        `${kind},result="${reply.error === undefined ? "ok" : "error"}"`,
      );
      this.#failures = reply.result === undefined ? this.#failures + 1 : 0;
      if (reply.result === undefined) pending.reject(new Error(`block task failed: ${reply.error}`));
      else pending.resolve(reply.result);
      this.#dispatch();
    });
  }

  #start(): Thread {
    const worker = new Worker(this.#options.module);
    const thread: Thread = { worker, current: undefined, timer: undefined };
    worker.unref();
    worker.on("error", (error) => this.#lose(thread, String(error)));
    worker.on("exit", () => this.#lose(thread, "ended"));
    this.#threads.add(thread);
    return thread;
  }

  /** Gives a thread up, with the task it was at. */
  #lose(thread: Thread, reason: string): void {
    if (!this.#threads.delete(thread)) return;
    if (!this.#closed) this.#failures++;
    clearTimeout(thread.timer);
    thread.worker.removeAllListeners("message");
    void thread.worker.terminate();
    const { current } = thread;
    if (current !== undefined) {
      this.#options.metrics.add("sideband_block_tasks_total", `kind="${current.task.kind}",result="lost"`);
      current.reject(
        new Failure("overloaded", "The block work could not be finished.", { retryAfterS: 1, cause: reason }),
      );
    }
    if (!this.#closed) this.#dispatch();
  }
}
