/**
 * The way of every request, whatever it asks for: find its route, check who calls, read and check what was sent, call
 * the route's handler. Whatever goes wrong on the way becomes a problem answer. `dispatch` needs no connection; `handle`
 * is for those of a server, and sends the answer.
 */

import { randomBytes } from "node:crypto";
import type { RequestListener } from "node:http";
import { Readable } from "node:stream";
import { ERRORS } from "../../base/error-codes.ts";
import { Failure, invalidRequest } from "../../base/errors.ts";
import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import type { Validator } from "../../contract/validation.ts";
import type { HttpRequest, HttpServices } from "../services.ts";
import { Answer, sendAnswer, type WholeAnswer, wholeAnswer } from "./answer.ts";
import { readForm, readJson } from "./body.ts";
import type { ByteBudget, ByteReservation } from "./byte-budget.ts";
import { Call, type CallEnd } from "./call.ts";
import type { ClientReader } from "./client.ts";
import { isLast, noteAnswer } from "./pipelining.ts";
import { prefersHtml } from "./preferences.ts";
import { failureOf, problemAnswer } from "./problem.ts";
import { parseQuery, raiseQueryFault } from "./query.ts";
import type { CallHistory } from "./recent-calls.ts";
import type { RequestMetrics } from "./request-metrics.ts";
import { requireRights } from "./rights.ts";
import type { AccessChecks, Route } from "./route.ts";
import { type Router, UnknownAddress } from "./router.ts";

/** Clients of a proxy send the whole URL as the target of a request. The path begins after this part of it. */
const SCHEME_AND_HOST = /^https?:\/\/[^/?]*\/?/i;

/** Characters of an answer from which on it is counted: shorter ones are bounded by the number of connections. */
const COUNTED_LENGTH = 16_384;

/** The website's answers at an address that has no route. */
export interface NotFoundPages {
  /** For a browser. */
  readonly page: Answer;
  /** A redirect to the page that the address seems to mean, if there is one. */
  redirectFor(path: string): Answer | undefined;
}

