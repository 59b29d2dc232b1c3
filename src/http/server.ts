/**
 * The HTTP server: Fastify with the routes of the table of operations, each at its path and under /v1. Request
 * ids, problem answers, strict parsing, limits against slow and oversized clients.
 */

import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { Failure } from "../base/errors.ts";
import { OPERATIONS, type Operation, type OperationId } from "../contract/operations.ts";
import { type AccessHook, accessHooks } from "./access.ts";
import { ConsoleSessions, registerConsole } from "./console-session.ts";
import { LazySchemas } from "./lazy-schemas.ts";
import { OneWriteResponse } from "./one-write.ts";
import type { HttpParts } from "./parts.ts";
import { answerClientError, failureOf, rawProblem, sendProblem } from "./problem.ts";
import { parseQuery } from "./query.ts";
import { QuickAnswers } from "./quick-answers.ts";
import { RecentErrors } from "./recent-errors.ts";
import { RequestFigures } from "./request-figures.ts";
import { adminRoutes } from "./routes/admin.ts";
import { blockRoutes } from "./routes/blocks.ts";
import { demoRoutes } from "./routes/demo.ts";
import { encodeRoutes } from "./routes/encode.ts";
import { forgetRoutes } from "./routes/forget.ts";
import { registerOperator } from "./routes/operator.ts";
import { recallRoutes } from "./routes/recall.ts";
import { serviceRoutes } from "./routes/service.ts";
import { websiteRoutes } from "./routes/website.ts";
import { answerOtherMethods } from "./unrouted.ts";
import { registerWebsite } from "./website.ts";

export interface ServerOptions {
  /** Proxies whose X-Forwarded-For counts: so many hops, or these addresses. */
  readonly trustProxy: number | readonly string[] | false;
  readonly connectionsMax: number;
  /** Routes of other layers, for callers with a key. */
  readonly extensions?: readonly { register(app: FastifyInstance, authenticate: AccessHook): void }[];
  /** Where the built website is; without it there is none. */
  readonly websiteFolder?: string | undefined;
}

export const BODY_BYTES_MAX = 65_536;
const HEADER_BYTES_MAX = 16_384;
const REQUEST_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const VERSION_PREFIX = "/v1";

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

export function createServer(parts: HttpParts, options: ServerOptions): FastifyInstance {
  const requestId = requestIds();
  const schemas = new LazySchemas();
  const app = fastify({
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    trustProxy: trustOf(options.trustProxy),
    rewriteUrl: withoutVersion,
    genReqId: ({ headers }) => requestId(headers["x-request-id"]),
    requestIdHeader: false,
    return503OnClosing: false,
    forceCloseConnections: "idle",
    http: { maxHeaderSize: HEADER_BYTES_MAX, requireHostHeader: false, ServerResponse: OneWriteResponse },
    clientErrorHandler: answerClientError,
    routerOptions: {
      querystringParser: parseQuery as never,
      ignoreTrailingSlash: false,
      maxParamLength: 128,
    },
    frameworkErrors: (error, request, reply) =>
      void sendProblem(reply, failureOf(error, request, parts.log), parts.upgradeUrl),
    schemaController: schemas.controller,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allErrors: false } },
  });
  schemas.warm(app);
  app.server.maxConnections = options.connectionsMax;
  refuseOddities(app);
  parseJsonStrictly(app);
  app.decorateRequest("caller", null);
  app.decorateRequest("sessionId", null);
  app.addHook("onRequest", (request, reply, done) => {
    void reply.header("x-request-id", request.id);
    // Node would answer this one without a body.
    const hostless = request.headers.host === undefined && request.raw.httpVersion === "1.1";
    done(
      hostless
        ? new Failure("invalid_request", "A request has a Host header.", { param: "Host" })
        : undefined,
    );
  });
  app.setErrorHandler((error, request, reply) =>
    sendProblem(reply, failureOf(error, request, parts.log), parts.upgradeUrl),
  );
  const figures = new RequestFigures(parts);
  figures.observe(app);
  const recentErrors = new RecentErrors(parts.clock);
  recentErrors.observe(app);
  const sessions = new ConsoleSessions(parts.adminToken, parts.clock);
  if (options.websiteFolder !== undefined) registerWebsite(app, { folder: options.websiteFolder });
  registerConsole(app, sessions, parts);
  register(app, parts, { sessions, recentErrors });
  for (const extension of options.extensions ?? []) extension.register(app, accessHooks(parts, sessions).key);
  registerOperator(app, parts);
  answerOtherMethods(app, parts.upgradeUrl);
  new QuickAnswers(parts, { figures, requestId }).install(app);
  return app;
}

/** Every path also exists under /v1: it is the same path. */
function withoutVersion({ url = "/" }: { url?: string | undefined }): string {
  return url.startsWith(`${VERSION_PREFIX}/`) ? url.slice(VERSION_PREFIX.length) : url;
}

function register(
  app: FastifyInstance,
  parts: HttpParts,
  { sessions, recentErrors }: { sessions: ConsoleSessions; recentErrors: RecentErrors },
): void {
  const handlers: Record<OperationId, Handler> = {
    ...encodeRoutes(parts),
    ...recallRoutes(parts),
    ...blockRoutes(parts),
    ...forgetRoutes(parts),
    ...demoRoutes(parts),
    ...serviceRoutes(parts),
    ...adminRoutes(parts),
    ...websiteRoutes(parts, recentErrors),
  };
  const access = accessHooks(parts, sessions);
  for (const [id, operation] of Object.entries(OPERATIONS) as [OperationId, Operation][]) {
    // The website has a reference of its own at /docs.
    if (app.hasRoute({ method: operation.method, url: operation.path })) continue;
    app.route({
      method: operation.method,
      url: operation.path,
      schema: {
        ...(operation.query === undefined ? {} : { querystring: operation.query }),
        ...(operation.params === undefined ? {} : { params: operation.params }),
        ...(operation.body === undefined ? {} : { body: operation.body }),
        ...(operation.answer === undefined ? {} : { response: { "2xx": operation.answer } }),
      },
      ...(operation.bodyBytesMax === undefined ? {} : { bodyLimit: operation.bodyBytesMax }),
      onRequest: access[operation.access],
      handler: handlers[id] as never,
    });
  }
}

/** Bodies are JSON in well-formed UTF-8, whatever their fields are called; an empty body is no body. */
function parseJsonStrictly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    const bytes = body as Buffer;
    if (bytes.length === 0) return done(null, undefined);
    if (!isUtf8(bytes)) return done(new Failure("invalid_request", "The body is not well-formed UTF-8."));
    try {
      done(null, JSON.parse(bytes.toString()));
    } catch {
      done(new Failure("invalid_request", "The body is not JSON."));
    }
  });
}

function trustOf(
  trusted: ServerOptions["trustProxy"],
): boolean | string[] | ((address: string, hop: number) => boolean) {
  if (typeof trusted === "number") return (_address, hop) => hop < trusted;
  return trusted === false ? false : [...trusted];
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

/** CONNECT and strange expectations would otherwise be closed or answered by Node without a problem body. */
function refuseOddities(app: FastifyInstance): void {
  app.server.on("connect", (_request, socket: Socket) => {
    socket.end(rawProblem("method_not_allowed", "CONNECT is not for this service."));
  });
  app.server.on("checkExpectation", (_request, response) => {
    response.shouldKeepAlive = false;
    response.socket?.end(rawProblem("invalid_request", "Only Expect: 100-continue is understood."));
  });
}
