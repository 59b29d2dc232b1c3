/**
 * What the adapters share: which user they act for, and how they fail. An agent does not stop because its memory is slow or
 * away: reads find nothing, a line on standard error says so, and the agent goes on after 2 seconds at most (`timeoutMs`),
 * and at once while the service is known to be away. `onOutage: "throw"` lets reads throw. A write that did not happen is
 * always told: by an error, or to the model by its tool. So are the agent's own errors (an unknown label, a value too long).
 */

import type { SectionParts } from "../agent-side/memory-section.ts";
import {
  type MemoryTool,
  type RunOptions,
  runMemoryTool,
  type ToolInput,
  toolSchema,
  toolsFor,
} from "../agent-side/memory-tools.ts";
import { STANDARD_TOOL_LABELS, type ToolLabels, writtenLabels } from "../agent-side/tool-labels.ts";
import { toolErrorText } from "../agent-side/tool-texts.ts";
import { type LabelPatterns, labelPatterns } from "../base/label-patterns.ts";
import { type Compaction, isOutage, type OnOutage, type Sideband } from "../sdk/index.ts";
import { checkOptions, type Kinds } from "../sdk/option-kinds.ts";

const AGENT_TIMEOUT_MS = 2_000;

export interface AdapterOptions {
  memory: Sideband;
  /** Whose memory; a function if one agent serves many users. */
  userId: string | (() => string | Promise<string>);
  /** Where the user works: a project, or a project and a worktree with a slash between. Default: none. */
  project?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** What goes into the prompt: the facts in plain text, the sealed block, or both. Default: the client's. */
  include?: SectionParts | undefined;
  /** The groups of labels whose facts go into the prompt: `USER,PREF`, or all but some: `-HEALTH`. Default: all of the key. */
  groups?: string | undefined;
  /**
   * The labels that the tools offer and write, exact ones (`PREF.tone`) and groups (`LANG.*`); others are refused. Default: all
   * of the account that the key may write.
   */
  labels?: readonly string[] | undefined;
  /**
   * Offers the tool add_label, which adds a label for all users of the account. Of use only with the account's own key.
   * Default: false, because one user's session would change what all others see.
   */
  addLabels?: boolean | undefined;
  /** Who writes, as the history of a fact says it. Default: the name of the framework. */
  writtenBy?: string | undefined;
  /** How long the agent waits for its memory. Default: 2 seconds. */
  timeoutMs?: number | undefined;
  /** What a read does while memory is away: the agent goes on, or gets the error. A write always throws. Default: `continue`. */
  onOutage?: OnOutage | undefined;
  /** Keeps what looks like a key, a token or a password too. Default: refuses it. */
  allowSecrets?: boolean | undefined;
}

const KINDS: Kinds<AdapterOptions & { specificationVersion?: string }> = {
  memory: "a client",
  userId: "a text or a function",
  project: "a text or a function",
  include: "a text",
  groups: "a text",
  labels: "a list of texts",
  addLabels: "true or false",
  writtenBy: "a text",
  timeoutMs: "a number",
  onOutage: "a text",
  allowSecrets: "true or false",
  specificationVersion: "a text",
};

/** Throws where an option is unknown, or of another kind: one set of options serves the prompt and the tools. */
export function checkAdapter(options: AdapterOptions): void {
  checkOptions(options, KINDS);
  for (const name of ["memory", "userId"] as const)
    if (options[name] === undefined) throw new TypeError(`${name} is ${KINDS[name]}, not undefined`);
  patternsOf(options);
}

/** What a tool tells the model. */
export type ToolResult = { readonly [name: string]: unknown };

/** The tools for a model, with the 40 labels. The adapter itself handles the block and the prompt. */
export const MODEL_TOOLS: readonly MemoryTool[] = toolsFor({ hasBlock: false, addsLabels: false });

/**
 * The same with the account's labels as they are now, or with the 40 while the memory is away: those that the key may write
 * and the options leave, and none that is hidden. With add_label where the options say so.
 */