interface DispatcherOptions {
  readonly services: HttpServices;
  readonly router: Router;
  readonly access: AccessChecks;
  readonly bodies: ByteBudget;
  readonly answers: ByteBudget;
  /** For how long a body may come slowly. */
  readonly slowBodyMs: number;
  readonly clientOf: ClientReader;
  readonly metrics: RequestMetrics;
  readonly recent: CallHistory;
  /** For an address that has no route; undefined without the website. */
  readonly notFoundPages: NotFoundPages | undefined;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #nextId = requestIds();
  /** Once true, each connection ends with the answer to its last request. */
  closing = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** The answer to a request; undefined where nobody is there to be answered. What is held for it ends with `end`. */
  readonly dispatch = (request: HttpRequest, end: CallEnd): MaybePromise<WholeAnswer | undefined> => {
    const call = this.#callOf(request, end);
    return andThen(this.#answer(call), (answer) => this.#complete(call, answer));
  };

  readonly handle: RequestListener = (request, response) => {
    const call = this.#callOf(request, response);
    const send = (made: Answer | undefined) => {
      const answer = this.#complete(call, made);
      if (answer === undefined) return;
      // Closing is asked for now, because the service may have begun to stop after the request came. The rest of a body
      // without a length may be without an end.
      const isEndless = !request.complete && request.headers["transfer-encoding"] !== undefined;
      if (call.leavesBody || isEndless || (this.closing && isLast(response)))
        response.shouldKeepAlive = false;
      sendAnswer(response, answer);
      noteAnswer(response);
    };
    const cannotSend = (error: unknown) => {
      this.#options.services.log.error({ err: error }, "an answer could not be sent");
      call.bodyHolding?.giveBack();
      response.destroy();
    };
    try {
      const sent = andThen(this.#answer(call), send);
      if (sent instanceof Promise) sent.catch(cannotSend);
    } catch (error) {
      cannotSend(error);
    }
  };

  #callOf(request: HttpRequest, end: CallEnd): Call {
    return new Call(request, end, this.#nextId(request.headers["x-request-id"]), this.#options.clientOf);
  }

  /** Undefined where nobody is there to be answered. */
  #answer(call: Call): MaybePromise<Answer | undefined> {
    try {
      const answer = this.#run(call);
      return answer instanceof Promise ? answer.catch((error) => this.#problem(call, error)) : answer;
    } catch (error) {
      return this.#problem(call, error);
    }
  }

  #problem(call: Call, error: unknown): Answer | undefined {
    const { services, recent } = this.#options;
    if (call.isGone) {
      // Work that ended because its sender has gone is no fault. Whatever else failed is logged all the same.
      const ended = error === call.signal.reason || error === call.request.errored;
      if (!ended) failureOf(error, call, services.log);
      return undefined;
    }
    const failure = failureOf(error, call, services.log);
    call.failure = failure;
    // The rest of a body that is too large, or too slow, is not waited for.
    call.leavesBody = failure.code === "body_too_large" || failure.code === "request_timeout";
    const answer =
      failure instanceof UnknownAddress
        ? this.#notFound(failure, call)
        : problemAnswer(failure, call, services.upgradeUrl, this.#challengeOf(failure, call));
    if (answer.status >= 500) recent.errors.add(call, answer.status, services.clock.now(), failure.code);
    return answer;
  }

  /** What an application's client is told that has not the right token; undefined where there is nothing of its own to say. */
  #challengeOf({ code }: Failure, call: Call): string | undefined {
    const { oauth } = this.#options.services;
    const lacksRights = code === "read_only_key" && call.caller?.token?.grantId !== undefined;
    if (oauth === undefined || !(CHALLENGED.has(call.access) && (ERRORS[code].status === 401 || lacksRights)))
      return undefined;
    return oauth.challenge(resourcePathOf(call), code);
  }

  /** Counts and notes an answer that is about to be sent. */
  #complete(call: Call, made: Answer | undefined): WholeAnswer | undefined {
    if (call.bodyHolding !== undefined) giveBack(call.bodyHolding, call, made);
    if (made === undefined) return undefined;
    const answer = this.#withinBudget(call, made);
    const { services, metrics, recent } = this.#options;
    const nowMs = services.clock.now();
    metrics.count(call, answer.status);
    if (call.caller !== undefined) recent.requests.add(call, answer.status, nowMs, call.caller);
    return wholeAnswer(call, answer, nowMs);
  }

  /** A long answer is counted until its reader has taken it. Where it does not fit, that is the answer. */
  #withinBudget(call: Call, answer: Answer): Answer {
    const { body } = answer;
    if (typeof body !== "string" || body.length <= COUNTED_LENGTH) return answer;
    const { answers, services } = this.#options;
    try {
      call.holdAnswer(answers, Buffer.byteLength(body));
      return answer;
    } catch (error) {
      const failure = failureOf(error, call, services.log);
      call.failure = failure;
      return problemAnswer(failure, call, services.upgradeUrl);
    }
  }

  #notFound(failure: UnknownAddress, call: Call): Answer {
    const { notFoundPages, services } = this.#options;
    const reads = call.method === "GET" || call.method === "HEAD";
    const way = reads ? notFoundPages?.redirectFor(failure.path) : undefined;
    if (way !== undefined) return way;
    call.headers = ["vary", "accept"];
    if (notFoundPages !== undefined && prefersHtml(call.header("accept"))) return notFoundPages.page;
    return problemAnswer(failure, call, services.upgradeUrl);
  }

  #run(call: Call): MaybePromise<Answer> {
    const { request } = call;
    const target = request.url ?? "/";
    const url = target.startsWith("/") ? target : target.replace(SCHEME_AND_HOST, "/");
    const mark = url.indexOf("?");
    const { host, expect } = request.headers;
    if (host === undefined && request.httpVersion === "1.1")
      throw invalidRequest("Host", "The Host header is missing.");
    if (host?.includes(",")) throw invalidRequest("Host", "Host names more than one host.");
    const repeated = repeatedHeader(request);
    if (repeated !== undefined) throw invalidRequest(repeated, `There is more than one ${repeated} header.`);
    if (expect !== undefined && !/100-continue/i.test(expect))
      throw invalidRequest("Expect", "Only Expect: 100-continue is understood.");
    const { route, params } = this.#options.router.find(call.method, mark < 0 ? url : url.slice(0, mark));
    call.routePath = route.path;
    call.access = route.access;
    call.params = params;
    call.query = parseQuery(mark < 0 ? "" : url.slice(mark + 1));
    return andThen(this.#options.access[route.access](call), () => {
      // The website's pages take links with whatever others have added to them.
      if (route.access !== "page") raiseQueryFault(call.query);
      return andThen(this.#bodyOf(call, route), (body) => {
        call.body = body;
        if (route.rights !== undefined) requireRights(call, route.rights);
        refuseHeaders(call, route.refusedHeaders ?? []);
        check(route.params, call.params, "The address is not valid.");
        check(route.query, call.query, "The query is not valid.");
        check(route.body, call.body, "The body must be a JSON object.");
        return andThen(route.handle(call), asAnswer);
      });
    });
  }

  #bodyOf(call: Call, { bodyBytesMax, isForm }: Route): MaybePromise<unknown> {
    const { method, request } = call;
    if (method === "GET" || method === "HEAD" || bodyBytesMax === "stream") return undefined;
    const { bodies, slowBodyMs } = this.#options;
    return (isForm ? readForm : readJson)(request, {
      bytesMax: bodyBytesMax,
      slowMs: slowBodyMs,
      holding: () => {
        call.bodyHolding = call.holdingOf(bodies);
        return call.bodyHolding;
      },
    });
  }
}

