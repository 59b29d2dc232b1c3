/** The thread of an environment that stores many changes in one transaction (commit-worker.js), started when it is needed. */

import { Worker } from "node:worker_threads";
import { assert } from "../../base/assert.ts";
import { MODULES } from "../../base/package-root.ts";

/** After this time without work the thread ends. */
const IDLE_MS = 10_000;

interface Chunk {
  readonly bytes: Uint8Array;
  readonly length: number;
}

interface Running {
  readonly worker: Worker;
  readonly ended: Promise<unknown>;
}

export class CommitThread {
  readonly #environment: object;
  #running: Running | undefined;
  #idle: NodeJS.Timeout | undefined;
  #settle: ((fault: unknown) => void) | undefined;

  /** @param environment what the thread opens */
  constructor(environment: object) {
    this.#environment = environment;
  }

  /** Stores all of the changes or none; resolves when they are on disk. One at a time. */
  async commit(chunks: readonly Chunk[]): Promise<void> {
    assert(this.#settle === undefined, "one commit is made at a time");
    clearTimeout(this.#idle);
    this.#running ??= this.#start();
    const { worker } = this.#running;
    worker.ref();
    const fault = await new Promise((settle) => {
      this.#settle = settle;
      worker.postMessage(chunks);
    });
    this.#settle = undefined;
    worker.unref();
    this.#idle = setTimeout(() => void this.end(), IDLE_MS).unref();
    if (fault !== undefined) throw fault;
  }

  #start(): Running {
    const worker = new Worker(new URL("store/lmdb/commit-worker.js", MODULES), {
      workerData: this.#environment,
      execArgv: [],
    });
    worker.on("message", (fault?: string) => this.#settle?.(fault && new Error(fault)));
    worker.on("error", (error) => this.#settle?.(error));
    const ended = new Promise((resolve) => worker.once("exit", resolve)).then(() => {
      if (this.#running?.worker === worker) this.#running = undefined;
      this.#settle?.(new Error("the thread of the commit has ended"));
    });
    return { worker, ended };
  }

  /** Resolves when the thread has closed what it had open. */
  async end(): Promise<void> {
    clearTimeout(this.#idle);
    assert(this.#settle === undefined, "a thread does not end in the midst of a commit");
    this.#running?.worker.ref();
    this.#running?.worker.postMessage(undefined);
    await this.#running?.ended;
  }
}
