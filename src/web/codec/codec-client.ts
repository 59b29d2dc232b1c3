/** The page's end of the codec worker: a question in, a promise out. The worker starts with the first question. */

import type { Answers, FromWorker, Question } from "./messages.ts";

/** The worker's address; its name has a hash, so the build puts it in. */
declare const CODEC_WORKER_URL: string;

interface Waiting {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

export class CodecClient {
  /** Called while the weights of a codebook are loading. */
  onProgress: (loadedBytes: number, totalBytes: number) => void = () => {};
  #worker: Worker | undefined;
  #lastId = 0;
  readonly #waiting = new Map<number, Waiting>();

  ask<Q extends Question>(question: Q): Promise<Answers[Q["ask"]]> {
    const worker = this.#worker ?? this.#start();
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ ...question, id });
    });
  }

  #start(): Worker {
    const worker = new Worker(CODEC_WORKER_URL, { type: "module", name: "codec" });
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => this.#receive(data));
    worker.addEventListener("error", () => {
      // The script could not be loaded: waiting questions fail, and the next question starts a new worker.
      for (const { reject } of this.#waiting.values()) reject(new Error("The codec could not be loaded."));
      this.#waiting.clear();
      this.#worker = undefined;
    });
    this.#worker = worker;
    return worker;
  }

  #receive(message: FromWorker): void {
    if ("loadedBytes" in message) {
      this.onProgress(message.loadedBytes, message.totalBytes);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if ("error" in message) waiting?.reject(new Error(message.error));
    else waiting?.resolve(message.answer as never);
  }
}
