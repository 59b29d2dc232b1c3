/** The Hermes provider as the installer puts it together, and calls of its functions under Python, without a service. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AGENTS } from "../../src/agents/install.ts";

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
