/** The built service in a process of its own, as an operator runs it, and what the system says about the process. */

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { COMMAND_PATH } from "../../src/main/package.ts";

const ADMIN_TOKEN = "admin-token-of-the-benchmark";
export const MASTER_KEY = "5b".repeat(32);

export interface RunningServer {
  readonly process: ChildProcess;
  readonly port: number;
  readonly key: string;
  readonly startMs: number;
  stop(): Promise<void>;
}

/**
 * Starts the service as an operator would, and waits for its first answer.
 * @param options.key for a folder that has one
 * @param options.command the `sideband` of another folder
 * @param options.execArgv of Node; with them the service can be sent messages
 */
export async function startServer(
  folder: string,
  options: {
    key?: string | undefined;
    settings?: Readonly<Record<string, string>>;
    command?: string;
    execArgv?: readonly string[];
  } = {},
): Promise<RunningServer> {
  const startedAt = performance.now();
  const { execArgv = [], command = COMMAND_PATH } = options;
  const child = spawn(process.execPath, [...execArgv, command, "serve"], {
    env: {
      SIDEBAND_DATA: folder,
      SIDEBAND_PORT: "0",
      SIDEBAND_MASTER_KEY: MASTER_KEY,
      SIDEBAND_ADMIN_TOKEN: ADMIN_TOKEN,
      SIDEBAND_DEMO: "1",
      ...options.settings,
    },
    stdio: ["ignore", "pipe", "ignore", ...(execArgv.length === 0 ? [] : ["ipc" as const])],
  });
  let output = "";
  const port = await new Promise<number>((resolve, reject) => {
    child.once("exit", (status) =>
      reject(new Error(`the service ended with status ${status}; is it built (npm run build)?`)),
    );
    child.stdout!.on("data", (chunk) => {
      output += chunk;
      const url = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(output);
      if (url !== null) resolve(Number(url[1]));
    });
  });
  await fetch(`http://127.0.0.1:${port}/healthz`);
  const startMs = performance.now() - startedAt;
  return {
    process: child,
    port,
    key: options.key ?? (await makeKey(port)),
    startMs,
    stop: async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Beside a database the first start prints no key. */
async function makeKey(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/admin/keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ account: "bench", tier: "unlimited" }),
  });
  return ((await answer.json()) as { key: string }).key;
}

export interface MemoryUse {
  /** All that is in memory, the pages of the data file that lmdb maps included. */
  readonly residentBytes: number;
  /** What is the process's own: without the pages of files, which the system takes back when it needs them. */
  readonly privateBytes: number;
}

export function memoryOf(child: ChildProcess): MemoryUse {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const field = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1024;
  return { residentBytes: field("VmRSS"), privateBytes: field("RssAnon") };
}

const QUIET_SHARE = 0.05;
const QUIET_WINDOW_MS = 400;
const QUIET_TIMEOUT_MS = 120_000;

/**
 * Waits until a process has done its background work: code bits that follow encodes, a thread that starts.
 * @param small without waiting: no time of a small benchmark counts
 */
export async function untilQuiet(child: ChildProcess, small: boolean): Promise<void> {
  if (small) return;
  const giveUpAt = performance.now() + QUIET_TIMEOUT_MS;
  for (;;) {
    const before = cpuSeconds(child);
    await new Promise((resolve) => setTimeout(resolve, QUIET_WINDOW_MS));
    if (cpuSeconds(child) - before <= (QUIET_SHARE * QUIET_WINDOW_MS) / 1000) return;
    if (performance.now() > giveUpAt) throw new Error("the service does not come to rest");
  }
}

/** Processor time that the threads of a process have used so far, in the kernel too; Linux counts nanoseconds. */
export function cpuSeconds(child: ChildProcess): number {
  const tasks = `/proc/${child.pid}/task`;
  const nanoseconds = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanoseconds.reduce((sum, ns) => sum + ns, 0) / 1e9;
}

export function ask<T>(child: ChildProcess, message: object): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once("message", (answer) => resolve(answer as T));
    child.send(message, (error) => error !== null && reject(error));
  });
}
