/**
 * Memory as an MCP server: the tools, a resource that can be subscribed to, and a prompt. The list of tools names the
 * labels of the account, and of the user if it is bound to one. What is about the sealed block is there only where the agent's prompt has it.
 *
 * A server is bound to one user wherever that user is known, and then no tool takes a user_id: a model that
 * was talked into something cannot reach another user's facts. Only a server that is not bound asks for one.
 *
 * A server knows only what it offers. Whose memory a call is about, and all else that differs between the connections
 * that it serves one after the other, it asks at each call.
 */

import {
  CLIENT_INFO_META_KEY,
  fromJsonSchema,
  type JsonSchemaType,
  McpServer,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import type { AgentMemory } from "../agent-side/agent-memory.ts";
import {
  CONTEXT_TOKENS,
  contextFor,
  memorySection,
  type SectionParts,
} from "../agent-side/memory-section.ts";
import {
  ADD_LABEL,
  HISTORY,
  HISTORY_LISTS,
  MEMORY_TOOLS,
  type MemoryTool,
  objectSchema,
  READS,
  runMemoryTool,
  shortSchema,
  type ToolCallOptions,
  type ToolInput,
  toolSchema,
  toolsFor,
} from "../agent-side/memory-tools.ts";
import { REMEMBER_PROMPT, TURN_OFF_PROMPT } from "../agent-side/prompts.ts";
import { STANDARD_TOOL_LABELS, type ToolLabels, writtenLabels } from "../agent-side/tool-labels.ts";
import { toolErrorText, toolResultText } from "../agent-side/tool-texts.ts";
import { mcpWriter } from "../agent-side/written-by.ts";
import { assert } from "../base/assert.ts";
import { Failure } from "../base/errors.ts";
import type { LabelPatterns } from "../base/label-patterns.ts";
import { shownName, unknownFault } from "../contract/unknown-fields.ts";
import { isIdentifier } from "../memory/identifiers.ts";

export interface Subscriptions {
  /** Resolves when no change can be missed any more. */
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): void;
}

/** What a server offers. */
export interface ServerShape {
  readonly version: string;
  /** Whether it is bound to one user: otherwise every call names one. */
  readonly isBound: boolean;
  /** Whether calls may have a project: otherwise no tool takes a scope. */
  readonly isPlaced: boolean;
  /** Whether it may only be read: then the tools that write are not offered. */
  readonly readOnly?: boolean | undefined;
  /** Whether add_label is offered, which reaches all users of the account. */
  readonly addsLabels: boolean;
  /** What the agent's prompt gets: the facts in plain text, the sealed block, or both. */
  readonly include: SectionParts;
  /** How many tokens a section has at most; 0: all facts. */
  readonly contextTokens?: number | undefined;
  /** Whether it takes the subscriptions of a client of the 2025 revisions; later ones do not ask the server for them. */
  readonly takesSubscriptions: boolean;
  /** Whether clients are told of new labels. */
  readonly tellsOfLabels: boolean;
  /** Whether it serves one session, whose person may turn memory off with a prompt. */
  readonly turnsOff?: boolean | undefined;
}

/** What a call is about, and who makes it. */
export interface ServerCall {
  readonly memory: AgentMemory;
  /** Whose memory, where the server is bound. */
  readonly userId: string | undefined;
  readonly subscriptions?: Subscriptions | undefined;
  readonly projectOf?: (() => Promise<string | undefined>) | undefined;
  /** The groups whose facts a prompt gets in a project; all where undefined. */
  readonly groupsIn?: ((project: string | undefined) => Promise<string | undefined>) | undefined;
  /** The name of the client; asked at each call, since it names itself only after it has connected. */
  readonly clientName: () => string | undefined;
  /** Keeps what looks like a secret too. */
  readonly allowSecrets?: boolean;
  /** The labels that may be written; undefined: all that the key may write. */
  readonly labels?: LabelPatterns | undefined;
  /** The command with which the person undoes a write, where they have one. */
  readonly undoIn?: ToolCallOptions["undoIn"];
  /** An error in the words of whoever has started the server; without it, in those of the service. */
  readonly explained?: ((error: unknown) => unknown) | undefined;
  /** Hears of each change made through this server. */
  readonly onChange?: (userId: string) => void;
  /** Hears of each label added through this server, and tells the clients. */
  readonly onLabels?: (() => void) | undefined;
  /** Whether memory is off: then no tool is listed, and projectOf throws. */
  readonly isOff?: (() => Promise<boolean>) | undefined;
  /** Turns memory off for the rest of the session. */
  readonly turnOff?: (() => void) | undefined;
}

