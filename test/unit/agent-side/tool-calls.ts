/** Tools of an agent called by their names, on a real store. */

import type { TestContext } from "node:test";
import type { AgentMemory } from "../../../src/agent-side/agent-memory.ts";
import { MEMORY_TOOLS, type ToolCallOptions } from "../../../src/agent-side/memory-tools.ts";
import type { UndoIn } from "../../../src/agent-side/written-line.ts";
import { directMemory } from "../../../src/mcp/direct-memory.ts";
import { auditFor, caller, memoryServices } from "../memory/memory-services.ts";

export async function setUp(context: TestContext) {
  const { services, clock } = await memoryServices(context, "2026-11-16T12:00:00Z");
  const memory = directMemory(services, caller, (error) => error as Error, auditFor(services));
  return { memory, clock, call: callerOf(memory) };
}

/** Runs a tool by its name for ada. */
export function callerOf(memory: AgentMemory) {
  return (name: string, input: object, options: ToolCallOptions = {}) =>
    MEMORY_TOOLS.find((tool) => tool.name === name)!.run(memory, "ada", { ...input }, options);
}

/** The command of a person at a terminal. */
export const undoIn: UndoIn = (place, project) => ({
  program: "sideband",
  options: place === "person" ? " --person" : project === undefined ? "" : ` --project ${project}`,
});
