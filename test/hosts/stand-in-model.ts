/**
 * Stands in for a provider's model on this machine, so that a real host runs its real hooks and its real MCP client
 * without an account: Anthropic's messages, OpenAI's responses and Gemini's contents, streamed. A script says what the model answers; every request
 * is kept.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the model says: a text alone, or any of these. */
export type Reply = string | SpokenReply;

interface SpokenReply {
  readonly text?: string;
  /** A call of the tool whose name ends like this. */
  readonly tool?: string;
  readonly input?: object;
  /** What it claims to have read, by which hosts know when to compact. */
  readonly inputTokens?: number;
  /** It refuses, as a provider does where a prompt is too long. */
  readonly isOverflow?: boolean;
  /** It never answers. */
  readonly isSilent?: boolean;
}

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
    const reply = script(seen);
    const spoken = typeof reply === "string" ? { text: reply } : reply;
    if (spoken.isSilent) return;
    if (spoken.isOverflow) {
      const message = "prompt is too long: 210000 tokens > 200000 maximum";
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }));
      return;
    }
    const events = answer.events(spoken, seen);
    if (body.stream === true || path.endsWith(":streamGenerateContent")) writeEvents(response, events);
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

/** Gemini's events have no type. */
type Event = { readonly type?: string; readonly [field: string]: unknown };

const ANSWERS = [
  { end: "/count_tokens", events: messageEvents },
  { end: "/messages", events: messageEvents },
  { end: "/responses", events: responseEvents },
  { end: ":streamGenerateContent", events: contentEvents },
];

const INPUT_TOKENS = 10;
const OUTPUT_TOKENS = 5;

/** Anthropic's messages as a stream of events. */
function messageEvents(reply: SpokenReply, request: ModelRequest): Event[] {
  const usage = { input_tokens: reply.inputTokens ?? INPUT_TOKENS, output_tokens: OUTPUT_TOKENS };
  const blocks = [
    ...(reply.text === undefined
      ? []
      : [{ block: { type: "text", text: "" }, delta: { type: "text_delta", text: reply.text } }]),
    ...(reply.tool === undefined
      ? []
      : [
          {
            block: { type: "tool_use", id: newId("toolu"), name: toolName(request, reply.tool), input: {} },
            delta: { type: "input_json_delta", partial_json: JSON.stringify(reply.input) },
          },
        ]),
  ];
  const message = { id: newId("msg"), type: "message", role: "assistant", model: "stand-in", content: [] };
  const stop_reason = reply.tool === undefined ? "end_turn" : "tool_use";
  return [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    ...blocks.flatMap(({ block, delta }, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

/** OpenAI's responses as a stream of events. */
function responseEvents(reply: SpokenReply, request: ModelRequest): Event[] {
  const id = newId("resp");
  const content = [{ type: "output_text", text: reply.text, annotations: [] }];
  const said = { type: "message", id: newId("msg"), role: "assistant", status: "completed", content };
  const items: object[] = reply.text === undefined ? [] : [said];
  if (reply.tool !== undefined)
    items.push({
      type: "function_call",
      id: newId("fc"),
      call_id: newId("call"),
      status: "completed",
      arguments: JSON.stringify(reply.input),
      ...nameAndSpace(request, reply.tool),
    });
  const input_tokens = reply.inputTokens ?? INPUT_TOKENS;
  const usage = {
    ...{ input_tokens, output_tokens: OUTPUT_TOKENS, total_tokens: input_tokens + OUTPUT_TOKENS },
    ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
  };
  return [
    { type: "response.created", response: { id, status: "in_progress" } },
    ...items.map((item, output_index) => ({ type: "response.output_item.done", output_index, item })),
    {
      type: "response.completed",
      response: { id, object: "response", status: "completed", output: items, usage },
    },
  ];
}

/** Gemini's contents: one chunk with everything. */
function contentEvents(reply: SpokenReply, request: ModelRequest): Event[] {
  const call = reply.tool && { name: toolName(request, reply.tool), args: reply.input };
  const parts = [
    ...(reply.text === undefined ? [] : [{ text: reply.text }]),
    ...(call === undefined ? [] : [{ functionCall: call }]),
  ];
  const promptTokenCount = reply.inputTokens ?? INPUT_TOKENS;
  const counts = { promptTokenCount, candidatesTokenCount: OUTPUT_TOKENS };
  return [
    {
      candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
      usageMetadata: { ...counts, totalTokenCount: promptTokenCount + OUTPUT_TOKENS },
    },
  ];
}

function writeEvents(response: ServerResponse, events: readonly Event[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    if (event.type !== undefined) response.write(`event: ${event.type}\n`);
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

interface Tool {
  readonly type?: string;
  readonly name?: string;
  readonly tools?: readonly Tool[];
  /** Of Gemini. */
  readonly functionDeclarations?: readonly Tool[];
}

/** Tools by their names; those of a namespace as `namespace/name`. Codex has tools in the input too. */
function toolNamesOf({ tools, input }: Record<string, unknown>): string[] {
  const all = [tools, ...(Array.isArray(input) ? input.map((item: Tool) => item.tools) : [])];
  return all.flatMap((list) =>
    Array.isArray(list)
      ? list.flatMap(({ type, name = "", tools: inner = [], functionDeclarations }: Tool) => {
          if (functionDeclarations !== undefined) return functionDeclarations.map((tool) => tool.name ?? "");
          return type === "namespace" ? inner.map((tool) => `${name}/${tool.name}`) : [name];
        })
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
