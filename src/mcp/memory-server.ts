/**
 * Memory as an MCP server: the seven tools, a resource that can be subscribed to, and a prompt.
 *
 * A server is bound to one user wherever that user is known, and then no tool takes a user_id: a model that
 * was talked into something cannot reach another user's facts. Only a server that is not bound asks for one.
 */

import {
  fromJsonSchema,
  type JsonSchemaType,
  McpServer,
  type ReadResourceResult,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import type { AgentMemory } from "../agent-side/agent-memory.ts";
import { memorySection } from "../agent-side/memory-section.ts";
import { MEMORY_TOOLS, objectSchema, SCOPE_INPUT, toolErrorText } from "../agent-side/memory-tools.ts";
import { WORTH_KEEPING } from "../agent-side/prompts.ts";
import { shownJson } from "../agent-side/shown-text.ts";
import { USER_ID_LENGTH_MAX } from "../base/limits.ts";
import { memoryUri, URI_PREFIX, userOfUri } from "./memory-uri.ts";

export interface Subscriptions {
  /** Resolves when no change can be missed any more. */
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): void;
}

export interface MemoryServerOptions {
  readonly memory: AgentMemory;
  /** Whose memory; without it every call says so itself. */
  readonly userId?: string | undefined;
  readonly version: string;
  /** Whether it may only be read: then the tools that write are not offered. */
  readonly readOnly?: boolean | undefined;
  /** Takes the subscriptions of a client of the 2025 revisions; later ones do not ask the server for them. */
  readonly subscriptions?: Subscriptions | undefined;
  /** Whether the memory knows a project, so that the tools can name the scope. */
  readonly scoped?: boolean;
  /** Keeps what looks like a secret too. */
  readonly allowSecrets?: boolean;
  /** Hears of each change made through this server. */
  readonly onChange?: (userId: string) => void;
}

const USER_ID = { type: "string", minLength: 1, maxLength: USER_ID_LENGTH_MAX, description: "Whose memory." };
const INSTRUCTIONS = `${WORTH_KEEPING} Call flush before the conversation is compacted or summarised.`;

/** The lists of tools, resources and prompts never change; without a word the library would say that they do. */
const CAPABILITIES = {
  tools: { listChanged: false },
  resources: { listChanged: false, subscribe: true },
  prompts: { listChanged: false },
};

export function memoryServer(options: MemoryServerOptions): McpServer {
  const server = new McpServer(
    { name: "sideband", title: "Sideband memory", version: options.version },
    { capabilities: CAPABILITIES, instructions: INSTRUCTIONS },
  );
  addTools(server, options);
  addResource(server, options);
  addPrompt(server, options);
  if (options.subscriptions !== undefined) addSubscriptions(server, options.subscriptions);
  return server;
}

/**
 * Compiled when they are needed, and once: the library keeps every schema that it has compiled, and a server is made for
 * each request.
 */
const TOOLS = MEMORY_TOOLS.map((tool) => ({
  tool,
  boundInput: once(() => schemaOf<Record<string, string>>(tool.input)),
  scopedInput: once(() => schemaOf<Record<string, string>>(tool.input, tool.takesScope ? SCOPE_INPUT : {})),
  openInput: once(() => schemaOf<Record<string, string>>({ user_id: USER_ID, ...tool.input })),
  output: once(() => schemaOf<Record<string, unknown>>(tool.output)),
}));
const promptInput = once(() => schemaOf<{ user_id: string }>({ user_id: USER_ID }));

function addTools(server: McpServer, options: MemoryServerOptions): void {
  const { memory, userId, readOnly = false, scoped = false, allowSecrets, onChange } = options;
  for (const { tool, boundInput, scopedInput, openInput, output } of TOOLS) {
    if (readOnly && !tool.annotations.readOnlyHint) continue;
    const userInput = scoped ? scopedInput : boundInput;
    server.registerTool(
      tool.name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: userId === undefined ? openInput() : userInput(),
        outputSchema: output(),
        annotations: tool.annotations,
      },
      async (args) => {
        const user = userId ?? args.user_id;
        try {
          const result = { ...(await tool.run(memory, user, args, { coolDown: true, allowSecrets })) };
          if (!tool.annotations.readOnlyHint) onChange?.(user);
          return { content: [{ type: "text", text: shownJson(result) }], structuredContent: result };
        } catch (error) {
          return { content: [{ type: "text", text: toolErrorText(error) }], isError: true };
        }
      },
    );
  }
}

function addResource(server: McpServer, { memory, userId }: MemoryServerOptions): void {
  const about = {
    title: "Memory",
    description: "The user's facts as a section for a prompt: plain text and the sealed block.",
    mimeType: "text/plain",
  };
  const read = async (uri: URL, user: string): Promise<ReadResourceResult> => {
    const text = memorySection(await memory.context(user));
    return { contents: [{ uri: uri.href, mimeType: "text/plain", text }] };
  };
  if (userId !== undefined) {
    server.registerResource("memory", memoryUri(userId), about, (uri) => read(uri, userId));
  } else {
    const template = new ResourceTemplate(`${URI_PREFIX}{user_id}`, { list: undefined });
    server.registerResource("memory", template, about, (uri) => read(uri, userOfUri(uri.href) ?? ""));
  }
}

/** An address without a memory can be subscribed to, and never changes. */
function addSubscriptions({ server }: McpServer, subscriptions: Subscriptions): void {
  server.setRequestHandler("resources/subscribe", async ({ params }) => {
    await subscriptions.subscribe(params.uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    subscriptions.unsubscribe(params.uri);
    return {};
  });
}

function addPrompt(server: McpServer, { memory, userId }: MemoryServerOptions): void {
  const about = {
    title: "Memory",
    description: "Puts what is remembered about the user into the conversation.",
  };
  const messages = async (user: string) => {
    const section = memorySection(await memory.context(user));
    const text = section === "" ? "Nothing is remembered about this user yet." : section;
    return { messages: [{ role: "user" as const, content: { type: "text" as const, text } }] };
  };
  if (userId !== undefined) {
    server.registerPrompt("context", about, () => messages(userId));
  } else {
    server.registerPrompt("context", { ...about, argsSchema: promptInput() }, ({ user_id }) =>
      messages(user_id),
    );
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The tools' schemas are plain JSON Schema; the library's type for that is narrower than the standard. */
function schemaOf<T>(properties: { readonly [name: string]: unknown }, optional = {}) {
  return fromJsonSchema<T>(objectSchema(properties, optional) as JsonSchemaType);
}
