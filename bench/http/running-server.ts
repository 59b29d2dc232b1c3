/** The service in a process of its own, as the benchmarks and the fault tests run it. */

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface RunningServer {
  readonly process: ChildProcess;
  readonly port: number;
  readonly key: string;
  readonly startMs: number;
  stop(): Promise<void>;
}

/**
 * Starts the service as an operator would, and waits for its first answer.
 * @param known a key, for a folder that is not new
 */
export async function startServer(folder: string, known?: string): Promise<RunningServer> {
  const startedAt = performance.now();
  const bin = fileURLToPath(new URL("../../../bin/sideband.js", import.meta.url));
  const child = spawn(process.execPath, [bin, "serve"], {
    env: { SIDEBAND_DATA: folder, SIDEBAND_PORT: "0" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  const { port, key } = await new Promise<{ port: number; key: string }>((resolve, reject) => {
    child.once("exit", (status) => reject(new Error(`the service ended with ${status}`)));
    child.stdout.on("data", (chunk) => {
      output += chunk;
      const url = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(output);
      const printed = /sb_live_\w{36}/.exec(output);
      const key = printed?.[0] ?? known;
      if (url !== null && key !== undefined) resolve({ port: Number(url[1]), key });
    });
  });
  await fetch(`http://127.0.0.1:${port}/healthz`);
  return {
    process: child,
    port,
    key,
    startMs: performance.now() - startedAt,
    stop: async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

export function residentBytes(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

/** Processor time that a process has used so far, in the kernel too: Linux counts in hundredths of a second. */
export function cpuSeconds(child: ChildProcess): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export function ask<T>(child: ChildProcess, message: object): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once("message", (answer) => resolve(answer as T));
    child.send(message, (error) => error !== null && reject(error));
  });
}
