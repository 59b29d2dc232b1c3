/**
 * OpenAI Agents SDK: an input filter that adds a user's memory to the instructions of every model call, tools,
 * and a flush before a session is compacted.
 *
 *   const agent = new Agent({ name, instructions, tools: sidebandTools({ memory, userId }) });
 *   await run(agent, input, { callModelInputFilter: sidebandInputFilter({ memory, userId }) });
 *   new OpenAIResponsesCompactionSession({ shouldTriggerCompaction: flushBefore({ memory, userId }, decide) });
 */

import { type CallModelInputFilter, type FunctionTool, tool } from "@openai/agents";
import { type MemoryTool, objectSchema, SCOPE_INPUT } from "../agent-side/memory-tools.ts";
import { shownJson } from "../agent-side/shown-text.ts";
import type { SectionParts } from "../sdk/index.ts";
import { type AdapterOptions, flushed, injected, MODEL_TOOLS, runTool } from "./adapter.ts";

export interface InputFilterOptions extends AdapterOptions {
  /** The facts in plain text, the sealed block, or both. Default: both. */
  include?: SectionParts;
}

export function sidebandInputFilter(options: InputFilterOptions): CallModelInputFilter {
  return async ({ modelData }) => {
    const instructions = await injected(modelData.instructions ?? "", options);
    return instructions === "" ? modelData : { ...modelData, instructions };
  };
}

/** remember, recall, forget and list, for an agent's `tools`. */
export function sidebandTools(options: AdapterOptions): FunctionTool[] {
  return MODEL_TOOLS.map((definition) =>
    tool({
      name: definition.name,
      description: definition.description,
      parameters: strictSchema(definition, options) as never,
      strict: true,
      execute: async (input: unknown) =>
        shownJson(await runTool(definition, options, (input ?? {}) as Record<string, string>)),
    }),
  ) as unknown as FunctionTool[];
}

/** Wraps the decision to compact: if it is yes, memory is flushed first. */
export function flushBefore<C>(
  options: AdapterOptions,
  decide: (context: C) => boolean | Promise<boolean>,
): (context: C) => Promise<boolean> {
  return async (context) => {
    const compacts = await decide(context);
    if (compacts) await flushed(options);
    return compacts;
  };
}

/** Strict schemas may not limit the length of a text, which the service checks, and have null for what is left out. */
function strictSchema({ input, takesScope }: MemoryTool, { project }: AdapterOptions) {
  const { scope } = SCOPE_INPUT;
  const nullable = { ...scope, type: ["string", "null"], enum: [...scope.enum, null] };
  const properties = Object.entries(input).map(([name, schema]) => {
    const { minLength, maxLength, ...rest } = schema as Record<string, unknown>;
    return [name, rest];
  });
  return objectSchema({
    ...Object.fromEntries(properties),
    ...(takesScope && project !== undefined ? { scope: nullable } : {}),
  });
}
