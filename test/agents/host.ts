/**
 * Stands in for an agent's host on this machine: a folder as home, `sideband` on the search path (as it is
 * published), and processes started as the host starts them.
 */

import { spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { TestContext } from "node:test";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { packageVersion } from "../../src/main/package.ts";
import { takeFolderLock } from "../../src/store/lmdb/folder-lock.ts";
import { builtSideband } from "./built.ts";
import { callCommand } from "./loaded-command.ts";

/** What is not about time is not left to it: on a busy machine the first block may take a while. */
export const PATIENCE_MS = "120000";

const PROGRAM_TRIES = 5;

export interface Finished {
  status: number | null;
  stdout: string;
  stderr: string;
  ms: number;
}

export interface Host {
  home: string;
  /** Runs a line as a shell would. */
  shell(line: string, options?: { input?: string; env?: Record<string, string> }): Promise<Finished>;
  /** As `shell`, a program that waits 2 seconds for its memory, as agents do: again where a busy machine took them. */
  program: Host["shell"];
  /** Runs `sideband` with these words, for what it says and does; its process is not its own. */
  sideband(words: string, env?: Record<string, string>): Promise<Omit<Finished, "ms">>;
}

/** Ends the owner of a data folder, where there is one, and waits until it has ended. */
export async function endOwner(folder: string): Promise<void> {
  const client = OwnerClient.of(folder);
  await client.json("POST", "/operator/end").catch(() => {});
  while (await client.hasOwner(1_000).catch(() => false))
    await new Promise((resolve) => setTimeout(resolve, 20));
  // Its door is closed first, its folder is let go of last.
  if (existsSync(folder)) (await takeFolderLock(folder, Number(PATIENCE_MS)))?.release();
}

export function makeHost(t: TestContext): Host {
  const home = mkdtempSync(join(tmpdir(), "sideband-host-"));
  t.after(async () => {
    // Agents without a service leave an owner of their data folder behind.
    await endOwner(join(home, ".sideband", "data"));
    rmSync(home, { recursive: true, force: true });
  });
  const bin = join(home, "bin");
  mkdirSync(bin);
  // Every installation asks for the version: it is told without a start of Node.
  writeFileSync(
    join(bin, "sideband"),
    `#!/bin/sh\nif [ "$*" = --version ]; then echo ${packageVersion()}; exit; fi\n` +
      `exec "${process.execPath}" "${builtSideband()}" "$@"\n`,
  );
  chmodSync(join(bin, "sideband"), 0o755);
  const path = `${bin}${delimiter}${process.env.PATH ?? ""}`;
  const settings = { PATH: path, HOME: home, USER: "ada", SIDEBAND_TIMEOUT_MS: PATIENCE_MS };
  const shell: Host["shell"] = (line, { input = "", env = {} } = {}) =>
    run(line, input, { ...settings, ...env }, home);
  return {
    home,
    shell,
    program: async (line, options) => {
      for (let tries = 1; ; tries++) {
        const finished = await shell(line, options);
        if (tries === PROGRAM_TRIES || !finished.stderr.includes("no answer within 2000 ms")) return finished;
      }
    },
    sideband: async (words, env = {}) => {
      const args = words.split(" ").filter((word) => word !== "");
      const { status, out, err } = await callCommand({ args, env: { ...settings, ...env }, cwd: home });
      return { status, stdout: out, stderr: err };
    },
  };
}

/** A file to read from: a hook does not wait for its input for long, and this process may be kept from writing it. */
export function inputOf(text: string): number {
  const folder = mkdtempSync(join(tmpdir(), "sideband-input-"));
  writeFileSync(join(folder, "input"), text);
  const file = openSync(join(folder, "input"), "r");
  rmSync(folder, { recursive: true });
  return file;
}

function run(line: string, input: string, env: Record<string, string>, cwd: string): Promise<Finished> {
  const startMs = performance.now();
  const stdin = inputOf(input);
  const child = spawn("/bin/sh", ["-c", line], { env, cwd, stdio: [stdin, "pipe", "pipe"] });
  closeSync(stdin);
  let stdout = "";
  let stderr = "";
  child.stdout!.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr!.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, stdout, stderr, ms: performance.now() - startMs }));
  });
}
