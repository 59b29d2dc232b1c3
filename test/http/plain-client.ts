/** A small client of a service: over plain HTTP, or without a connection at its dispatcher. */

import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import type { Dispatcher } from "../../src/http/request/dispatcher.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests look at answers of any shape.
  readonly json: any;
}

export interface RequestOptions {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
}

/** @param to the address of a service, or its dispatcher */
export async function send(
  to: string | Dispatcher["dispatch"],
  method: string,
  path: string,
  options: RequestOptions,
): Promise<Answer> {
  const { key, body, raw, headers = {} } = options;
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const sent = {
    method,
    headers: {
      ...(key == null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(payload === undefined ? {} : { body: payload }),
    redirect: "manual",
  } as const;
  const response = typeof to === "string" ? await fetch(to + path, sent) : await dispatched(to, path, sent);
  const text = await response.text();
  const isJson = /[+/]json/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text ? JSON.parse(text) : undefined,
  };
}

/** The dispatcher's answer, once it is whole, to what `fetch` would send. */
async function dispatched(
  dispatch: Dispatcher["dispatch"],
  path: string,
  { method, headers: given, body }: { method: string; headers: HeadersInit; body?: string | Uint8Array },
): Promise<Pick<Response, "status" | "headers" | "text">> {
  const headers = new Headers(given);
  const bytes = body === undefined ? undefined : Buffer.from(body as string);
  if (bytes !== undefined) headers.set("content-length", String(bytes.length));
  if (typeof body === "string" && !headers.has("content-type")) headers.set("content-type", "text/plain");
  const sent: Record<string, string> = { host: "localhost", accept: "*/*", ...Object.fromEntries(headers) };
  const request = Object.assign(Readable.from(bytes === undefined ? [] : [bytes]), {
    method,
    url: path,
    headers: sent,
    rawHeaders: Object.entries(sent).flat(),
    httpVersion: "1.1",
    socket: { remoteAddress: "127.0.0.1", destroyed: false },
  });
  const end = Object.assign(new EventEmitter(), { destroyed: false, writableEnded: false });
  const answer = await dispatch(request, end);
  if (answer === undefined) throw new Error("nobody was there to be answered");
  const answered = new Headers();
  for (let i = 0; i < answer.headers.length; i += 2)
    answered.append(answer.headers[i], answer.headers[i + 1]);
  const whole = answer.body instanceof Readable ? await textOf(answer.body) : String(answer.body ?? "");
  Object.assign(end, { destroyed: true, writableEnded: true }).emit("close");
  return { status: answer.status, headers: answered, text: async () => (method === "HEAD" ? "" : whole) };
}

/** Checks that an answer is a whole problem, and says which. */
export function problemCode(answer: Answer): string {
  const { json, status } = answer;
  const type = answer.headers.get("content-type") ?? "";
  if (!type.startsWith("application/problem+json"))
    throw new Error(`no problem: ${status} ${type} ${answer.text}`);
  for (const field of ["type", "title", "detail", "code", "request_id"]) {
    if (typeof json[field] !== "string" || json[field] === "") throw new Error(`no ${field}: ${answer.text}`);
  }
  if (json.status !== status) throw new Error(`status ${status} is not ${json.status}`);
  if (json.request_id !== answer.headers.get("x-request-id")) throw new Error("request ids differ");
  return `${status} ${json.code}`;
}