export async function modelTools(options: AdapterOptions): Promise<readonly MemoryTool[]> {
  checkAdapter(options);
  const { memory, addLabels = false, onOutage = "continue" } = options;
  const { timeoutMs, failFast } = callOptions(options);
  const read = (): Promise<ToolLabels> => memory.channels({ timeoutMs, failFast });
  const known = await withFallback("labels were not read", onOutage, read, {
    channels: STANDARD_TOOL_LABELS,
  });
  const { channels: labels, strict } = known;
  const writes = writtenLabels(known, patternsOf(options));
  return toolsFor({ hasBlock: false, addsLabels: addLabels, labels, writes, strict });
}

export function patternsOf({ labels }: Pick<AdapterOptions, "labels">): LabelPatterns | undefined {
  try {
    return labels && labelPatterns(labels, "labels");
  } catch (error) {
    throw new TypeError((error as Error).message);
  }
}

async function namedUser({ userId }: AdapterOptions): Promise<string> {
  const named = typeof userId === "function" ? await userId() : userId;
  if (typeof named === "string") return named;
  throw new TypeError(`userId is a text or a function that returns one, not ${String(named)}`);
}

async function namedProject({ project }: AdapterOptions): Promise<string | undefined> {
  return typeof project === "function" ? project() : project;
}

export function callOptions({
  timeoutMs = AGENT_TIMEOUT_MS,
  allowSecrets,
  writtenBy,
  onOutage,
}: Pick<AdapterOptions, "timeoutMs" | "allowSecrets" | "writtenBy" | "onOutage">): RunOptions {
  // With onOutage "throw" the caller wants the error of this read, so each read is tried.
  return { timeoutMs, failFast: onOutage !== "throw", allowSecrets, writtenBy };
}

/** A prompt with the memory of the user where they work. */
export async function injected(
  prompt: string,
  options: AdapterOptions,
  signal?: AbortSignal,
): Promise<string> {
  const { memory, include, groups, timeoutMs = AGENT_TIMEOUT_MS, onOutage } = options;
  const [userId, project] = await Promise.all([namedUser(options), namedProject(options)]);
  return memory.inject(prompt, userId, { include, groups, timeoutMs, project, signal, onOutage });
}

/** Flushes the memory where the prompt has the block. The facts in plain text need none: they are put in again. */
export async function flushed(options: AdapterOptions): Promise<Compaction | undefined> {
  const { memory, include = memory.include, groups, timeoutMs = AGENT_TIMEOUT_MS } = options;
  if (include === "index") return undefined;
  const [userId, project] = await Promise.all([namedUser(options), namedProject(options)]);
  return memory.beforeCompaction(userId, { include, groups, timeoutMs, project });
}

/** The schema of a tool's input. It can name the scope if there is a project. */
export function inputSchema(tool: MemoryTool, { project }: Pick<AdapterOptions, "project">) {
  return toolSchema(tool, project !== undefined);
}

/**
 * Runs a tool. A failure becomes a result that the model can read. What is not the model's is thrown: an abort, and what
 * `userId` or `project` throw.
 */
export async function runTool(
  tool: MemoryTool,
  options: AdapterOptions,
  input: ToolInput,
  signal?: AbortSignal,
): Promise<ToolResult> {
  if (typeof tool?.run !== "function")
    throw new TypeError("tool is one of what modelTools gives, not its name");
  const labels = patternsOf(options);
  const [userId, project] = await Promise.all([namedUser(options), namedProject(options)]);
  try {
    const call = { ...callOptions(options), labels, project, signal };
    return await runMemoryTool(tool, options.memory, userId, input, call);
  } catch (error) {
    if (signal?.aborted) throw error;
    if (isOutage(error)) warn(`${tool.name} failed`, error);
    return { error: toolErrorText(error, options.addLabels === true) };
  }
}

/** What was read; the fallback if memory is away and the agent goes on. */
export async function withFallback<T>(
  what: string,
  onOutage: OnOutage,
  read: () => Promise<T>,
  fallback: T,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (onOutage === "throw" || !isOutage(error)) throw error;
    warn(what, error);
    return fallback;
  }
}

function warn(what: string, error: unknown): void {
  console.error(`sideband: ${what}: ${error instanceof Error ? error.message : String(error)}`);
}