/** Routes whose 401 says where a token is to be had. */
const CHALLENGED: ReadonlySet<string> = new Set(["key", "any", "mcp"]);

/** The resource that a call is about, as its address was written: /mcp has two. */
function resourcePathOf({ routePath, request: { url = "" } }: Call): string {
  if (routePath !== "/mcp") return "";
  return url.replace(SCHEME_AND_HOST, "/").startsWith("/v1/") ? "/v1/mcp" : "/mcp";
}

/** Gives back with the answer what the body held. If the answer is a stream, the body is needed until the stream ends. */
function giveBack(holding: ByteReservation, { end, isGone }: Call, answer: Answer | undefined): void {
  if (answer?.body instanceof Readable && !isGone) end.once("close", () => holding.giveBack());
  else holding.giveBack();
}

/** Node itself takes the first of these headers and drops the others: a proxy may have taken another one. */
function repeatedHeader(request: HttpRequest): string | undefined {
  if (isRepeated("host", request)) return "Host";
  return isRepeated("authorization", request) ? "Authorization" : undefined;
}

/** @param name in lower case */
function isRepeated(name: string, { rawHeaders }: HttpRequest): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const found = rawHeaders[i];
    if (found.length === name.length && found.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

function asAnswer(result: unknown): Answer {
  return result instanceof Answer ? result : Answer.json(result);
}

/** @param whole what to say of a value that is wrong as a whole */
function check(validate: Validator | undefined, value: unknown, whole: string): void {
  const found = validate?.(value);
  if (found === undefined) return;
  const { param, fault, hint } = found;
  if (param === "") throw new Failure("invalid_request", whole);
  const detail = `${param} ${fault}.`;
  throw new Failure("invalid_request", detail, hint === undefined ? { param } : { param, hint });
}

function refuseHeaders(call: Call, names: readonly string[]): void {
  for (const name of names)
    if (call.header(name.toLowerCase()) !== undefined)
      throw invalidRequest(name, `${name} has no effect here: this call does not take it.`);
}

/** Ids come from the caller where they are harmless, else they are unique: a random start and a number. */
function requestIds(): (given: string | string[] | undefined) => string {
  const start = randomBytes(6).toString("base64url");
  let number = 0;
  return (given) => {
    if (typeof given === "string" && /^[\w.-]{1,64}$/.test(given)) return given;
    number += 1;
    return `${start}-${number.toString(36)}`;
  };
}
