/** Hooks whose memory is slow: the agent gets what there is. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { hookInput, runHook } from "../../../src/agents/hooks.ts";
import type { AgentMemory } from "../../../src/contract/agent-memory.ts";

test("a session starts with the facts alone where the block does not come", async () => {
  const facts = [
    { label: "USER.name", value: "Ada", channel: 0, revision: 1, updated_at: "2026-11-15T00:00:00.000Z" },
  ];
  const memory = {
    context: () => new Promise(() => {}),
    facts: async () => ({ user_id: "ada", channel_count: 1, facts }),
  } as unknown as AgentMemory;
  const input = hookInput(JSON.stringify({ hook_event_name: "SessionStart" }));
  const options = { host: "claude-code", include: "both", timeoutMs: 10 } as const;
  const { output } = await runHook(memory, "ada", input, options);
  const { additionalContext } = JSON.parse(output).hookSpecificOutput;
  assert.match(additionalContext, /USER\.name=Ada/);
  assert.doesNotMatch(additionalContext, /\[MEM\]/);
});