type ServerCallOf = (context: ServerContext) => ServerCall;

/** Without limits, which the memory checks: the list of tools is to be short. */
const USER_ID = { type: "string" };
const FLUSH = " Call flush before the conversation is compacted or summarised.";

export function memoryServer(shape: ServerShape, callOf: ServerCallOf): McpServer {
  const { version, include, takesSubscriptions, tellsOfLabels } = shape;
  // Without a word the library would say that all lists change.
  const capabilities = {
    tools: { listChanged: tellsOfLabels },
    resources: { listChanged: false, subscribe: true },
    prompts: { listChanged: false },
  };
  const server = new McpServer(
    { name: "sideband", title: "Sideband memory", version },
    { capabilities, instructions: include === "index" ? REMEMBER_PROMPT : REMEMBER_PROMPT + FLUSH },
  );
  const listed = { addsLabels: shape.addsLabels };
  addTools(server, shape, callOf, listed);
  listTools(server, shape, callOf, listed);
  addResource(server, shape, callOf);
  addPrompt(server, shape, callOf);
  if (shape.turnsOff) addOffPrompt(server, callOf);
  if (takesSubscriptions) addSubscriptions(server, callOf);
  return server;
}

const compiled = new Map<string, unknown>();

/** Compiled when it is needed, and once: the library keeps every schema that it has compiled. */
function compiledSchema<T>(name: string, schemaOf: () => object) {
  const schema = compiled.get(name) ?? namingUnknown(fromJsonSchema<T>(schemaOf() as JsonSchemaType));
  compiled.set(name, schema);
  return schema as ReturnType<typeof fromJsonSchema<T>>;
}

/** The library refuses an argument that is not in the schema, and does not say which one. */
function namingUnknown<T>(schema: ReturnType<typeof fromJsonSchema<T>>) {
  const { validate, ...rest } = schema["~standard"];
  const { properties = {} } = rest.jsonSchema.input({ target: "draft-2020-12" }) as { properties?: object };
  const known = Object.keys(properties);
  const named: typeof validate = (value, ...more) => {
    const given = { ...(value as Record<string, unknown>) };
    for (const name of Object.keys(given)) {
      const fault = known.includes(name)
        ? undefined
        : unknownFault(name, known, given, { policy: "refused" });
      if (fault !== undefined) return { issues: [{ message: `${shownName(name)} ${fault.fault}` }] };
    }
    return validate(value, ...more);
  };
  return { ...schema, "~standard": { ...rest, validate: named } };
}

/** The schema as clients see it. */
function listedSchema(tool: MemoryTool, isBound: boolean, isPlaced: boolean) {
  return toolSchema(isBound ? tool : { ...tool, input: { user_id: USER_ID, ...tool.input } }, isPlaced);
}

/** Who may only read is offered no tool that writes. */
function offeredTools(
  { readOnly = false, include, addsLabels }: ServerShape,
  labels: Omit<Parameters<typeof toolsFor>[0], "hasBlock" | "addsLabels"> = {},
): readonly MemoryTool[] {
  const tools = toolsFor({ hasBlock: include !== "index", addsLabels, ...labels });
  return readOnly ? tools.flatMap((tool) => readingTool(tool) ?? []) : tools;
}

/** A tool as it is offered to those who may only read; undefined where it only writes. */
function readingTool(tool: MemoryTool): MemoryTool | undefined {
  if (tool.annotations.readOnlyHint) return tool;
  if (tool.name !== HISTORY) return undefined;
  return {
    ...tool,
    description: `${HISTORY_LISTS}.`,
    optional: {},
    annotations: READS,
    async run(memory, userId, input, options) {
      if (typeof input.restore === "number" || typeof input.rename_to === "string")
        throw new Failure("read_only_key", "This key only reads: it restores and renames nothing.");
      return tool.run(memory, userId, input, options);
    },
  };
}

