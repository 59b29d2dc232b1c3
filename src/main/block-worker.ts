/** The module of a worker thread: loads the codebooks, checks itself, then answers block tasks one after the other. */

import { parentPort } from "node:worker_threads";
import { type BlockMessage, checkSelf, runBlockTask } from "../memory/block-tasks.ts";
import type { Reply } from "../memory/block-threads.ts";
import { loadCodebooks } from "./codebooks.ts";

const codebooks = loadCodebooks();
checkSelf(codebooks);

parentPort?.on("message", (message: BlockMessage) => {
  const startedMs = performance.now();
  const answer = (reply: Omit<Reply, "ms">) =>
    parentPort?.postMessage({ ...reply, ms: performance.now() - startedMs });
  try {
    answer({ outcome: "ok", result: runBlockTask(codebooks, message) });
  } catch (error) {
    // The text of an error may quote a value: only its name leaves the thread.
    answer({ outcome: "error", error: error instanceof Error ? error.name : "unknown" });
  }
});
parentPort?.postMessage("ready");
