/**
 * Quick answers: GET /decode, GET /context and POST /encode of a caller who is known already, ahead of Fastify,
 * whose way through hooks, validation and serialisation takes longer than a read. Only the plain 200 is answered
 * here. At the first thing that is not plain (a key that must be looked up, a fault in the query or the body, a
 * condition, a fact that is not there, a block that must be built) the request goes on to Fastify as it came.
 * Fastify's answer is the measure: test/http/quick-answers.test.ts holds this one against it.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Caller } from "../memory/authentication.ts";
import { encodeFacts } from "../memory/encode.ts";
import { isIdentifier } from "../memory/identifiers.ts";
import { quotaWindow } from "../memory/quota.ts";
import type { HttpParts } from "./parts.ts";
import { isSoundQuery, parseQuery } from "./query.ts";
import { type PlainFact, readFact } from "./quick-encode.ts";
import { type QuickAnswer, type QuickRead, quickContext, quickDecode } from "./quick-reads.ts";
import { quotaHeaders } from "./quota-headers.ts";
import type { FigureLabels, RequestFigures } from "./request-figures.ts";

/** A request that is being answered here. */
interface Exchange {
  readonly response: ServerResponse;
  readonly headers: PlainHeaders;
  readonly caller: Caller;
  readonly labels: FigureLabels;
  readonly startedMs: number;
}

interface ReadRoute {
  readonly prefix: string;
  readonly labels: FigureLabels;
  readonly read: QuickRead;
}

const BEARER = "Bearer ";
const NO_HEADERS: readonly string[] = [];

export class QuickAnswers {
  readonly #parts: HttpParts;
  readonly #figures: RequestFigures;
  readonly #requestId: (given: string | undefined) => string;
  readonly #reads: readonly ReadRoute[];
  readonly #encodeLabels: FigureLabels;
  #closing = false;

  constructor(
    parts: HttpParts,
    options: { figures: RequestFigures; requestId: (given: string | undefined) => string },
  ) {
    this.#parts = parts;
    this.#figures = options.figures;
    this.#requestId = options.requestId;
    this.#reads = Object.entries({ "/decode": quickDecode, "/context": quickContext }).flatMap(
      ([path, read]) => {
        const labels = this.#figures.labels("GET", path, 200);
        return [`${path}?`, `/v1${path}?`].map((prefix) => ({ prefix, labels, read }));
      },
    );
    this.#encodeLabels = this.#figures.labels("POST", "/encode", 200);
  }

  /** Takes the place of Fastify's listener and hands on to it. */
  install(app: FastifyInstance): void {
    const { limits, memory } = this.#parts;
    // A database has to be asked, and a limit on requests has an answer of its own.
    if (limits.key !== undefined || !memory.store.readsAtOnce) return;
    const [routed] = app.server.listeners("request") as RequestListener[];
    app.server.removeListener("request", routed);
    app.server.on("request", (request, response) => {
      const taken =
        request.method === "GET"
          ? this.#read(request, response)
          : this.#encode(request, response, () => routed(request, response));
      if (!taken) routed(request, response);
    });
    // From then on Fastify ends the connection with each answer.
    app.addHook("preClose", (done) => {
      this.#closing = true;
      done();
    });
  }

  /** False where the request is not plain: then nothing has happened to it. */
  #read(request: IncomingMessage, response: ServerResponse): boolean {
    const url = request.url ?? "";
    const route = this.#readOf(url);
    if (route === undefined) return false;
    const exchange = this.#begin(request, response, route.labels);
    if (exchange === undefined) return false;
    const { caller } = exchange;
    const quota = this.#quotaOf(caller);
    const query = parseQuery(url.slice(route.prefix.length));
    if (quota === undefined || !isSoundQuery(query) || !isIdentifier(query.user_id)) return false;
    let answer: QuickAnswer | undefined;
    try {
      answer = route.read(this.#parts, query, caller);
    } catch {
      // A damaged record: Fastify meets it too, and answers.
    }
    if (answer === undefined) return false;
    this.#send(exchange, answer, quota);
    return true;
  }

  /** False as above; true where the body is awaited, and `handOn` is called when it is not plain. */
  #encode(request: IncomingMessage, response: ServerResponse, handOn: () => void): boolean {
    if (request.method !== "POST" || (request.url !== "/encode" && request.url !== "/v1/encode"))
      return false;
    const exchange = this.#begin(request, response, this.#encodeLabels);
    if (exchange === undefined || !(exchange.headers.jsonBytes > 0)) return false;
    const { caller, headers } = exchange;
    const encode = async ({ userId, label, value }: PlainFact) => {
      const input = { operation: "encode", userId, facts: [{ label, value }] } as const;
      const { facts, channelCount, used } = await encodeFacts(this.#parts.memory, caller, input);
      const json = `{"status":"ok","label":"${label}","value":${JSON.stringify(value)},"channel":${facts[0].channel},"channel_count":${channelCount}}`;
      const quota =
        caller.limit === null ? NO_HEADERS : quotaLines(caller.limit, used, this.#parts.clock.now());
      this.#send(exchange, { json, headers: NO_HEADERS }, quota);
    };
    readFact(request, headers.jsonBytes, encode, handOn);
    return true;
  }

  /** A request of a known caller with plain headers. */
  #begin(request: IncomingMessage, response: ServerResponse, labels: FigureLabels): Exchange | undefined {
    if (this.#closing) return undefined;
    const startedMs = performance.now();
    const headers = plainHeaders(request.rawHeaders);
    if (headers === undefined) return undefined;
    const caller = this.#parts.authentication.knownCallerOf(headers.key);
    return caller && { response, headers, caller, labels, startedMs };
  }

  #readOf(url: string): ReadRoute | undefined {
    for (const read of this.#reads) if (url.startsWith(read.prefix)) return read;
    return undefined;
  }

  #quotaOf({ keyId, limit }: Caller): readonly string[] | undefined {
    if (limit === null) return NO_HEADERS;
    const nowMs = this.#parts.clock.now();
    const used = this.#parts.memory.store.readUsage(keyId, quotaWindow(nowMs).month);
    return used instanceof Promise ? undefined : quotaLines(limit, used, nowMs);
  }

  #send(exchange: Exchange, { json, headers }: QuickAnswer, quota: readonly string[]): void {
    const { response, caller, labels } = exchange;
    const id = this.#requestId(exchange.headers.requestId);
    const sizeBytes = Buffer.byteLength(json);
    const answered = { id, method: labels.method, caller, sessionId: null };
    this.#figures.note(labels, answered, performance.now() - exchange.startedMs);
    response.writeHead(200, [
      "x-request-id",
      id,
      ...quota,
      ...headers,
      "content-type",
      "application/json; charset=utf-8",
      "content-length",
      String(sizeBytes),
    ]);
    // As many bytes as characters: plain ASCII, which needs no encoding.
    response.end(json, sizeBytes === json.length ? "latin1" : "utf8");
  }
}

