/**
 * What the adapters share: which user they act for, and how they fail. An agent never stops because its memory is
 * slow or away: reads find nothing, writes are not kept, a line on standard error says so, and the agent goes on
 * after 2 seconds at most (`timeoutMs`), and at once for half a minute after that. The agent does get its own errors (an unknown label, a value too long).
 */

import type { AgentCallOptions } from "../agent-side/agent-memory.ts";
import type { SectionParts } from "../agent-side/memory-section.ts";
import {
  MEMORY_TOOLS,
  type MemoryTool,
  objectSchema,
  SCOPE_INPUT,
  toolErrorText,
} from "../agent-side/memory-tools.ts";
import { scopedMemory } from "../agent-side/scope.ts";
import { isOutage, type Sideband } from "../sdk/index.ts";

const AGENT_TIMEOUT_MS = 2_000;

export interface AdapterOptions {
  memory: Sideband;
  /** Whose memory; a function if one agent serves many users. */
  userId: string | (() => string | Promise<string>);
  /** The project: TASK and PROJ facts are kept for it, and its facts are added to the user's. Default: none. */
  project?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** How long the agent waits for its memory. Default: 2 seconds. */
  timeoutMs?: number | undefined;
  /** Keeps what looks like a key, a token or a password too. Default: refuses it. */
  allowSecrets?: boolean;
}

/** The tools for a model. The adapter itself handles the block and the prompt. */
export const MODEL_TOOLS: readonly MemoryTool[] = MEMORY_TOOLS.filter(({ name }) =>
  ["remember", "recall", "forget", "list"].includes(name),
);

async function namedUser({ userId }: AdapterOptions): Promise<string> {
  return typeof userId === "string" ? userId : userId();
}

async function namedProject({ project }: AdapterOptions): Promise<string | undefined> {
  return typeof project === "function" ? project() : project;
}

export function callOptions({
  timeoutMs = AGENT_TIMEOUT_MS,
  allowSecrets,
}: Pick<AdapterOptions, "timeoutMs" | "allowSecrets">): AgentCallOptions & { timeoutMs: number } {
  return { timeoutMs, coolDown: true, allowSecrets };
}

/** A prompt with the memory of the user, and of the project. */
export async function injected(
  prompt: string,
  options: AdapterOptions & { include?: SectionParts | undefined },
): Promise<string> {
  const { memory, include, timeoutMs = AGENT_TIMEOUT_MS } = options;
  return memory.inject(prompt, await namedUser(options), {
    include,
    timeoutMs,
    project: await namedProject(options),
  });
}

/** Flushes the memory of the user, and of the project. */
export async function flushed(options: AdapterOptions) {
  const { memory, timeoutMs = AGENT_TIMEOUT_MS } = options;
  return memory.beforeCompaction(await namedUser(options), {
    timeoutMs,
    project: await namedProject(options),
  });
}

/** The schema of a tool's input. It can name the scope if there is a project. */
export function inputSchema({ input, takesScope }: MemoryTool, { project }: Pick<AdapterOptions, "project">) {
  return objectSchema(input, takesScope && project !== undefined ? SCOPE_INPUT : {});
}

/** Runs a tool. A failure becomes a result that the model can read. */
export async function runTool(
  tool: MemoryTool,
  options: AdapterOptions,
  input: Record<string, string>,
): Promise<{ readonly [name: string]: unknown }> {
  try {
    const memory = scopedMemory(options.memory, () => namedProject(options));
    return await tool.run(memory, await namedUser(options), input, callOptions(options));
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
