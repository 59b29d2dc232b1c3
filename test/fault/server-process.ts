/** The built service in a process of its own: to be killed, starved and watched. */

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { builtSideband } from "../agents/built.ts";

export interface ServerProcess {
  readonly process: ChildProcess;
  readonly url: string;
  /** All of standard output and error so far. */
  output(): string;
  /** Resolves with the exit status or the signal. */
  readonly ended: Promise<number | string>;
}

const START_TIMEOUT_MS = 60_000;

/**
 * @param prefix shell words before the command, such as a limit
 * @param script of another release
 */
export async function startServerProcess(
  settings: Record<string, string>,
  prefix = "",
  script = builtSideband(),
): Promise<ServerProcess> {
  const command = `${prefix} exec ${JSON.stringify(process.execPath)} ${JSON.stringify(script)} serve`;
  const child = spawn("/bin/bash", ["-c", command], {
    env: {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      SIDEBAND_PORT: "0",
      SIDEBAND_BLOCK_WORKERS: "1",
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (chunk) => {
    output += chunk;
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once("exit", (status, signal) => resolve(status ?? signal ?? "unknown"));
  });
  const url = await new Promise<string>((resolve, reject) => {
    setTimeout(() => reject(new Error(`no start in time: ${output}`)), START_TIMEOUT_MS).unref();
    void ended.then((status) => reject(new Error(`ended with ${status}: ${output}`)));
    child.stdout.on("data", (chunk) => {
      output += chunk;
      const match = /listening on (http:\S+)/.exec(output);
      if (match !== null) resolve(match[1]);
    });
  });
  return { process: child, url, output: () => output, ended };
}

/** The key whose file the first start names. */
export async function firstKey(server: ServerProcess): Promise<string> {
  for (;;) {
    const file = /^ {2}(\S+\/first\.key)$/m.exec(server.output())?.[1];
    if (file !== undefined) return readFileSync(file, "utf8").trim();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