function quotaLines(limit: number, used: number, nowMs: number): readonly string[] {
  return Object.entries(quotaHeaders(limit, used, nowMs)).flat();
}

interface PlainHeaders {
  readonly key: string;
  readonly requestId: string | undefined;
  /** The length of the body where it is JSON, else not a number. */
  readonly jsonBytes: number;
}

/**
 * The headers that count, from names and values as they came: Node's own object of all of them takes longer to
 * make. Undefined where one is missing, comes twice, or asks for more than a plain answer.
 */
function plainHeaders(raw: readonly string[]): PlainHeaders | undefined {
  let key: string | undefined;
  let requestId: string | undefined;
  let type: string | undefined;
  let length = Number.NaN;
  let hosts = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const value = raw[i + 1];
    // By length first: most names are as long as none of these.
    switch (raw[i].length) {
      case 4:
        if (isNamed(raw[i], "host")) hosts += 1;
        break;
      case 12:
        if (isNamed(raw[i], "x-request-id")) {
          if (requestId !== undefined) return undefined;
          requestId = value;
        } else if (isNamed(raw[i], "content-type")) {
          if (type !== undefined) return undefined;
          type = value;
        }
        break;
      case 13:
        if (isNamed(raw[i], "if-none-match")) return undefined;
        if (isNamed(raw[i], "authorization")) {
          if (key !== undefined || !value.startsWith(BEARER)) return undefined;
          key = value.slice(BEARER.length);
        }
        break;
      case 14:
        if (isNamed(raw[i], "content-length")) length = Number(value);
        break;
      case 15:
        if (isNamed(raw[i], "idempotency-key")) return undefined;
        break;
      case 17:
        if (isNamed(raw[i], "transfer-encoding")) return undefined;
    }
  }
  if (key === undefined || hosts !== 1) return undefined;
  return { key, requestId, jsonBytes: type === "application/json" ? length : Number.NaN };
}

function isNamed(name: string, lowerCase: string): boolean {
  return name === lowerCase || name.toLowerCase() === lowerCase;
}
