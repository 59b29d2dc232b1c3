/**
 * OpenAI Agents SDK: an input filter that adds a user's memory to the instructions of every model call, tools,
 * and a flush before a session is compacted.
 *
 *   const agent = new Agent({ name, instructions, tools: await sidebandTools({ memory, userId }) });
 *   await run(agent, input, { callModelInputFilter: sidebandInputFilter({ memory, userId }) });
 *   new OpenAIResponsesCompactionSession({ shouldTriggerCompaction: flushBefore({ memory, userId }, decide) });
 */

import { type CallModelInputFilter, type FunctionTool, tool } from "@openai/agents";
import { escapeJson } from "../agent-side/escaped-text.ts";
import { type MemoryTool, objectSchema, type ToolInput } from "../agent-side/memory-tools.ts";
import {
  type AdapterOptions,
  checkAdapter,
  flushed,
  injected,
  inputSchema,
  modelTools,
  runTool,
} from "./adapter.ts";

export function sidebandInputFilter(options: AdapterOptions): CallModelInputFilter {
  checkAdapter(options);
  return async ({ modelData }) => {
    const instructions = await injected(modelData.instructions ?? "", options);
    return instructions === "" ? modelData : { ...modelData, instructions };
  };
}

/** remember, recall, find, forget and history, for an agent's `tools`; with `addLabels: true` add_label, too. They offer the account's labels. */
export async function sidebandTools(options: AdapterOptions): Promise<FunctionTool[]> {
  return (await modelTools(options)).map((definition) =>
    tool({
      name: definition.name,
      description: definition.description,
      parameters: strictSchema(definition, options) as never,
      strict: true,
      execute: async (input: unknown, _context?: unknown, details?: { signal?: AbortSignal }) => {
        const named = { writtenBy: "openai-agents", ...options };
        return escapeJson(await runTool(definition, named, (input ?? {}) as ToolInput, details?.signal));
      },
    }),
  ) as unknown as FunctionTool[];
}

/** Wraps the decision to compact: if it is yes, memory is flushed first, where the prompt has the block. */
export function flushBefore<C>(
  options: AdapterOptions,
  decide: (context: C) => boolean | Promise<boolean>,
): (context: C) => Promise<boolean> {
  checkAdapter(options);
  return async (context) => {
    const compacts = await decide(context);
    if (compacts) await flushed(options);
    return compacts;
  };
}

/** Strict schemas may not limit texts, which the service checks, and have null for what is left out. */
function strictSchema(tool: MemoryTool, options: AdapterOptions) {
  const { properties, required } = inputSchema(tool, options);
  const strict = Object.entries(properties).map(([name, schema]) => {
    const { maxLength, ...rest } = schema as Record<string, unknown>;
    return [name, required.includes(name) ? rest : nullable(rest)];
  });
  return objectSchema(Object.fromEntries(strict));
}

function nullable(schema: Record<string, unknown>) {
  const { type, enum: values } = schema;
  return {
    ...schema,
    type: [type, "null"],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}
