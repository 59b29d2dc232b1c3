/**
 * Vercel AI SDK: a middleware that puts a user's memory into the system prompt of every call, and tools.
 *
 *   const model = wrapLanguageModel({ model: openai("…"), middleware: sidebandMiddleware({ memory, userId }) });
 *   await generateText({ model, tools: await sidebandTools({ memory, userId }), prompt });
 *
 * Nothing of the SDK is imported. The middleware and the tools have the shapes that versions 6 (`v3`) and 7 (`v4`) take, so
 * that they fit the version that a program has, wherever this package lies; the input of a tool is a Standard Schema.
 */

import type { ToolInput } from "../agent-side/memory-tools.ts";
import {
  type AdapterOptions,
  checkAdapter,
  injected,
  inputSchema,
  modelTools,
  runTool,
  type ToolResult,
} from "./adapter.ts";

export interface MiddlewareOptions<V extends string> extends AdapterOptions {
  /** `v4` for AI SDK 7 (the default), `v3` for AI SDK 6. */
  specificationVersion?: V;
}

interface Message {
  role: string;
  content: unknown;
}

interface CallParameters {
  prompt: Message[];
  abortSignal?: AbortSignal | undefined;
}

export function sidebandMiddleware<V extends "v3" | "v4" = "v4">(options: MiddlewareOptions<V>) {
  checkAdapter(options);
  const { specificationVersion = "v4" as V } = options;
  return {
    specificationVersion,
    async transformParams<P extends CallParameters>({ params }: { params: P }): Promise<P> {
      const prompt = [...params.prompt];
      const at = prompt.findIndex(({ role }) => role === "system");
      const before = at < 0 ? "" : String(prompt[at].content);
      const content = await injected(before, options, params.abortSignal);
      if (content === before) return params;
      if (at < 0) prompt.unshift({ role: "system", content });
      else prompt[at] = { ...prompt[at], content };
      return { ...params, prompt };
    },
  };
}

/** JSON Schema as a Standard Schema (standardschema.dev). The service judges the values. */
interface ToolSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "sideband";
    readonly types?: { readonly input: ToolInput; readonly output: ToolInput };
    validate(value: unknown): { value: ToolInput } | { issues: { message: string }[] };
    readonly jsonSchema: {
      input(): Record<string, unknown>;
      output(): Record<string, unknown>;
    };
  };
}

/** A tool for `tools`. */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: ToolSchema;
  execute(input: ToolInput, call?: { abortSignal?: AbortSignal | undefined }): Promise<ToolResult>;
}

/** The names are known to the compiler, so that a program's own tools keep their types beside these. */
export type AiSdkTools = Record<"remember" | "recall" | "find" | "forget" | "history", AiSdkTool>;

/** remember, recall, find, forget and history, for `tools`; with `addLabels: true` add_label, too. They offer the account's labels. */
export function sidebandTools(
  options: AdapterOptions & { addLabels: true },
): Promise<AiSdkTools & Record<"add_label", AiSdkTool>>;
export function sidebandTools(options: AdapterOptions): Promise<AiSdkTools>;
export async function sidebandTools(options: AdapterOptions): Promise<AiSdkTools> {
  return Object.fromEntries(
    (await modelTools(options)).map((definition) => [
      definition.name,
      {
        description: definition.description,
        inputSchema: standardSchema({ ...inputSchema(definition, options) }),
        execute: (input, call) =>
          runTool(definition, { writtenBy: "ai-sdk", ...options }, input, call?.abortSignal),
      } satisfies AiSdkTool,
    ]),
  ) as AiSdkTools;
}

function standardSchema(schema: Record<string, unknown>): ToolSchema {
  const json = () => schema;
  return {
    "~standard": {
      version: 1,
      vendor: "sideband",
      validate: (value) =>
        typeof value === "object" && value !== null
          ? { value: value as ToolInput }
          : { issues: [{ message: "The input is an object." }] },
      jsonSchema: { input: json, output: json },
    },
  };
}
