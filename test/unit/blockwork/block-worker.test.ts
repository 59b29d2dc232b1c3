/** A real thread: what it answers, and what an interruption stops. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { BlockThreads, startWorker, type Thread, timerClock } from "../../../src/blockwork/block-threads.ts";
import { blockWorkerBundle } from "../../fixtures/block-worker-bundle.ts";

test("an interruption stops the task that runs and no later one", async (context) => {
  const threads = new BlockThreads({ start: startWorker(blockWorkerBundle()), count: 1, clock: timerClock });
  context.after(() => threads.close());
  await new Promise<void>((resolve) => {
    threads.onIdle = resolve;
    threads.grow();
  });
  const message = { kind: "code", channel: 0, value: "a value that is coded again" } as const;
  const interrupted = threads.run(message, { interruptible: true });
  threads.interrupt();
  assert.equal((await interrupted).outcome, "interrupted");
  assert.equal((await threads.run(message, { interruptible: true })).outcome, "ok");
});

/** What is told of a thread of this module, and when it has ended. */
async function startThread(code: string) {
  const told: unknown[] = [];
  let thread: Thread | undefined;
  const ended = new Promise<void>((resolve) => {
    thread = startWorker(new URL(`data:text/javascript,${encodeURIComponent(code)}`))({
      ready: () => {
        told.push("ready");
        thread!.post({ kind: "code", channel: 0, value: "x" });
      },
      replied: (reply) => {
        told.push(reply);
        void thread!.end();
      },
      ended: resolve,
    });
  });
  await ended;
  return told;
}

test("a thread is told its messages by number, and its end is told, by itself or by a fault", async () => {
  const answering = `import { parentPort } from "node:worker_threads";
    parentPort.on("message", ({ number, message }) => parentPort.postMessage({ number, value: message.value }));
    parentPort.postMessage("ready");`;
  assert.deepEqual(await startThread(answering), ["ready", { number: 1, value: "x" }]);
  assert.deepEqual(await startThread("throw new Error('a fault')"), []);
  assert.deepEqual(await startThread(""), []);
});
