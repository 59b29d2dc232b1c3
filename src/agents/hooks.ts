/**
 * The hooks for Claude Code and Codex, which use the same JSON. A session that starts, or continues after a
 * compaction, gets the memory. Before a compaction the memory is flushed. In both hosts the output of that hook
 * cannot reach the next context, so the memory is put in again when the compacted session starts.
 */

import type { AgentMemory } from "../contract/agent-memory.ts";
import { memorySection, type SectionParts } from "../contract/memory-section.ts";

export interface HookOutcome {
  /** For standard output, which the host reads; empty for nothing. */
  readonly output: string;
  /** A line for standard error; empty for nothing. */
  readonly note: string;
}

export interface HookOptions {
  readonly include: SectionParts;
  readonly timeoutMs: number;
}

/** The share of its time that a hook waits for the block; after that it uses the facts alone. */
const BLOCK_SHARE = 0.6;
const NOTHING: HookOutcome = { output: "", note: "" };

/** Whether the host's JSON names an event that we handle; throws if it is no hook's JSON. */
export function usesMemory(input: string): boolean {
  const event = eventOf(input);
  return event === "SessionStart" || event === "PreCompact";
}

/** Runs the hook for the event in the host's JSON. */
export async function runHook(
  memory: AgentMemory,
  userId: string,
  input: string,
  options: HookOptions,
): Promise<HookOutcome> {
  switch (eventOf(input)) {
    case "SessionStart": {
      const section = await sectionOf(memory, userId, options);
      if (section === "") return NOTHING;
      const hookSpecificOutput = { hookEventName: "SessionStart", additionalContext: section };
      return { output: JSON.stringify({ hookSpecificOutput }), note: "" };
    }
    case "PreCompact": {
      const { lossless, overflow } = await memory.flush(userId, options);
      return lossless
        ? NOTHING
        : { output: "", note: `sideband: these facts did not fit in the block: ${overflow.join(", ")}` };
    }
    default:
      return NOTHING;
  }
}

/**
 * The memory section; without the block if that takes too long. An owner that was just started must load the reader
 * before it can build a block. The facts in plain text, which the model reads, are available immediately.
 */
async function sectionOf(memory: AgentMemory, userId: string, options: HookOptions): Promise<string> {
  const { include, timeoutMs } = options;
  const context = memory.context(userId, { timeoutMs });
  const soon =
    include === "block" ? await context : await Promise.race([context, pause(timeoutMs * BLOCK_SHARE)]);
  if (soon !== undefined) return memorySection(soon, include);
  context.catch(() => {});
  const { facts } = await memory.facts(userId, { timeoutMs });
  const plain_index = facts.map(({ label, value }) => `${label}=${value}`).join("\n");
  return memorySection({ fdm_block: "", plain_index }, "index");
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms);
  });
}

function eventOf(input: string): unknown {
  const parsed: unknown = JSON.parse(input);
  if (typeof parsed !== "object" || parsed === null || !("hook_event_name" in parsed)) {
    throw new TypeError("the host's JSON has no hook_event_name");
  }
  return parsed.hook_event_name;
}
