/** The Hermes provider as the installer puts it together, and calls of it under Python. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AGENTS } from "../../src/agents/install.ts";
import type { Host } from "./host.ts";

const script = fileURLToPath(new URL("./hermes-host.py", import.meta.url));
const files = fileURLToPath(new URL("../../agents", import.meta.url));

/** Puts the provider into a new folder; whoever asked for it removes `target`. */
export function installHermesPlugin(): { target: string; plugin: string } {
  const target = mkdtempSync(join(tmpdir(), "sideband-hermes-"));
  const hermes = AGENTS.find(({ name }) => name === "hermes")!;
  const system = { home: target, platform: process.platform, isUsual: true };
  const options = { ...system, files, target, openclawModule: "", command: ["sideband"] };
  for (const { path, text } of hermes.pieces(options)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return { target, plugin: join(target, "plugins", "sideband") };
}

/** The results of the calls, all in one process. What the provider refuses is { refused: its text }. */
export function hermesCalls(calls: readonly [name: string, args: readonly unknown[]][]): unknown[] {
  const input = JSON.stringify(calls.map(([name, args]) => [name, args, {}]));
  const { target, plugin } = installHermesPlugin();
  try {
    const output = execFileSync("python3", [script, plugin], { input, encoding: "utf8", maxBuffer: 1 << 28 });
    return (JSON.parse(output) as [result: unknown, seconds: number][]).map(([result]) => result);
  } finally {
    rmSync(target, { recursive: true });
  }
}

export type HermesCall = [method: string, args?: unknown[], kwargs?: Record<string, unknown>];

// biome-ignore lint/suspicious/noExplicitAny: each method has its own result.
type HermesResult = [result: any, seconds: number];

/** Calls of the provider that is installed in a host's home, all in one process that begins in a folder. */
export async function drive(
  host: Host,
  env: Record<string, string>,
  calls: readonly HermesCall[],
  folder = host.home,
) {
  const input = JSON.stringify(calls.map(([method, args = [], kwargs = {}]) => [method, args, kwargs]));
  const installed = join(host.home, ".hermes", "plugins", "sideband");
  const line = `cd "${folder}" && python3 "${script}" "${installed}"`;
  const { status, stdout, stderr } = await host.shell(line, { input, env });
  assert.equal(status, 0, stderr);
  return { results: JSON.parse(stdout) as HermesResult[], stderr };
}
