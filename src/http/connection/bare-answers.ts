/**
 * Answers on the bare socket: to what Node could not parse or waited for too long, to CONNECT, and to one connection
 * too many. There is no request with a route: they are counted under the route "unknown".
 */

import type { Socket } from "node:net";
import { ERRORS } from "../../base/error-codes.ts";
import { problemOf } from "../../contract/errors.ts";
import { afterAnswers } from "../request/pipelining.ts";
import { PROBLEM_TYPE } from "../request/problem.ts";
import type { RequestMetrics } from "../request/request-metrics.ts";

export class BareAnswers {
  readonly #metrics: Pick<RequestMetrics, "countBare">;

  constructor(metrics: Pick<RequestMetrics, "countBare">) {
    this.#metrics = metrics;
  }

  /**
   * To what is no request. It waits until the requests before it on the connection have their answers: the
   * client would take it for one of theirs.
   */
  readonly clientError = (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === "ECONNRESET") socket.destroy();
    else afterAnswers(socket, (isAnswered) => this.#refuse(error, socket, isAnswered));
  };

  #refuse(error: NodeJS.ErrnoException, socket: Socket, isAnswered: boolean): void {
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
    const detail = code === "invalid_request" ? "This is not well-formed HTTP." : ERRORS[code].meaning;
    // Node looks at a late connection once: a client that keeps its side open would keep it for ever.
    this.#send(socket, code, detail, { reason: error.code }, code === "request_timeout");
  }

  /** Node would close the connection without an answer. */
  readonly connect = (_request: unknown, socket: Socket): void => {
    // Node has let go of this socket: without a listener a client that hangs up would end the process.
    socket.on("error", () => {});
    const detail = "CONNECT is not for this service.";
    this.#send(socket, "method_not_allowed", detail, { method: "CONNECT" }, true);
  };

  tooManyConnections(socket: Socket): void {
    socket.on("error", () => {});
    const detail = "There are too many connections from this address.";
    this.#send(socket, "rate_limited", detail, { reason: "connections" }, true);
  }

  #send(
    socket: Socket,
    code: keyof typeof ERRORS,
    detail: string,
    about: { method?: string; reason?: string | undefined },
    closes: boolean,
  ): void {
    this.#metrics.countBare(ERRORS[code].status, about);
    socket.end(problemText(code, detail), () => closes && socket.destroy());
  }
}

function problemText(code: keyof typeof ERRORS, detail: string): string {
  const { status, title } = ERRORS[code];
  const body = JSON.stringify(problemOf(code, detail, "none"));
  return [
    `HTTP/1.1 ${status} ${title}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Connection: close\r\n\r\n${body}`,
  ].join("\r\n");
}
