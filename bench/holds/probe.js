/**
 * Loaded into the measured service before its own code (node --import): how long the event loop is held, in processor time
 * of its thread, so that other work on the machine does not count. It looks every millisecond; what is between two looks
 * was one piece of work, or several short ones. To a message it answers with the longest since the last message. It is
 * JavaScript, because the service has no loader for TypeScript.
 *
 * Node 20 does not tell the time of a thread. It is at most what the clock says, what all threads have used, and what
 * Linux has noted for the thread, which it does every few milliseconds: the least of the three counts.
 */

import { openSync, readSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const LOOK_MS = 1;
/** How late Linux notes the time of a thread that runs, at most: a tick of 250 Hz. */
const NOTED_MS = 4;

if (isMainThread && process.send !== undefined) {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`);
  const text = Buffer.alloc(64);
  const times = () => {
    const { user, system } = process.cpuUsage();
    const notedNs = Number.parseInt(text.latin1Slice(0, readSync(file, text, 0, text.length, 0)), 10);
    return { clockMs: performance.now(), allMs: (user + system) / 1e3, notedMs: notedNs / 1e6 };
  };
  let last = times();
  let longestMs = 0;
  const look = () => {
    const now = times();
    const { clockMs, allMs, notedMs } = last;
    const heldMs = Math.min(now.clockMs - clockMs, now.allMs - allMs, now.notedMs - notedMs + NOTED_MS);
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
