/**
 * Sessions of the real Claude Code, each a process that is told its prompts one after the other, as a person would. The
 * stand-in model does what a prompt says: `KEEP LABEL=value` is a call of the tool remember, for example.
 */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { STORE_AFTER_COMPACTION } from "../../src/agent-side/prompts.ts";
import { modules } from "./room.ts";
import type { ModelRequest, Reply, StandInModel } from "./stand-in-model.ts";

export const CLAUDE = join(
  modules,
  "@anthropic-ai",
  `claude-code-${process.platform}-${process.arch}`,
  "claude",
);
/** What a sub-agent is asked. */
export const DELEGATED = "WORK-OF-A-SUB-AGENT";
/** Near the end of the window of the session, so that the next turn begins with a compaction. */
const TIRED_TOKENS = 195_000;
const WINDOW_TOKENS = "200000";
const LIMIT_MS = 300_000;

export interface SessionOptions {
  readonly folder: string;
  readonly env: Record<string, string>;
  /** Goes on with this session. */
  readonly resume?: string;
  /** Kills Claude Code in the middle of its last turn. */
  readonly isKilled?: boolean;
}

export interface Session {
  readonly id: string;
  /** What the model was asked, by prompt. */
  readonly turns: readonly (readonly ModelRequest[])[];
}

/** The model of these sessions. It writes `fact` into the summary of a compaction, and stores it when it is asked to. */
export function obedientModel(fact: { label: string; value: string }): (request: ModelRequest) => Reply {
  return (request) => {
    const { text, toolNames } = request;
    const asked = lastPrompt(text);
    if (asked === undefined || !toolNames.some((name) => name.endsWith("remember"))) return "done";
    if (asked.includes("TEXT ONLY")) return `A summary.\nTo remember\n${fact.label}=${fact.value}`;
    const [, label, value] = /^KEEP ([A-Z]+\.\w+)=(.*)$/m.exec(asked) ?? [];
    if (label !== undefined) return { tool: "remember", input: { label, value } };
    if (asked.includes("DELEGATE"))
      return { tool: "Agent", input: { description: "look", prompt: DELEGATED, subagent_type: "Explore" } };
    if (asked.includes("TIRE")) return { text: "done", inputTokens: TIRED_TOKENS };
    if (asked.includes("HANG")) return { isSilent: true };
    if (asked.includes("GO ON") && text.includes(STORE_AFTER_COMPACTION.slice(0, 40)))
      return { tool: "remember", input: fact };
    return "done";
  };
}

/** What the person said last; undefined where a tool has answered since. */
function lastPrompt(text: string): string | undefined {
  interface Part {
    readonly type: string;
    readonly text?: string;
  }
  const { messages } = JSON.parse(text) as { messages: { role: string; content: string | Part[] }[] };
  const content = messages.findLast(({ role }) => role === "user")?.content ?? "";
  if (typeof content === "string") return content;
  if (content.some(({ type }) => type === "tool_result")) return undefined;
  return content.map((part) => part.text ?? "").join("\n");
}

export function runSession(
  model: StandInModel,
  prompts: readonly string[],
  { folder, env, resume, isKilled = false }: SessionOptions,
): Promise<Session> {
  const options = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
  const allowed = ["--allowedTools", "mcp__plugin_sideband_sideband__remember"];
  const args = ["-p", ...options, ...allowed, ...(resume === undefined ? [] : ["--resume", resume])];
  const child = spawn(CLAUDE, args, {
    cwd: folder,
    env: { ...env, CLAUDE_CODE_AUTO_COMPACT_WINDOW: WINDOW_TOKENS },
    stdio: ["pipe", "pipe", "pipe"],
    timeout: LIMIT_MS,
  });
  const left = [...prompts];
  const turns: ModelRequest[][] = [];
  let id = "";
  let errors = "";
  model.requests.length = 0;
  const next = () => {
    const content = left.shift();
    if (content === undefined) child.stdin.end();
    else child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`);
    if (content === undefined || left.length > 0 || !isKilled) return;
    const watch = setInterval(() => {
      if (model.requests.length === 0) return;
      clearInterval(watch);
      child.kill("SIGKILL");
    }, 20);
  };
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      const event = JSON.parse(line) as { type: string; session_id?: string };
      if (event.session_id !== undefined) id = event.session_id;
      if (event.type !== "result") continue;
      turns.push(model.requests.splice(0));
      next();
    }
  });
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  next();
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => {
      if (status === 0 || isKilled) resolve({ id, turns });
      else reject(new Error(`Claude Code ended with ${status}: ${errors}`));
    });
  });
}
