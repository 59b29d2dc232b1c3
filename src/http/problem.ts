/**
 * Whatever goes wrong becomes a problem answer: the service's own failures, Fastify's, Node's parser errors.
 * Only the public text leaves; anything unexpected is a 500 without a word about its cause, which is logged.
 */

import type { Socket } from "node:net";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../base/errors.ts";
import { ERRORS, problemOf } from "../contract/errors.ts";
import type { Log } from "./parts.ts";

interface ValidationEntry {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  readonly params: Record<string, unknown>;
}

export function sendProblem(reply: FastifyReply, failure: Failure, upgradeUrl: string): FastifyReply {
  const { status } = ERRORS[failure.code];
  const { param, hint, retryAfterS, allow } = failure.extra;
  const upgrades = failure.code === "monthly_limit_exceeded";
  if (status === 401) void reply.header("www-authenticate", 'Bearer realm="sideband"');
  if (allow !== undefined) void reply.header("allow", allow);
  if (retryAfterS !== undefined) void reply.header("retry-after", String(retryAfterS));
  if (upgrades) void reply.header("link", `<${upgradeUrl}>; rel="upgrade"`);
  const problem = problemOf(failure.code, failure.message, reply.request.id, {
    param,
    hint,
    upgradeUrl: upgrades ? upgradeUrl : undefined,
  });
  return reply
    .code(status)
    .type("application/problem+json; charset=utf-8")
    .serializer(JSON.stringify)
    .send(problem);
}

/** The failure that an error stands for; what is not expected is an internal error. */
export function failureOf(error: unknown, request: FastifyRequest, log: Log): Failure {
  if (error instanceof Failure) {
    if (error.code === "store_corrupt")
      log.error({ err: error.extra.cause, request_id: request.id }, "damaged record");
    return error;
  }
  const { code, statusCode, validation } = error as FastifyError;
  if (Array.isArray(validation)) return validationFailure(error as FastifyError);
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new Failure("body_too_large", ERRORS.body_too_large.meaning);
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
    case "FST_ERR_CTP_EMPTY_TYPE":
      return new Failure("unsupported_media_type", "Send the body with Content-Type: application/json.");
    case "FST_ERR_BAD_URL":
      return new Failure("invalid_request", "The address is not well-formed.");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new Failure("invalid_request", "Content-Length does not match the body.", {
        param: "Content-Length",
      });
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new Failure("invalid_request", "The request is not well-formed.");
  }
  log.error({ err: error, request_id: request.id }, "unexpected error");
  return new Failure("internal_error", "Something went wrong inside the service.", { cause: error });
}

/** From the schema's complaint to a sentence that names the field. */
function validationFailure(error: FastifyError): Failure {
  const entry = (error.validation as unknown as ValidationEntry[])[0];
  const path = entry.instancePath
    .slice(1)
    .replace(/\/(\d+)/g, "[$1]")
    .replaceAll("/", ".");
  if (entry.keyword === "required") {
    const name = String(entry.params.missingProperty);
    const param = path === "" ? name : `${path}.${name}`;
    return new Failure("invalid_request", `${param} is required.`, { param });
  }
  if (path === "") {
    const what =
      error.validationContext === "body" ? "The body must be a JSON object." : "The query is not valid.";
    return new Failure("invalid_request", what);
  }
  return new Failure("invalid_request", `${path} ${wordsFor(entry)}.`, { param: path });
}

function wordsFor({ keyword, message, params }: ValidationEntry): string {
  switch (keyword) {
    case "minLength":
      return `must have at least ${params.limit} character`;
    case "maxLength":
      return `must have at most ${params.limit} characters`;
    case "minItems":
      return `must have at least ${params.limit} entry`;
    case "maxItems":
      return `must have at most ${params.limit} entries`;
    case "pattern":
      return "does not have the right form";
    case "anyOf":
    case "const":
      return "is none of the allowed values";
    default:
      return message ?? "is not valid";
  }
}

/** Requests that Node could not even parse are answered by hand, on the bare socket. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const code =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "headers_too_large"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "request_timeout"
        : "invalid_request";
  socket.end(
    rawProblem(code, code === "invalid_request" ? "This is not well-formed HTTP." : ERRORS[code].meaning),
  );
}

export function rawProblem(code: keyof typeof ERRORS, detail: string, headers = ""): string {
  const { status, title } = ERRORS[code];
  const body = JSON.stringify(problemOf(code, detail, "none"));
  return [
    `HTTP/1.1 ${status} ${title}`,
    "Content-Type: application/problem+json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Connection: close\r\n${headers}\r\n${body}`,
  ].join("\r\n");
}
