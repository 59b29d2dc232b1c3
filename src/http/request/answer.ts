/** What a handler answers where it is not plain JSON with status 200, and how an answer leaves. */

import { type IncomingMessage, ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { quotaWindow } from "../../memory/quota.ts";
import type { Call } from "./call.ts";
import { ANSWER_BYTES_MAX, textParts } from "./long-answers.ts";

export const JSON_TYPE = "application/json; charset=utf-8";

interface AnswerOptions {
  readonly status?: number | undefined;
  readonly type?: string | undefined;
  readonly headers?: readonly string[] | undefined;
  /** Encodes of the caller's key in this month, where they are no longer as many as when the call began. */
  readonly used?: number | undefined;
}

const NO_HEADERS: readonly string[] = [];

/** @typeParam T the JSON of its body, where it has one: checked against the table of operations */
export class Answer<T = unknown> {
  /** Only its type counts. */
  declare readonly json: T;
  readonly status: number;
  readonly type: string | undefined;
  readonly body: string | Buffer | Readable | undefined;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly used: number | undefined;

  constructor(body: Answer["body"], { status = 200, type, headers = NO_HEADERS, used }: AnswerOptions = {}) {
    this.body = body;
    this.status = status;
    this.type = type;
    this.headers = headers;
    this.used = used;
  }

  static json<T>(value: T, more: Omit<AnswerOptions, "type"> = {}): Answer<T> {
    const { status, headers, used } = more;
    return new Answer<T>(JSON.stringify(value), { type: JSON_TYPE, status, headers, used });
  }
}

/** An answer with the headers that every answer of its call gets. */
export interface WholeAnswer extends Pick<Answer, "status" | "body"> {
  readonly headers: string[];
}

export function wholeAnswer(
  call: Call,
  { status, headers, type, used, body }: Answer,
  nowMs: number,
): WholeAnswer {
  const { caller } = call;
  // Pushed one list after the other: this runs for every answer.
  const all = ["x-request-id", call.id];
  if (caller !== undefined && caller.limit !== null)
    all.push(...quotaHeaders(caller.limit, used ?? call.used, nowMs));
  if (call.headers.length > 0) all.push(...call.headers);
  if (headers.length > 0) all.push(...headers);
  if (type !== undefined) all.push("content-type", type);
  return { status, headers: all, body };
}

export function sendAnswer(response: ServerResponse, { status, headers, body }: WholeAnswer): void {
  if (typeof body === "string") {
    const sizeBytes = Buffer.byteLength(body);
    headers.push("content-length", String(sizeBytes));
    response.writeHead(status, headers);
    if (sizeBytes > ANSWER_BYTES_MAX) pipeline(Readable.from(textParts(body)), response, () => {});
    // As many bytes as characters: plain ASCII, which needs no encoding.
    else response.end(body, sizeBytes === body.length ? "latin1" : "utf8");
  } else if (body === undefined || Buffer.isBuffer(body)) {
    if (body !== undefined) headers.push("content-length", String(body.length));
    response.writeHead(status, headers).end(body);
  } else if (response.destroyed || response.req.socket.destroyed) body.destroy();
  else {
    response.writeHead(status, headers);
    // The head is sent now: it may take long until a stream has its first event.
    response.flushHeaders();
    // Nothing is reported: a reader that hangs up ends the stream, and a stream that fails cuts the answer off.
    pipeline(body, response, () => {});
  }
}

/**
 * What is left of a limit, as RateLimit-Policy and RateLimit (IETF draft) and the older X-RateLimit-*: the monthly quota
 * on every authenticated answer, and the limit of the demo on its answers. An unlimited key gets none of them.
 */
interface LimitState {
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  readonly windowS: number;
  /** When it is whole again. */
  readonly resetAtMs: number;
}

export function quotaHeaders(limit: number, used: number, nowMs: number): string[] {
  const { startMs, endMs } = quotaWindow(nowMs);
  const remaining = Math.max(0, limit - used);
  const windowS = (endMs - startMs) / 1000;
  return limitHeaders({ name: "monthly", limit, remaining, windowS, resetAtMs: endMs }, nowMs);
}

/** Names and values in turn. */
export function limitHeaders(state: LimitState, nowMs: number): string[] {
  const { name, limit, remaining, windowS, resetAtMs } = state;
  const resetS = Math.max(0, Math.ceil((resetAtMs - nowMs) / 1000));
  return [
    "ratelimit-policy",
    `"${name}";q=${limit};w=${windowS}`,
    "ratelimit",
    `"${name}";r=${remaining};t=${resetS}`,
    "x-ratelimit-limit",
    String(limit),
    "x-ratelimit-remaining",
    String(remaining),
    "x-ratelimit-reset",
    String(Math.ceil(resetAtMs / 1000)),
  ];
}

const RESETS_IN = "sideband-demo-resets-in";

/** Headers with the seconds until a state of the demo is reset; what they said of it before is replaced. */
export function withDemoReset(headers: readonly string[], seconds: number): readonly string[] {
  const at = headers.indexOf(RESETS_IN);
  return at < 0 ? [...headers, RESETS_IN, String(seconds)] : headers.with(at + 1, String(seconds));
}

const end = ServerResponse.prototype.end as (...given: unknown[]) => ServerResponse;

/**
 * Answers that leave in one write. Node 20 ends an answer with an empty write of its own behind the text, and hands
 * the two to the kernel as a list; the text alone goes a shorter way, which is a seventh of a decode. Node 24 needs no help.
 */
export class OneWriteResponse<T extends IncomingMessage> extends ServerResponse<T> {
  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    const { socket } = this;
    // While earlier answers of its connection are sent, an answer has no socket. Without a length, the text is sent in pieces.
    const whole = typeof chunk === "string" && typeof encoding !== "function" && this.headersSent;
    if (!whole || this.chunkedEncoding || socket === null) end.call(this, chunk, encoding, callback);
    else {
      socket.cork();
      this.write(chunk, encoding as BufferEncoding);
      socket.uncork();
      end.call(this, undefined, undefined, callback);
    }
    return this;
  }
}
