/** What the Hermes provider adds to a turn, counted without Hermes: its system prompt, its section and its tools. */

import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { installHermesPlugin } from "../agents/hermes-calls.ts";
import { o200kCounter } from "../fixtures/o200k.ts";

const SCRIPT = fileURLToPath(new URL("../agents/hermes-host.py", import.meta.url));

/** @param settings where the service is, and whose memory */
export async function hermesTokens(settings: Record<string, string>): Promise<number> {
  const count = o200kCounter();
  const calls = [
    ["initialize", ["session"], { platform: "gateway" }],
    ["system_prompt_block", [], {}],
    ["prefetch", ["Hello"], { session_id: "session" }],
    ["get_tool_schemas", [], {}],
  ];
  const { target, plugin } = installHermesPlugin();
  const child = spawn("python3", [SCRIPT, plugin], {
    env: { PATH: process.env.PATH ?? "", ...settings },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(calls));
  const output = await text(child.stdout);
  rmSync(target, { recursive: true });
  const [, prompt, section, tools] = (JSON.parse(output) as [unknown, number][]).map(([result]) => result);
  if (!String(section).includes("USER.name=")) throw new Error("the provider has put no facts into the turn");
  return count(String(prompt)) + count(String(section)) + count(JSON.stringify(tools));
}
