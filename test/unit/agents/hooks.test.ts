/** Hooks whose memory is slow: the agent gets what there is. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentMemory } from "../../../src/agent-side/agent-memory.ts";
import { hookInput, runHook } from "../../../src/agents/hooks.ts";

/** What a session is told at its start. */
async function startWith(memory: Pick<AgentMemory, "context" | "facts">): Promise<string> {
  const input = hookInput(JSON.stringify({ hook_event_name: "SessionStart" }));
  const options = { host: "claude-code", include: "both", timeoutMs: 10, project: "loom" } as const;
  const { output } = await runHook(memory as AgentMemory, "ada", input, options);
  return JSON.parse(output).hookSpecificOutput.additionalContext;
}

const facts = async () => ({
  user_id: "ada",
  channel_count: 1,
  facts: [
    { label: "USER.name", value: "Ada", channel: 0, revision: 1, updated_at: "2026-11-15T00:00:00.000Z" },
  ],
});

test("a session starts with the facts alone where the block does not come", async () => {
  const told = await startWith({ context: () => new Promise(() => {}), facts });
  assert.match(told, /USER\.name=Ada/);
  assert.doesNotMatch(told, /\[MEM\]/);
});

test("a block that fails after its time was over does not end the hook", async () => {
  let fail = (_error: Error) => {};
  const told = await startWith({
    context: () =>
      new Promise((_resolve, reject) => {
        fail = reject;
      }),
    // The test fails by a rejection that nobody hears.
    facts: async () => {
      fail(new Error("late"));
      await new Promise(setImmediate);
      return facts();
    },
  });
  assert.match(told, /USER\.name=Ada/);
});
