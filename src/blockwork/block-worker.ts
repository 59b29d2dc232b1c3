/** The module of a worker thread: loads the codebooks, checks itself, then answers block tasks one after the other. */

import { parentPort, workerData } from "node:worker_threads";
import { checkSelf, Interrupted, interruptible, runBlockTask } from "./block-tasks.ts";
import type { NumberedMessage, Reply, StopSignal } from "./block-threads.ts";
import { loadCodebooks } from "./codebooks.ts";

const stopped = workerData as StopSignal;
/** The number of the running task; −1 before the first. */
let current = -1;
const [writing, ...others] = loadCodebooks();
const codebooks = [interruptible(writing, () => Atomics.load(stopped, 0) === current), ...others];
checkSelf(codebooks);

parentPort?.on("message", ({ number, message }: NumberedMessage) => {
  current = number;
  const startedMs = performance.now();
  const answer = (reply: Omit<Reply, "ms">) =>
    parentPort?.postMessage({ ...reply, ms: performance.now() - startedMs });
  try {
    answer({ outcome: "ok", result: runBlockTask(codebooks, message) });
  } catch (error) {
    // The text of an error may quote a value: only its name leaves the thread.
    if (error instanceof Interrupted) answer({ outcome: "interrupted" });
    else answer({ outcome: "error", error: error instanceof Error ? error.name : "unknown" });
  }
});
parentPort?.postMessage("ready");
