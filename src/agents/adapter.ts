/**
 * What the adapters share: which user they act for, and how they fail. An agent never stops because its memory is
 * slow or away: reads find nothing, writes are not kept, a line on standard error says so, and the agent goes on
 * after 2 seconds at most (`timeoutMs`), and at once for half a minute after that. The agent does get its own errors (an unknown label, a value too long).
 */

import type { SectionParts } from "../agent-side/memory-section.ts";
import {
  type MemoryTool,
  type ToolCallOptions,
  type ToolInput,
  toolErrorText,
  toolSchema,
  toolsFor,
} from "../agent-side/memory-tools.ts";
import type { ToolLabel } from "../agent-side/tool-labels.ts";
import { type Compaction, isOutage, type Sideband } from "../sdk/index.ts";

const AGENT_TIMEOUT_MS = 2_000;

export interface AdapterOptions {
  memory: Sideband;
  /** Whose memory; a function if one agent serves many users. */
  userId: string | (() => string | Promise<string>);
  /** Where the user works: a project, or a project and a worktree with a slash between. Default: none. */
  project?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** What goes into the prompt: the facts in plain text, the sealed block, or both. Default: index. */
  include?: SectionParts | undefined;
  /** The labels that the tools offer: `(await memory.channels()).channels`. Default: the 40 that every account has. */
  labels?: readonly ToolLabel[] | undefined;
  /** Who writes, as the history of a fact says it. Default: the name of the framework. */
  writtenBy?: string | undefined;
  /** How long the agent waits for its memory. Default: 2 seconds. */
  timeoutMs?: number | undefined;
  /** Keeps what looks like a key, a token or a password too. Default: refuses it. */
  allowSecrets?: boolean;
}

/** The tools for a model. The adapter itself handles the block and the prompt. */
export const MODEL_TOOLS: readonly MemoryTool[] = toolsFor(false);

/** The same with the labels that the options name. */
export function modelTools({ labels }: Pick<AdapterOptions, "labels">): readonly MemoryTool[] {
  return toolsFor(false, labels);
}

async function namedUser({ userId }: AdapterOptions): Promise<string> {
  return typeof userId === "string" ? userId : userId();
}

async function namedProject({ project }: AdapterOptions): Promise<string | undefined> {
  return typeof project === "function" ? project() : project;
}

export function callOptions({
  timeoutMs = AGENT_TIMEOUT_MS,
  allowSecrets,
  writtenBy,
}: Pick<AdapterOptions, "timeoutMs" | "allowSecrets" | "writtenBy">): ToolCallOptions & {
  timeoutMs: number;
} {
  return { timeoutMs, coolDown: true, allowSecrets, writtenBy };
}

/** A prompt with the memory of the user where they work. */
export async function injected(prompt: string, options: AdapterOptions): Promise<string> {
  const { memory, include = "index", timeoutMs = AGENT_TIMEOUT_MS } = options;
  return memory.inject(prompt, await namedUser(options), {
    include,
    timeoutMs,
    project: await namedProject(options),
  });
}

/** Flushes the memory where the prompt has the block. The facts in plain text need none: they are put in again. */
export async function flushed(options: AdapterOptions): Promise<Compaction | undefined> {
  const { memory, include = "index", timeoutMs = AGENT_TIMEOUT_MS } = options;
  if (include === "index") return undefined;
  return memory.beforeCompaction(await namedUser(options), {
    include,
    timeoutMs,
    project: await namedProject(options),
  });
}

/** The schema of a tool's input. It can name the scope if there is a project. */
export function inputSchema(tool: MemoryTool, { project }: Pick<AdapterOptions, "project">) {
  return toolSchema(tool, project !== undefined);
}

/** Runs a tool. A failure becomes a result that the model can read. */
export async function runTool(
  tool: MemoryTool,
  options: AdapterOptions,
  input: ToolInput,
): Promise<{ readonly [name: string]: unknown }> {
  try {
    const call = { ...callOptions(options), project: await namedProject(options) };
    return await tool.run(options.memory, await namedUser(options), input, call);
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
