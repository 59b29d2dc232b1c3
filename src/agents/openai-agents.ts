/**
 * OpenAI Agents SDK: an input filter that adds a user's memory to the instructions of every model call, tools,
 * and a flush before a session is compacted.
 *
 *   const agent = new Agent({ name, instructions, tools: sidebandTools({ memory, userId }) });
 *   await run(agent, input, { callModelInputFilter: sidebandInputFilter({ memory, userId }) });
 *   new OpenAIResponsesCompactionSession({ shouldTriggerCompaction: flushBefore({ memory, userId }, decide) });
 */

import { type CallModelInputFilter, type FunctionTool, tool } from "@openai/agents";
import { objectSchema } from "../contract/memory-tools.ts";
import type { SectionParts } from "../sdk/index.ts";
import { type AdapterOptions, callOptions, MODEL_TOOLS, runTool, userOf } from "./adapter.ts";

export interface InputFilterOptions extends AdapterOptions {
  /** The facts in plain text, the sealed block, or both. Default: both. */
  include?: SectionParts;
}

export function sidebandInputFilter(options: InputFilterOptions): CallModelInputFilter {
  const { memory, include } = options;
  return async ({ modelData }) => {
    const before = modelData.instructions ?? "";
    const instructions = await memory.inject(before, await userOf(options), {
      include,
      ...callOptions(options),
    });
    return instructions === "" ? modelData : { ...modelData, instructions };
  };
}

/** remember, recall, forget and list, for an agent's `tools`. */
export function sidebandTools(options: AdapterOptions): FunctionTool[] {
  return MODEL_TOOLS.map((definition) =>
    tool({
      name: definition.name,
      description: definition.description,
      parameters: strictSchema(definition.input) as never,
      strict: true,
      execute: async (input: unknown) =>
        JSON.stringify(await runTool(definition, options, (input ?? {}) as Record<string, string>)),
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
    if (compacts) await options.memory.beforeCompaction(await userOf(options), callOptions(options));
    return compacts;
  };
}

/** Strict schemas may not limit the length of a text; the service checks it. */
function strictSchema(input: { readonly [name: string]: unknown }) {
  const properties = Object.entries(input).map(([name, schema]) => {
    const { minLength, maxLength, ...rest } = schema as Record<string, unknown>;
    return [name, rest];
  });
  return objectSchema(Object.fromEntries(properties));
}
