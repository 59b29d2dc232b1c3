/**
 * Asks /healthz again and again on connections of its own, from a process of its own, and keeps the longest time. The time
 * that the service, or the watcher, waited for a processor is also told apart, where the system says so (Linux): on a busy
 * machine that is no stall of the service.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { exchange } from "../load/exchange.ts";

export interface Stall {
  /** How long the longest answer took. */
  readonly longestMs: number;
  /** The longest without the time in which the service or the watcher waited for a processor. */
  readonly longestOwnMs: number;
  readonly asked: number;
  /** An answer that was none. */
  readonly fault?: string;
}

const INTERVAL_MS = 100;
const SCRIPT = fileURLToPath(import.meta.url);

export class HealthWatch {
  readonly #watcher: ChildProcess;
  #latest: Stall = { longestMs: 0, longestOwnMs: 0, asked: 0 };

  constructor({ url, pid }: { url: string; pid: number }) {
    this.#watcher = fork(SCRIPT, [url, String(pid)], { execArgv: ["--import", "tsx"] });
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

async function watch(url: string, pid: string): Promise<void> {
  const waitedMs = () => processorWaitMs(pid) + processorWaitMs(String(process.pid));
  let longestMs = 0;
  let longestOwnMs = 0;
  for (let asked = 1; ; asked++) {
    const beforeMs = waitedMs();
    const request = exchange(url, { method: "GET", path: "/healthz" });
    const { status, text, ms } = await request.catch((error) => ({ status: 0, text: error.message, ms: 0 }));
    longestMs = Math.max(longestMs, ms);
    longestOwnMs = Math.max(longestOwnMs, ms - (waitedMs() - beforeMs));
    const fault = status === 200 ? {} : { fault: `/healthz answered ${status} ${text}` };
    process.send?.({ longestMs, longestOwnMs, asked, ...fault } satisfies Stall);
    await sleep(INTERVAL_MS);
  }
}

/** How long the main thread of a process has waited for a processor, in all. */
function processorWaitMs(pid: string): number {
  const file = `/proc/${pid}/task/${pid}/schedstat`;
  if (!existsSync(file)) return 0;
  return Number(readFileSync(file, "utf8").split(" ")[1]) / 1e6;
}

if (process.argv[1] === SCRIPT) {
  process.once("disconnect", () => process.exit());
  await watch(process.argv[2], process.argv[3]);
}
