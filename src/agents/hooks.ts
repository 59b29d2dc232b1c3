/**
 * What a host's hook does, for Claude Code and Codex, whose hooks speak the same JSON: a session that starts
 * (also one that goes on after a compaction) gets the memory, and a compaction that is coming gets a flush.
 * The output of a hook before a compaction cannot reach the next context in either host, so the memory is put
 * in again when the compacted session starts.
 */

import type { AgentMemory } from "../contract/agent-memory.ts";
import { memorySection, type SectionParts } from "../contract/memory-section.ts";

export interface HookOutcome {
  /** What the host reads on standard output; empty for nothing. */
  readonly output: string;
  /** A line for standard error; empty for nothing. */
  readonly note: string;
}

const NOTHING: HookOutcome = { output: "", note: "" };

/** Runs the hook that the host's JSON asks for. */
export async function runHook(
  memory: AgentMemory,
  userId: string,
  input: string,
  options: { include: SectionParts; timeoutMs: number },
): Promise<HookOutcome> {
  switch (eventOf(input)) {
    case "SessionStart": {
      const section = memorySection(await memory.context(userId, options), options.include);
      if (section === "") return NOTHING;
      const hookSpecificOutput = { hookEventName: "SessionStart", additionalContext: section };
      return { output: JSON.stringify({ hookSpecificOutput }), note: "" };
    }
    case "PreCompact": {
      const { lossless, overflow } = await memory.flush(userId, options);
      return lossless
        ? NOTHING
        : { output: "", note: `sideband: did not fit the block: ${overflow.join(", ")}` };
    }
    default:
      return NOTHING;
  }
}

function eventOf(input: string): unknown {
  const parsed: unknown = JSON.parse(input);
  if (typeof parsed !== "object" || parsed === null || !("hook_event_name" in parsed)) {
    throw new TypeError("the host's JSON has no hook_event_name");
  }
  return parsed.hook_event_name;
}
