/**
 * Vercel AI SDK: a middleware that puts a user's memory into the system prompt of every call, and tools.
 *
 *   const model = wrapLanguageModel({ model: openai("…"), middleware: sidebandMiddleware({ memory, userId }) });
 *   await generateText({ model, tools: sidebandTools({ memory, userId }), prompt });
 *
 * The middleware is typed by its shape, so that it fits version 6 (`v3`) and version 7 (`v4`) of the SDK.
 */

import { jsonSchema, type Tool, tool } from "ai";
import type { ToolInput } from "../agent-side/memory-tools.ts";
import { type AdapterOptions, injected, inputSchema, modelTools, runTool } from "./adapter.ts";

export interface MiddlewareOptions<V extends string> extends AdapterOptions {
  /** `v4` for AI SDK 7 (the default), `v3` for AI SDK 6. */
  specificationVersion?: V;
}

interface Message {
  role: string;
  content: unknown;
}

export function sidebandMiddleware<V extends "v3" | "v4" = "v4">(options: MiddlewareOptions<V>) {
  const { specificationVersion = "v4" as V } = options;
  return {
    specificationVersion,
    async transformParams<P extends { prompt: Message[] }>({ params }: { params: P }): Promise<P> {
      const prompt = [...params.prompt];
      const at = prompt.findIndex(({ role }) => role === "system");
      const before = at < 0 ? "" : String(prompt[at].content);
      const content = await injected(before, options);
      if (content === before) return params;
      if (at < 0) prompt.unshift({ role: "system", content });
      else prompt[at] = { ...prompt[at], content };
      return { ...params, prompt };
    },
  };
}

/** remember, recall, forget, add_label and history, for `tools`. */
export function sidebandTools(options: AdapterOptions): Record<string, Tool> {
  return Object.fromEntries(
    modelTools(options).map((definition) => [
      definition.name,
      tool({
        description: definition.description,
        inputSchema: jsonSchema<ToolInput>(
          inputSchema(definition, options) as Parameters<typeof jsonSchema>[0],
        ),
        execute: (input: ToolInput) => runTool(definition, { writtenBy: "ai-sdk", ...options }, input),
      }) as Tool,
    ]),
  );
}
