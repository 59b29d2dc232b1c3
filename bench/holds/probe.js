/**
 * Loaded into the measured service before its own code (node --import): how long the event loop is held, in processor time
 * of its thread, so that other work on the machine does not count. It looks every millisecond; what is between two looks
 * was one piece of work, or several short ones. To a message it answers with the longest since the last message. It is
 * JavaScript, because the service has no loader for TypeScript.
 *
 * Node 20 does not tell the time of a thread, and Linux notes it when the thread gives up its processor: it waits for a
 * moment before it looks.
 */

import { openSync, readSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const LOOK_MS = 1;
const MOMENT_MS = 0.001;

if (isMainThread && process.send !== undefined) {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`);
  const text = Buffer.alloc(64);
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  const times = () => {
    const clockMs = performance.now();
    Atomics.wait(nothing, 0, 0, MOMENT_MS);
    const notedNs = Number.parseInt(text.latin1Slice(0, readSync(file, text, 0, text.length, 0)), 10);
    return { clockMs, notedMs: notedNs / 1e6 };
  };
  let last = times();
  let longestMs = 0;
  const look = () => {
    const now = times();
    const heldMs = Math.min(now.clockMs - last.clockMs, now.notedMs - last.notedMs);
    longestMs = Math.max(longestMs, heldMs);
    last = now;
  };
  const lookAgain = () => {
    look();
    setTimeout(lookAgain, LOOK_MS).unref();
  };
  lookAgain();
  process.on("message", () => {
    look();
    process.send({ longestMs });
    longestMs = 0;
  });
  process.channel.unref();
}
