/**
 * Asks /healthz again and again on connections of its own, from a process of its own, and keeps the longest time. What
 * the machine took from the watcher itself is left out: a timer in it tells how late it runs.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { exchange } from "../load/exchange.ts";

export interface Stall {
  /** How long the longest answer took, less what the watcher itself was late. */
  readonly longestMs: number;
  readonly asked: number;
  /** An answer that was none. */
  readonly fault?: string;
}

const INTERVAL_MS = 100;
const TICK_MS = 20;
const SCRIPT = fileURLToPath(import.meta.url);

export class HealthWatch {
  readonly #watcher: ChildProcess;
  #latest: Stall = { longestMs: 0, asked: 0 };

  constructor(url: string) {
    this.#watcher = fork(SCRIPT, [url], { execArgv: ["--import", "tsx"] });
    this.#watcher.on("message", (stall: Stall) => {
      this.#latest = stall;
    });
  }

  get latest(): Stall {
    return this.#latest;
  }

  async end(): Promise<void> {
    this.#watcher.disconnect();
    await once(this.#watcher, "exit");
  }
}

async function watch(url: string): Promise<void> {
  let latestTickMs = performance.now();
  let lateMs = 0;
  setInterval(() => {
    const nowMs = performance.now();
    lateMs += Math.max(0, nowMs - latestTickMs - TICK_MS);
    latestTickMs = nowMs;
  }, TICK_MS);
  let longestMs = 0;
  for (let asked = 1; ; asked++) {
    const beforeMs = lateMs;
    const request = exchange(url, { method: "GET", path: "/healthz" });
    const { status, text, ms } = await request.catch((error) => ({ status: 0, text: error.message, ms: 0 }));
    longestMs = Math.max(longestMs, ms - (lateMs - beforeMs));
    const fault = status === 200 ? {} : { fault: `/healthz answered ${status} ${text}` };
    process.send?.({ longestMs, asked, ...fault } satisfies Stall);
    await sleep(INTERVAL_MS);
  }
}

if (process.argv[1] === SCRIPT) {
  process.once("disconnect", () => process.exit());
  await watch(process.argv[2]);
}
