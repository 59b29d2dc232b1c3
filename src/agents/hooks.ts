/**
 * The hooks for Claude Code and Codex, which use the same JSON. A session that starts, or continues after a
 * compaction, gets the memory and is told what is worth keeping. Before a compaction Claude Code's summary is asked to list
 * what is not stored yet, and where the prompt has the block, the memory is flushed. When a long session stops, its agent
 * is asked once to store what is lasting.
 */

import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { AgentMemory } from "../agent-side/agent-memory.ts";
import { memorySection, type SectionParts } from "../agent-side/memory-section.ts";
import {
  LIST_BEFORE_COMPACTION,
  STORE_AFTER_COMPACTION,
  STORE_BEFORE_END,
  WORTH_KEEPING,
} from "../agent-side/prompts.ts";

/** What the hosts do differently. */
export const HOSTS = {
  /** Replaces what is longer than 10,000 characters by the name of a file. Adds PreCompact's output to its summary prompt. */
  "claude-code": { lengthMax: 9_900, summaryPrompt: true },
  /** Has no limit if the hook says so (`additionalContextLimit`), and no way from PreCompact to its summary. */
  codex: { lengthMax: Number.POSITIVE_INFINITY, summaryPrompt: false },
} as const;

export type HookHost = keyof typeof HOSTS;

/** What a host tells a hook, as far as we use it. */
export interface HookInput {
  readonly event: string;
  readonly cwd: string | undefined;
  readonly source: string | undefined;
  readonly transcriptPath: string | undefined;
  /** Whether the agent goes on only because a hook asked it to. */
  readonly stopHookActive: boolean;
}

export interface HookOutcome {
  /** For standard output, which the host reads; empty for nothing. */
  readonly output: string;
  /** A line for standard error; empty for nothing. */
  readonly note: string;
}

export interface HookOptions {
  readonly host: HookHost;
  readonly include: SectionParts;
  readonly timeoutMs: number;
  readonly project: string | undefined;
}

/** The share of its time that a hook waits for the block; after that it uses the facts alone. */
const BLOCK_SHARE = 0.6;
/** A session in which the agent has spoken less often than this is not asked. */
const LONG_SESSION_MESSAGES = 20;
const NOTHING: HookOutcome = { output: "", note: "" };

/** Reads the host's JSON; throws if it is not the input of a hook. */
export function hookInput(text: string): HookInput {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null || !("hook_event_name" in parsed)) {
    throw new TypeError("the host's JSON has no hook_event_name");
  }
  const fields = parsed as Record<string, unknown>;
  const textIn = (name: string) => (typeof fields[name] === "string" ? fields[name] : undefined);
  return {
    event: textIn("hook_event_name") ?? "",
    cwd: textIn("cwd"),
    source: textIn("source"),
    transcriptPath: textIn("transcript_path"),
    stopHookActive: fields.stop_hook_active === true,
  };
}

/** Whether the memory is needed for an event. Without the block there is nothing to flush. */
export function usesMemory({ event }: HookInput, include: SectionParts): boolean {
  return event === "SessionStart" || (event === "PreCompact" && include !== "index");
}

/** What a hook says without the memory: the end of a long session, and a compaction where the prompt has no block. */
export function withoutMemory(input: HookInput, host: HookHost): HookOutcome {
  if (input.event !== "PreCompact") return askAtEnd(input);
  return { output: HOSTS[host].summaryPrompt ? LIST_BEFORE_COMPACTION : "", note: "" };
}

/** Runs the hook for an event that uses the memory. */
export async function runHook(
  memory: AgentMemory,
  userId: string,
  input: HookInput,
  options: HookOptions,
): Promise<HookOutcome> {
  const { lengthMax, summaryPrompt } = HOSTS[options.host];
  if (input.event === "SessionStart") {
    const told = [WORTH_KEEPING, ...(input.source === "compact" ? [STORE_AFTER_COMPACTION] : [])].join("\n");
    const section = await sectionOf(memory, userId, options, lengthMax - told.length - 2);
    const additionalContext = section === "" ? told : `${told}\n\n${section}`;
    const hookSpecificOutput = { hookEventName: "SessionStart", additionalContext };
    return { output: JSON.stringify({ hookSpecificOutput }), note: "" };
  }
  const { timeoutMs, project } = options;
  const { lossless, overflow } = await memory.flush(userId, { timeoutMs, project });
  return {
    output: summaryPrompt ? LIST_BEFORE_COMPACTION : "",
    note: lossless ? "" : `sideband: these facts did not fit in the block: ${overflow.join(", ")}`,
  };
}

/**
 * Stop: an agent that has worked for long is asked once to store what is lasting. Whether it was asked before is in
 * the transcript. The end of a session itself has no way back to the agent in either host.
 */
export function askAtEnd({ event, transcriptPath, stopHookActive }: HookInput): HookOutcome {
  if (event !== "Stop" || transcriptPath === undefined || stopHookActive) return NOTHING;
  const transcript = readFileSync(transcriptPath, "utf8");
  const messages = transcript.split('"role":"assistant"').length - 1;
  if (messages < LONG_SESSION_MESSAGES || transcript.includes(STORE_BEFORE_END)) return NOTHING;
  return { output: JSON.stringify({ decision: "block", reason: STORE_BEFORE_END }), note: "" };
}

/**
 * The memory section; without the block if that takes too long. An owner that was just started must load the reader
 * before it can build a block. The facts in plain text, which the model reads, are available immediately.
 */
async function sectionOf(
  memory: AgentMemory,
  userId: string,
  { include, timeoutMs, project }: HookOptions,
  lengthMax: number,
): Promise<string> {
  const context = memory.context(userId, { timeoutMs, project, include });
  const soon =
    include !== "both" ? await context : await Promise.race([context, pause(timeoutMs * BLOCK_SHARE)]);
  if (soon !== undefined) return memorySection(soon, include, lengthMax);
  const { facts } = await memory.facts(userId, { timeoutMs, project });
  const plain_index = facts.map(({ label, value }) => `${label}=${value}`).join("\n");
  return memorySection({ fdm_block: "", plain_index }, "index", lengthMax);
}