/** What the last list of tools had. */
interface ListedTools {
  addsLabels: boolean;
}

function addTools(server: McpServer, shape: ServerShape, callOf: ServerCallOf, listed: ListedTools): void {
  for (const tool of offeredTools(shape)) {
    const { isBound, isPlaced } = shape;
    const inputSchema = compiledSchema<ToolInput>(`${tool.name} ${isBound} ${isPlaced}`, () =>
      listedSchema(MEMORY_TOOLS.find(({ name }) => name === tool.name)!, isBound, isPlaced),
    );
    server.registerTool(tool.name, { inputSchema }, async (args, context) => {
      const call = callOf(context);
      const { memory, onChange, onLabels, explained = (error) => error } = call;
      const user = boundUser(shape, call) ?? String(args.user_id);
      try {
        // A client of 2026-07-28 names itself in each request.
        const client = (context.mcpReq.envelope as Record<string, { name?: string }> | undefined)?.[
          CLIENT_INFO_META_KEY
        ];
        const options = await toolOptions(call, client?.name);
        const result = { ...(await runMemoryTool(tool, memory, user, args, options)) };
        if (!tool.annotations.readOnlyHint) onChange?.(user);
        if (tool.name === ADD_LABEL) onLabels?.();
        return { content: [{ type: "text", text: toolResultText(result) }], structuredContent: result };
      } catch (error) {
        return {
          content: [{ type: "text", text: toolErrorText(explained(error), listed.addsLabels) }],
          isError: true,
        };
      }
    });
  }
}

/** The user of a server that is bound: undefined without one. */
function boundUser({ isBound }: ServerShape, { userId }: ServerCall): string | undefined {
  assert(isBound === (userId !== undefined), "a call is for the user that its server is bound to");
  return userId;
}

async function toolOptions(
  { projectOf, clientName, allowSecrets, undoIn, labels }: ServerCall,
  named: string | undefined,
) {
  const writtenBy = mcpWriter(named ?? clientName());
  return { failFast: true, allowSecrets, undoIn, labels, project: await projectOf?.(), writtenBy };
}

/**
 * The list with the labels as they are now; as they were last, where the memory is away. A key that may add no label is
 * told so with the labels, and is not offered to add one.
 */
function listTools(
  { server }: McpServer,
  shape: ServerShape,
  callOf: ServerCallOf,
  listed: ListedTools,
): void {
  let known: ToolLabels = { channels: STANDARD_TOOL_LABELS };
  server.setRequestHandler("tools/list", async (_, context) => {
    const call = callOf(context);
    if (await call.isOff?.()) return { tools: [] };
    known = await call.memory.channels({ failFast: true }).catch(() => known);
    listed.addsLabels = shape.addsLabels && known.free !== 0;
    const personal = await personalLabels(shape, call).catch(() => []);
    const { channels: labels, strict } = known;
    const writes = writtenLabels(known, call.labels);
    const tools = offeredTools({ ...shape, ...listed }, { labels, personal, writes, strict }).map((tool) => ({
      name: tool.name,
      ...(tool.title && { title: tool.title }),
      description: tool.description,
      // Plain JSON Schema; the library's type for that is narrower than the standard.
      inputSchema: shortSchema(listedSchema(tool, shape.isBound, shape.isPlaced)) as Tool["inputSchema"],
      annotations: tool.annotations,
    }));
    return { tools };
  });
}

/** The labels that have facts of the user, for who may write them. */
async function personalLabels(shape: ServerShape, call: ServerCall): Promise<readonly string[]> {
  const userId = boundUser(shape, call);
  if (userId === undefined || shape.readOnly) return [];
  const project = await call.projectOf?.();
  const options = {
    include: "index",
    failFast: true,
    project,
    groups: await call.groupsIn?.(project),
  } as const;
  return (await call.memory.context(userId, options)).channel_labels;
}

