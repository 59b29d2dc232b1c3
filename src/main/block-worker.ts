/** The module of a worker thread: loads the codebooks once, then answers block tasks one after the other. */

import { parentPort } from "node:worker_threads";
import { type BlockTask, runBlockTask } from "../memory/block-tasks.ts";
import { loadCodebooks } from "./codebooks.ts";

const codebooks = loadCodebooks();

parentPort?.on("message", (task: BlockTask) => {
  try {
    const result = runBlockTask(codebooks, task);
    parentPort?.postMessage({ result });
  } catch (error) {
    // The text of an error may quote a value: only its name leaves the thread.
    parentPort?.postMessage({ error: error instanceof Error ? error.name : "unknown" });
  }
});
