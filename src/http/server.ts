/**
 * The HTTP server of the service over node:http: one dispatcher for everything, on the TCP port and behind the door.
 * Here are the limits against slow and oversized clients, and the orderly end.
 */

import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { accessChecks } from "./access/access.ts";
import { ConsoleSessions } from "./access/console-session.ts";
import { Origins, type OriginsOptions } from "./access/origins.ts";
import { BareAnswers } from "./connection/bare-answers.ts";
import { gracefulShutdown, limitConnections, listenOn } from "./connection/connections.ts";
import { OneWriteResponse } from "./request/answer.ts";
import { ANSWERS, BODIES, ByteBudget } from "./request/byte-budget.ts";
import { clientReader, type TrustProxy, trustsOf } from "./request/client.ts";
import { Dispatcher } from "./request/dispatcher.ts";
import { isAnswered, serveInOrder } from "./request/pipelining.ts";
import { CallHistory } from "./request/recent-calls.ts";
import { RequestMetrics } from "./request/request-metrics.ts";
import { Router } from "./request/router.ts";
import { allRoutes } from "./routes/all.ts";
import { notFoundPages, type WebsiteOptions, websiteRoutes } from "./routes/website-files.ts";
import type { HttpServices } from "./services.ts";

interface HttpServerOptions {
  readonly trustProxy: TrustProxy;
  readonly origins: OriginsOptions;
  readonly connectionsMax: number;
  readonly connectionsPerAddress: number;
  readonly timeouts?: Timeouts | undefined;
  /** The built website; undefined where there is none. */
  readonly website?: WebsiteOptions | undefined;
}

const HEADER_BYTES_MAX = 16_384;
const TIMEOUTS: Timeouts = {
  headMs: 15_000,
  bodyMs: 15_000,
  slowBodyMs: 10_000,
  answerMs: 60_000,
  checkMs: 1_000,
};
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const STREAMS_END_INTERVAL_MS = 1_000;
const NO_PAUSE =
  "The HTTP parser of this Node cannot be paused: requests that come in one piece are all read, and answered one by one.";

export interface Timeouts {
  /** For the head of a request, and for its body after that. */
  readonly headMs: number;
  readonly bodyMs: number;
  /** For how long a body may come slower than 1 KiB a second. */
  readonly slowBodyMs: number;
  /** How long an answer may wait while its client reads none of it. */
  readonly answerMs: number;
  /** How often Node looks for requests that are too late. */
  readonly checkMs: number;
}

export class HttpServer {
  readonly #server: Server;
  /** Answers requests, whichever server they came to, and those that came to none. */
  readonly dispatcher: Dispatcher;
  readonly #services: HttpServices;
  readonly #end: ReturnType<typeof gracefulShutdown>;

  constructor(services: HttpServices, options: HttpServerOptions) {
    const sessions = new ConsoleSessions(
      services.memory.keyRing.consoleSecrets,
      services.operators,
      services.clock,
    );
    const recent = new CallHistory();
    const { timeouts = TIMEOUTS } = options;
    const { headMs, bodyMs, slowBodyMs, answerMs, checkMs } = timeouts;
    const answerBudget = new ByteBudget(services.metrics, ANSWERS);
    const trusts = trustsOf(options.trustProxy);
    const isProxy = (address: string) => trusts(address, 0);
    const requestMetrics = new RequestMetrics(services);
    const answers = new BareAnswers(requestMetrics);
    const { website } = options;
    const tellsChallenge = services.oauth !== undefined;
    this.#services = services;
    this.dispatcher = new Dispatcher({
      services,
      router: new Router(
        allRoutes({
          services,
          sessions,
          recent,
          answers: answerBudget,
          pages: website === undefined ? [] : websiteRoutes(website),
        }),
      ),
      access: accessChecks(services, {
        sessions,
        origins: new Origins({ ...options.origins, tellsChallenge }),
        isProxy,
      }),
      bodies: new ByteBudget(services.metrics, BODIES),
      answers: answerBudget,
      slowBodyMs,
      clientOf: clientReader(trusts),
      metrics: requestMetrics,
      recent,
      notFoundPages: website === undefined ? undefined : notFoundPages(website.folder),
    });
    this.#server = createServer({
      headersTimeout: headMs,
      requestTimeout: headMs + bodyMs,
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      // The dispatcher refuses a request without Host or with a strange Expect: Node would do it without a problem body.
      requireHostHeader: false,
      ServerResponse: OneWriteResponse,
    });
    if (!serveInOrder(this.#server, this.dispatcher.handle, answers.clientError))
      services.log.error({ node: process.version }, NO_PAUSE);
    this.#server.timeout = answerMs;
    this.#server.maxConnections = options.connectionsMax;
    this.#server.on("timeout", cutUnlessAwaited);
    this.#server.on("connect", answers.connect);
    this.#end = gracefulShutdown(this.#server);
    limitConnections(this.#server, {
      perAddressMax: options.connectionsPerAddress,
      isProxy,
      metrics: services.metrics,
      answers,
    });
  }

  listen(host: string, port: number): Promise<AddressInfo> {
    return listenOn(this.#server, host, port);
  }

  /**
   * Takes no new connections and sends the answers that are being made; after `timeoutMs` the rest is cut.
   * @param keptMs how long a connection is kept after its last use, for the request that its client may be about to send
   */
  async close(timeoutMs: number, keptMs = 0): Promise<void> {
    const { mcp, memory } = this.#services;
    this.dispatcher.closing = true;
    const endStreams = () => {
      mcp.close();
      memory.events.close();
    };
    endStreams();
    // Whoever listened may come back on a connection that is kept.
    const again = setInterval(endStreams, STREAMS_END_INTERVAL_MS);
    await this.#end(timeoutMs, keptMs);
    clearInterval(again);
  }
}

/** A connection has been still for a while: it is idle, its client does not take the answer, or there is none yet. */
function cutUnlessAwaited(socket: Socket): void {
  if (socket.writableLength > 0 || isAnswered(socket)) socket.destroy();
  else socket.setTimeout(socket.timeout ?? 0);
}
