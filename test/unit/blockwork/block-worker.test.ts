/** A real thread: what it answers, and what an interruption stops. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { BlockThreads, startWorker, timerClock } from "../../../src/blockwork/block-threads.ts";
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