function addResource(server: McpServer, shape: ServerShape, callOf: ServerCallOf): void {
  const name = "memory";
  const about = {
    title: "Memory",
    description: "The user's facts as a section for a prompt.",
    mimeType: "text/plain",
  };
  const list = (context: ServerContext) => {
    const uri = memoryUri(boundUser(shape, callOf(context))!);
    return { resources: [{ uri, name, ...about }] };
  };
  const template = new ResourceTemplate(`${URI_PREFIX}{user_id}`, { list: shape.isBound ? list : undefined });
  server.registerResource(name, template, about, async (uri, _, context): Promise<ReadResourceResult> => {
    const call = callOf(context);
    const named = userOfUri(uri.href) ?? "";
    const user = boundUser(shape, call) ?? named;
    if (user !== named) throw new ResourceNotFoundError(uri.href);
    const text = await sectionOf(shape, call, user);
    return { contents: [{ uri: uri.href, mimeType: "text/plain", text }] };
  });
  // Who is bound to a user has that user's memory, and no address to fill in.
  if (shape.isBound)
    server.server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
}

async function sectionOf(shape: ServerShape, call: ServerCall, user: string): Promise<string> {
  const { include, contextTokens = CONTEXT_TOKENS } = shape;
  const { memory, projectOf, groupsIn, explained } = call;
  const project = await projectOf?.();
  const asked = { ...contextFor(include, contextTokens), project, groups: await groupsIn?.(project) };
  const context = memory.context(user, asked);
  return memorySection(
    await (explained === undefined ? context : context.catch((error) => Promise.reject(explained(error)))),
    include,
  );
}

/** An address without a memory can be subscribed to, and never changes. */
function addSubscriptions({ server }: McpServer, callOf: ServerCallOf): void {
  server.setRequestHandler("resources/subscribe", async ({ params }, context) => {
    await callOf(context).subscriptions!.subscribe(params.uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params }, context) => {
    callOf(context).subscriptions!.unsubscribe(params.uri);
    return {};
  });
}

function addPrompt(server: McpServer, shape: ServerShape, callOf: ServerCallOf): void {
  const about = {
    title: "Memory",
    description: "Puts what is remembered about the user into the conversation.",
  };
  const messages = async (context: ServerContext, named = "") => {
    const call = callOf(context);
    const section = await sectionOf(shape, call, boundUser(shape, call) ?? named);
    const text = section === "" ? "Nothing is remembered about this user yet." : section;
    return { messages: [{ role: "user" as const, content: { type: "text" as const, text } }] };
  };
  if (shape.isBound) server.registerPrompt("context", about, (context) => messages(context));
  else {
    const argsSchema = compiledSchema<{ user_id: string }>("context", () =>
      objectSchema({ user_id: USER_ID }),
    );
    server.registerPrompt("context", { ...about, argsSchema }, ({ user_id }, context) =>
      messages(context, user_id),
    );
  }
}

/** Hosts show a prompt as a command that the person types. */
function addOffPrompt(server: McpServer, callOf: ServerCallOf): void {
  const about = { title: "Memory off", description: "Turns memory off for the rest of this session." };
  server.registerPrompt("off", about, (context) => {
    callOf(context).turnOff!();
    return {
      messages: [{ role: "user" as const, content: { type: "text" as const, text: TURN_OFF_PROMPT } }],
    };
  });
}

/**
 * The address of a user's memory as an MCP resource: sideband://memory/USER, the user percent-encoded. A client may
 * write it in other ways (a letter percent-encoded, an @ as it is), so a memory is known by its user.
 */
const URI_PREFIX = "sideband://memory/";

export function memoryUri(userId: string): string {
  return URI_PREFIX + encodeURIComponent(userId);
}

/** The user that a resource is about, or undefined where it is no memory. */
export function userOfUri(uri: string): string | undefined {
  if (!uri.startsWith(URI_PREFIX)) return undefined;
  try {
    return decodeURIComponent(uri.slice(URI_PREFIX.length));
  } catch {
    return undefined;
  }
}

/** The user whose memory at `uri` a server, bound to a user or not, may watch. */
export function watchableUser(uri: string, boundUser: string | undefined): string | undefined {
  const user = userOfUri(uri);
  if (user === undefined) return undefined;
  return (boundUser === undefined ? isIdentifier(user) : user === boundUser) ? user : undefined;
}
