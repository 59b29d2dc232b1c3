/**
 * Stands in for a provider's model on this machine, so that a real host runs its real hooks and its real MCP client
 * without an account: Anthropic's messages and OpenAI's responses, streamed. A script says what the model answers; every request
 * is kept.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the model says: a text, or a call of the tool whose name ends like this. */
export type Reply = string | { tool: string; input: object };

export interface ModelRequest {
  readonly path: string;
  /** The whole body, as text. */
  readonly text: string;
  readonly toolNames: readonly string[];
}

export interface StandInModel {
  readonly url: string;
  readonly requests: ModelRequest[];
  end(): Promise<void>;
}

export async function startStandInModel(script: (request: ModelRequest) => Reply): Promise<StandInModel> {
  const requests: ModelRequest[] = [];
  const server = createServer(async (request, response) => {
    const text = await bodyOf(request);
    const path = (request.url ?? "").split("?")[0];
    const answer = ANSWERS.find(({ end }) => path.endsWith(end));
    if (request.method !== "POST" || answer === undefined) {
      response.writeHead(request.method === "HEAD" ? 200 : 404).end("{}");
      return;
    }
    const body = JSON.parse(text === "" ? "{}" : text) as Record<string, unknown>;
    if (path.endsWith("count_tokens")) {
      response.setHeader("content-type", "application/json");
      response.end('{"input_tokens":10}');
      return;
    }
    const seen = { path, text, toolNames: toolNamesOf(body) };
    requests.push(seen);
    const events = answer.events(script(seen), seen);
    if (body.stream === true) writeEvents(response, events);
    else {
      // The last event of a response has it whole.
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(events.at(-1)?.response ?? {}));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    end: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Event = { readonly type: string; readonly [field: string]: unknown };

const ANSWERS = [
  { end: "/count_tokens", events: messageEvents },
  { end: "/messages", events: messageEvents },
  { end: "/responses", events: responseEvents },
];

const USAGE = { input_tokens: 10, output_tokens: 5 };

/** Anthropic's messages as a stream of events. */
function messageEvents(reply: Reply, request: ModelRequest): Event[] {
  const isText = typeof reply === "string";
  const block = isText
    ? { type: "text", text: "" }
    : { type: "tool_use", id: newId("toolu"), name: toolName(request, reply.tool), input: {} };
  const delta = isText
    ? { type: "text_delta", text: reply }
    : { type: "input_json_delta", partial_json: JSON.stringify(reply.input) };
  const message = { id: newId("msg"), type: "message", role: "assistant", model: "stand-in", content: [] };
  return [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage: USAGE } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: isText ? "end_turn" : "tool_use", stop_sequence: null },
      usage: USAGE,
    },
    { type: "message_stop" },
  ];
}

/** OpenAI's responses as a stream of events. */
function responseEvents(reply: Reply, request: ModelRequest): Event[] {
  const id = newId("resp");
  const item =
    typeof reply === "string"
      ? {
          type: "message",
          id: newId("msg"),
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: reply, annotations: [] }],
        }
      : {
          type: "function_call",
          id: newId("fc"),
          call_id: newId("call"),
          status: "completed",
          arguments: JSON.stringify(reply.input),
          ...nameAndSpace(request, reply.tool),
        };
  const usage = { ...USAGE, total_tokens: 15, input_tokens_details: { cached_tokens: 0 } };
  return [
    { type: "response.created", response: { id, status: "in_progress" } },
    { type: "response.output_item.done", output_index: 0, item },
    {
      type: "response.completed",
      response: {
        id,
        object: "response",
        status: "completed",
        output: [item],
        usage: { ...usage, output_tokens_details: { reasoning_tokens: 0 } },
      },
    },
  ];
}

function writeEvents(response: ServerResponse, events: readonly Event[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}

interface Tool {
  readonly type?: string;
  readonly name?: string;
  readonly tools?: readonly Tool[];
}

/** Tools by their names; those of a namespace as `namespace/name`. Codex has tools in the input too. */
function toolNamesOf({ tools, input }: Record<string, unknown>): string[] {
  const all = [tools, ...(Array.isArray(input) ? input.map((item: Tool) => item.tools) : [])];
  return all.flatMap((list) =>
    Array.isArray(list)
      ? list.flatMap(({ type, name = "", tools: inner = [] }: Tool) =>
          type === "namespace" ? inner.map((tool) => `${name}/${tool.name}`) : [name],
        )
      : [],
  );
}

function toolName({ toolNames }: ModelRequest, end: string): string {
  return toolNames.find((name) => name.endsWith(end)) ?? end;
}

function nameAndSpace(request: ModelRequest, end: string): { name: string; namespace?: string } {
  const [space, name] = toolName(request, end).split("/");
  return name === undefined ? { name: space } : { name, namespace: space };
}

let ids = 0;
function newId(prefix: string): string {
  ids += 1;
  return `${prefix}_${ids}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
