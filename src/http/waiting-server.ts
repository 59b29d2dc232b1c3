/**
 * Answers on the service's port while the service waits for its database: /healthz says that the process runs, and
 * everything else is 503.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ERRORS } from "../base/error-codes.ts";
import { problemOf } from "../contract/errors.ts";
import { listenOn } from "./connection/connections.ts";
import { JSON_TYPE } from "./request/answer.ts";
import { PROBLEM_TYPE } from "./request/problem.ts";

const RETRY_AFTER_S = "2";
const HEALTH = /^(\/v1)?\/healthz(\?|$)/;

export class WaitingServer {
  readonly #server: Server = createServer((request, response) => answer(request, response, this.reason));
  /** Why the database cannot be used. */
  reason: string | undefined;

  listen(host: string, port: number): Promise<AddressInfo> {
    return listenOn(this.#server, host, port);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

function answer(request: IncomingMessage, response: ServerResponse, reason = ""): void {
  // A body is not waited for.
  response.setHeader("connection", "close");
  if (HEALTH.test(request.url ?? "")) {
    response.writeHead(200, { "content-type": JSON_TYPE }).end(JSON.stringify({ status: "ok" }));
    return;
  }
  const problem = problemOf(
    "store_unavailable",
    `The service is starting and waits for its database. ${reason}`.trim(),
    "none",
  );
  response
    .writeHead(ERRORS.store_unavailable.status, {
      "content-type": PROBLEM_TYPE,
      "retry-after": RETRY_AFTER_S,
    })
    .end(JSON.stringify(problem));
}
