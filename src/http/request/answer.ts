/** What a handler answers where it is not plain JSON with status 200, and how an answer leaves. */

import type { Readable } from "node:stream";
import { pipeline } from "node:stream";
import { quotaHeaders } from "../access/quota-headers.ts";
import type { Call } from "./call.ts";

export const JSON_TYPE = "application/json; charset=utf-8";

/** @typeParam T the JSON of its body, where it has one: checked against the table of operations */
export class Answer<T = unknown> {
  /** Only its type counts. */
  declare readonly json: T;
  readonly status: number;
  readonly type: string | undefined;
  readonly body: string | Buffer | Readable | undefined;
  /** Names and values in turn. */
  readonly headers: readonly string[];

  constructor(
    body: Answer["body"],
    more: { status?: number; type?: string | undefined; headers?: readonly string[] } = {},
  ) {
    this.body = body;
    this.status = more.status ?? 200;
    this.type = more.type;
    this.headers = more.headers ?? [];
  }

  static json<T>(value: T, more: { status?: number; headers?: readonly string[] } = {}): Answer<T> {
    return new Answer<T>(JSON.stringify(value), { ...more, type: JSON_TYPE });
  }
}

export function sendAnswer(call: Call, answer: Answer, nowMs: number): void {
  const { response, caller } = call;
  const { body, type } = answer;
  const quota =
    caller === undefined || caller.limit === null ? [] : quotaHeaders(caller.limit, call.used, nowMs);
  const head = ["x-request-id", call.id, ...quota, ...call.headers, ...answer.headers];
  if (type !== undefined) head.push("content-type", type);
  if (typeof body === "string") {
    const sizeBytes = Buffer.byteLength(body);
    head.push("content-length", String(sizeBytes));
    response.writeHead(answer.status, head);
    // As many bytes as characters: plain ASCII, which needs no encoding.
    response.end(body, sizeBytes === body.length ? "latin1" : "utf8");
  } else if (body === undefined || Buffer.isBuffer(body)) {
    if (body !== undefined) head.push("content-length", String(body.length));
    response.writeHead(answer.status, head).end(body);
  } else if (call.isGone) body.destroy();
  else {
    response.writeHead(answer.status, head);
    // The head goes now: a stream's first event may be long in coming.
    response.flushHeaders();
    // A reader that hangs up ends the stream, and a stream that fails cuts the answer off: neither is news.
    pipeline(body, response, () => {});
  }
}
