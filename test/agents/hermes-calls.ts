/** Calls the functions of the Hermes provider that are copies of ours, under Python, without a service. */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("./hermes-host.py", import.meta.url));
const plugin = fileURLToPath(new URL("../../agents/hermes/sideband", import.meta.url));

/** The results of the calls, all in one process. What the provider refuses is { refused: its text }. */
export function hermesCalls(calls: readonly [name: string, args: readonly unknown[]][]): unknown[] {
  const input = JSON.stringify(calls.map(([name, args]) => [name, args, {}]));
  const output = execFileSync("python3", [script, plugin], { input, encoding: "utf8", maxBuffer: 1 << 28 });
  return (JSON.parse(output) as [result: unknown, seconds: number][]).map(([result]) => result);
}
