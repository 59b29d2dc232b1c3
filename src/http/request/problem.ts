/**
 * Whatever goes wrong becomes a problem answer: the service's own failures and Node's parser errors. Only the public
 * text leaves; anything unexpected is a 500 without a word about its cause, which is logged.
 */

import type { Socket } from "node:net";
import { ERRORS } from "../../base/error-codes.ts";
import { Failure } from "../../base/errors.ts";
import { problemOf } from "../../contract/errors.ts";
import type { Log } from "../services.ts";
import { Answer } from "./answer.ts";
import { Call } from "./call.ts";

const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

export function problemAnswer(failure: Failure, call: Call, upgradeUrl: string): Answer {
  const { status } = ERRORS[failure.code];
  const { param, hint, retryAfterS, allow, used } = failure.extra;
  // Others may have used the rest of the limit since the request began.
  if (used !== undefined) call.used = used;
  const upgrades = failure.code === "monthly_limit_exceeded";
  const headers: string[] = [];
  if (status === 401) headers.push("www-authenticate", 'Bearer realm="sideband"');
  if (allow !== undefined) headers.push("allow", allow);
  if (retryAfterS !== undefined) headers.push("retry-after", String(retryAfterS));
  if (upgrades) headers.push("link", `<${upgradeUrl}>; rel="upgrade"`);
  const problem = problemOf(failure.code, failure.message, call.id, {
    param,
    hint,
    upgradeUrl: upgrades ? upgradeUrl : undefined,
  });
  return new Answer(JSON.stringify(problem), { status, headers, type: PROBLEM_TYPE });
}

/** The failure that an error stands for; what is not expected is an internal error. */
export function failureOf(error: unknown, call: Pick<Call, "id">, log: Log): Failure {
  if (error instanceof Failure) {
    const { cause } = error.extra;
    if (cause !== undefined) log.error({ err: cause, code: error.code, request_id: call.id }, error.message);
    return error;
  }
  log.error({ err: error, request_id: call.id }, "unexpected error");
  return new Failure("internal_error", "Something went wrong inside the service.", { cause: error });
}

/**
 * Requests that Node could not even parse are answered by hand, on the bare socket, when those before them on the
 * connection have their answers: the client would take it for one of theirs.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET") socket.destroy();
  else Call.afterAnswers(socket, (isAnswered) => refuse(socket, error, isAnswered));
}

function refuse(socket: Socket, error: NodeJS.ErrnoException, isAnswered: boolean): void {
  if (socket.destroyed || !socket.writable || isAnswered) {
    socket.destroySoon();
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
    // Node looks at a late connection once: a client that keeps its side open would keep it for ever.
    () => code === "request_timeout" && socket.destroy(),
  );
}

export function rawProblem(code: keyof typeof ERRORS, detail: string): string {
  const { status, title } = ERRORS[code];
  const body = JSON.stringify(problemOf(code, detail, "none"));
  return [
    `HTTP/1.1 ${status} ${title}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Connection: close\r\n\r\n${body}`,
  ].join("\r\n");
}
