/**
 * What the adapters share: which user they act for, and how they fail. An agent never stops because its memory is
 * slow or away: reads find nothing, writes are not kept, a line on standard error says so, and the agent goes on
 * after 2 seconds at most (`timeoutMs`). The agent does get its own errors (an unknown label, a value too long).
 */

import { MEMORY_TOOLS, type MemoryTool, toolErrorText } from "../contract/memory-tools.ts";
import { isOutage, type Sideband } from "../sdk/index.ts";

export const AGENT_TIMEOUT_MS = 2_000;

export interface AdapterOptions {
  memory: Sideband;
  /** Whose memory; a function if one agent serves many users. */
  userId: string | (() => string | Promise<string>);
  /** How long the agent waits for its memory. Default: 2 seconds. */
  timeoutMs?: number;
}

/** The tools for a model. The adapter itself handles the block and the prompt. */
export const MODEL_TOOLS: readonly MemoryTool[] = MEMORY_TOOLS.filter(({ name }) =>
  ["remember", "recall", "forget", "list"].includes(name),
);

export async function userOf({ userId }: AdapterOptions): Promise<string> {
  return typeof userId === "string" ? userId : userId();
}

export function callOptions({ timeoutMs = AGENT_TIMEOUT_MS }: Pick<AdapterOptions, "timeoutMs">): {
  timeoutMs: number;
} {
  return { timeoutMs };
}

/** Runs a tool. A failure becomes a result that the model can read. */
export async function runTool(
  tool: MemoryTool,
  options: AdapterOptions,
  input: Record<string, string>,
): Promise<{ readonly [name: string]: unknown }> {
  try {
    return await tool.run(options.memory, await userOf(options), input, callOptions(options));
  } catch (error) {
    if (isOutage(error)) warn(`${tool.name} failed`, error);
    return { error: toolErrorText(error) };
  }
}

/** The result of the work, or the fallback if memory is away. */
export async function withFallback<T>(what: string, work: () => Promise<T>, fallback: T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isOutage(error)) throw error;
    warn(what, error);
    return fallback;
  }
}

function warn(what: string, error: unknown): void {
  console.error(`sideband: ${what}: ${error instanceof Error ? error.message : String(error)}`);
}
