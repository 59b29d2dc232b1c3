/**
 * Quick reads: GET /decode and GET /context of a caller who is known already, answered ahead of Fastify, whose
 * way through hooks, validation and serialisation takes longer than the read. Only the plain 200 is answered
 * here. At the first thing that is not plain (a key that must be looked up, a fault in the query, a condition, a
 * fact that is not there, a block that must be built) the request goes on to Fastify untouched. Fastify's answer
 * is the measure: test/http/quick-reads.test.ts holds this one against it.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Caller } from "../memory/authentication.ts";
import { findChannel } from "../memory/channels.ts";
import { isIdentifier } from "../memory/identifiers.ts";
import { quotaWindow } from "../memory/quota.ts";
import type { HttpParts } from "./parts.ts";
import { isSoundQuery, parseQuery, type Query } from "./query.ts";
import { quotaHeaders } from "./quota-headers.ts";
import type { FigureLabels, RequestFigures } from "./request-figures.ts";

interface QuickRead {
  readonly prefix: string;
  readonly labels: FigureLabels;
  readonly answer: (query: Query, caller: Caller) => QuickAnswer | undefined;
}

interface QuickAnswer {
  readonly json: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

const BEARER = "Bearer ";
const NO_HEADERS: readonly string[] = [];

export class QuickReads {
  readonly #parts: HttpParts;
  readonly #figures: RequestFigures;
  readonly #requestId: (given: string | undefined) => string;
  readonly #reads: readonly QuickRead[];
  #closing = false;

  constructor(
    parts: HttpParts,
    options: { figures: RequestFigures; requestId: (given: string | undefined) => string },
  ) {
    this.#parts = parts;
    this.#figures = options.figures;
    this.#requestId = options.requestId;
    const read = (path: string, answer: QuickRead["answer"]): QuickRead[] => {
      const labels = this.#figures.labels("GET", path, 200);
      return [`${path}?`, `/v1${path}?`].map((prefix) => ({ prefix, labels, answer }));
    };
    this.#reads = [
      ...read("/decode", (query, caller) => this.#decode(query, caller)),
      ...read("/context", (query, caller) => this.#context(query, caller)),
    ];
  }

  /** Takes the place of Fastify's listener and hands on to it. */
  install(app: FastifyInstance): void {
    const { limits, memory } = this.#parts;
    // A limit on requests may have to be asked of another process, and a database of another machine.
    if (limits.key !== undefined || !memory.store.readsAtOnce) return;
    const [routed] = app.server.listeners("request") as RequestListener[];
    app.server.removeListener("request", routed);
    app.server.on("request", (request, response) => {
      if (!this.#answers(request, response)) routed(request, response);
    });
    // From then on Fastify ends the connection with each answer.
    app.addHook("preClose", (done) => {
      this.#closing = true;
      done();
    });
  }

  #answers(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#closing || request.method !== "GET") return false;
    const url = request.url ?? "";
    const read = this.#readOf(url);
    if (read === undefined) return false;
    const startedMs = performance.now();
    const headers = plainHeaders(request.rawHeaders);
    if (headers === undefined) return false;
    const caller = this.#parts.authentication.knownCallerOf(headers.key);
    if (caller === undefined) return false;
    const quota = this.#quotaOf(caller);
    if (quota === undefined) return false;
    const query = parseQuery(url.slice(read.prefix.length));
    if (!isSoundQuery(query) || !isIdentifier(query.user_id)) return false;
    const answer = read.answer(query, caller);
    if (answer === undefined) return false;

    const id = this.#requestId(headers.requestId);
    const { json } = answer;
    const sizeBytes = Buffer.byteLength(json);
    this.#figures.note(
      read.labels,
      { id, method: "GET", caller, sessionId: null },
      performance.now() - startedMs,
    );
    response.writeHead(200, [
      "x-request-id",
      id,
      ...quota,
      ...answer.headers,
      "content-type",
      "application/json; charset=utf-8",
      "content-length",
      String(sizeBytes),
    ]);
    // As many bytes as characters: plain ASCII, which needs no encoding.
    response.end(json, sizeBytes === json.length ? "latin1" : "utf8");
    return true;
  }

  #readOf(url: string): QuickRead | undefined {
    for (const read of this.#reads) if (url.startsWith(read.prefix)) return read;
    return undefined;
  }

  #quotaOf({ keyId, limit }: Caller): readonly string[] | undefined {
    if (limit === null) return NO_HEADERS;
    const nowMs = this.#parts.clock.now();
    const used = this.#parts.memory.store.readUsage(keyId, quotaWindow(nowMs).month);
    return used instanceof Promise ? undefined : Object.entries(quotaHeaders(limit, used, nowMs)).flat();
  }

  #decode({ user_id: userId, label, use_model: useModel }: Query, caller: Caller): QuickAnswer | undefined {
    const channel = label === undefined ? undefined : findChannel(label);
    if (useModel !== undefined || channel === undefined) return undefined;
    const fact = this.#parts.memory.store.readFact(caller.account, userId, channel.channel);
    if (fact === undefined || fact instanceof Promise) return undefined;
    const json = `{"user_id":${JSON.stringify(userId)},"label":"${label}","value":${JSON.stringify(fact.value)},"source":"state","latency_ms":0}`;
    return { json, headers: NO_HEADERS };
  }

  #context({ user_id: userId }: Query, caller: Caller): QuickAnswer | undefined {
    const block = this.#parts.memory.blocks.cached(caller.account, userId);
    if (block === undefined) return undefined;
    return {
      json: block.contextJson,
      headers: ["etag", block.etag, "cache-control", "private, no-cache"],
    };
  }
}

interface PlainHeaders {
  readonly key: string;
  readonly requestId: string | undefined;
}

/**
 * The headers that count, from names and values as they came: Node's own object of all of them takes longer to
 * make. Undefined where one is missing, comes twice, or asks for more than a plain read.
 */
function plainHeaders(raw: readonly string[]): PlainHeaders | undefined {
  let key: string | undefined;
  let requestId: string | undefined;
  let hosts = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const { length } = raw[i];
    if (length !== 4 && length !== 12 && length !== 13) continue; // as long as none of these names
    const name = raw[i].toLowerCase();
    const value = raw[i + 1];
    if (name === "host") hosts += 1;
    else if (name === "if-none-match") return undefined;
    else if (name === "authorization") {
      if (key !== undefined || !value.startsWith(BEARER)) return undefined;
      key = value.slice(BEARER.length);
    } else if (name === "x-request-id") {
      if (requestId !== undefined) return undefined;
      requestId = value;
    }
  }
  return key === undefined || hosts !== 1 ? undefined : { key, requestId };
}
