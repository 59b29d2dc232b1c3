/**
 * The tools for an agent: their names, input and output as JSON Schema, hints about their effects, and the call that
 * each makes. The MCP server and every adapter use the same tools.
 */

import { VALUE_BYTES_MAX } from "../base/limits.ts";
import { withThousands } from "../base/thousands.ts";
import { LABELS } from "../contract/channel-labels.ts";
import type { AgentCallOptions, AgentMemory, AgentScope } from "./agent-memory.ts";
import { keptValue } from "./secrets.ts";

type JsonObject = { readonly [name: string]: unknown };

export interface MemoryTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of the input properties; all are required. */
  readonly input: JsonObject;
  /** Whether the tool can name the scope, where the memory knows a project (SCOPE_INPUT). */
  readonly takesScope?: true;
  /** JSON Schema of the output properties; all are required. */
  readonly output: JsonObject;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  run(
    memory: AgentMemory,
    userId: string,
    input: Record<string, string>,
    options?: AgentCallOptions,
  ): Promise<JsonObject>;
}

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
/** A fact that is overwritten by the user's own new one is not destroyed: hosts ask for leave before they destroy. */
const KEEPS = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const DELETES = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false };

/** An optional input of the tools that take a scope. */
export const SCOPE_INPUT = {
  scope: {
    type: "string",
    enum: ["person", "project"],
    description:
      "Leave it out, as a rule: USER and PREF belong to the person, TASK and PROJ to the project. " +
      "Name it to keep a preference for this project alone, or a task for every project.",
  },
};

const text = (description: string) => ({ type: "string", description });
const count = (description: string) => ({ type: "integer", minimum: 0, description });
const label = { type: "string", enum: LABELS, description: "Which fact: one of the 40 labels." };
const factCount = count("How many facts the user has.");
const block = text("512 words between [MEM] and [/MEM]; empty if there are no facts.");
const factList = {
  type: "array",
  items: {
    type: "object",
    properties: { label: text("One of the 40 labels."), value: text("The fact, exactly as it was written.") },
    required: ["label", "value"],
  },
};

/** The code of an error, whether it comes from the service itself or from the client. */
function errorCodeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

export const MEMORY_TOOLS: readonly MemoryTool[] = [
  {
    name: "remember",
    title: "Remember a fact",
    description:
      "Keeps one short fact about the user or the work, exactly as written, beyond this conversation. " +
      "A fact with the same label is overwritten. Use it when the user states or changes a lasting fact. " +
      "Secrets are refused, and <private> parts are left out.",
    input: {
      label,
      value: {
        type: "string",
        minLength: 1,
        maxLength: VALUE_BYTES_MAX,
        description: `The fact: 1 to ${withThousands(VALUE_BYTES_MAX)} bytes, one line.`,
      },
    },
    output: { label: text("The label."), value: text("What was kept."), channel_count: factCount },
    annotations: KEEPS,
    takesScope: true,
    async run(memory, userId, input, options) {
      const kept = keptValue(input.value, options?.allowSecrets);
      const { label, value, channel_count } = await memory.encode(
        userId,
        input.label,
        kept,
        scoped(options, input),
      );
      return { label, value, channel_count };
    },
  },
  {
    name: "recall",
    title: "Recall a fact",
    description: "Reads one fact by its label. The value is null if there is none.",
    input: { label },
    output: {
      label: text("The label."),
      value: { type: ["string", "null"], description: "The fact, or null." },
    },
    annotations: READS,
    takesScope: true,
    async run(memory, userId, input, options) {
      try {
        const { label, value } = await memory.decode(userId, input.label, scoped(options, input));
        return { label, value };
      } catch (error) {
        if (errorCodeOf(error) === "fact_not_found") return { label: input.label, value: null };
        throw error;
      }
    },
  },
  {
    name: "forget",
    title: "Forget a fact",
    description: "Deletes one fact permanently. `forgotten` is false if there was none.",
    input: { label },
    output: { label: text("The label."), forgotten: { type: "boolean" } },
    annotations: DELETES,
    takesScope: true,
    async run(memory, userId, input, options) {
      try {
        await memory.forget(userId, input.label, scoped(options, input));
        return { label: input.label, forgotten: true };
      } catch (error) {
        if (errorCodeOf(error) === "fact_not_found") return { label: input.label, forgotten: false };
        throw error;
      }
    },
  },
  {
    name: "list",
    title: "List all facts",
    description: "Lists every fact of the user.",
    input: {},
    output: { channel_count: factCount, facts: factList },
    annotations: READS,
    takesScope: true,
    async run(memory, userId, input, options) {
      const { channel_count, facts } = await memory.facts(userId, scoped(options, input));
      return { channel_count, facts: facts.map(({ label, value }) => ({ label, value })) };
    },
  },
  {
    name: "context",
    title: "Memory for a prompt",
    description: "All facts as plain text, and as many as fit as one sealed block, for a system prompt.",
    input: {},
    output: { channel_count: factCount, plain_index: text("label=value lines."), fdm_block: block },
    annotations: READS,
    async run(memory, userId, _input, options) {
      const { channel_count, plain_index, fdm_block } = await memory.context(userId, options);
      return { channel_count, plain_index, fdm_block };
    },
  },
  {
    name: "flush",
    title: "Flush before compaction",
    description:
      "Call it before the conversation is compacted or summarised. Builds a new block, reads it back, " +
      "compares every fact, and returns the block to keep.",
    input: {},
    output: {
      status: { type: "string", enum: ["ok", "empty"] },
      channel_count: factCount,
      lossless: { type: "boolean", description: "Whether every fact came back exactly." },
      overflow: {
        type: "array",
        items: { type: "string" },
        description: "Labels that did not fit in the block.",
      },
      fdm_block: block,
    },
    annotations: READS,
    async run(memory, userId, _input, options) {
      const { status, channel_count, lossless, overflow, fdm_block } = await memory.flush(userId, options);
      return { status, channel_count, lossless, overflow: [...overflow], fdm_block };
    },
  },
  {
    name: "read_block",
    title: "Read a block",
    description:
      "Reads the facts from a [MEM] block of this user, even if it is damaged or inside other text.",
    input: {
      block: { type: "string", minLength: 1, maxLength: 60_000, description: "The text with the block." },
    },
    output: {
      facts: factList,
      missing: count("Missing words."),
      wrong: count("Wrong words."),
      repaired: count("Corrected words."),
      guard_left: { type: "number", description: "How many more words could have been missing." },
    },
    annotations: READS,
    async run(memory, userId, input, options) {
      const { facts, missing, wrong, repaired, guard_left } = await memory.read(userId, input.block, options);
      return {
        facts: facts.map(({ label, value }) => ({ label, value })),
        missing,
        wrong,
        repaired,
        guard_left,
      };
    },
  },
];

function scoped(options: AgentCallOptions | undefined, { scope }: Record<string, string>): AgentCallOptions {
  return { ...options, scope: (scope as AgentScope | undefined) ?? undefined };
}

/** Properties as the schema of an object that has them all, perhaps the optional ones, and no others. */
export function objectSchema(properties: JsonObject, optional: JsonObject = {}) {
  return {
    type: "object" as const,
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** The error as one line that a model can act on. */
export function toolErrorText(error: unknown): string {
  const code = errorCodeOf(error);
  if (typeof code !== "string" || !(error instanceof Error)) return "internal_error: memory failed";
  return `${code}: ${error.message}`;
}
