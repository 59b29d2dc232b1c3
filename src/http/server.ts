/**
 * The HTTP server of the service over node:http: one dispatcher for everything, on the TCP port and behind the door.
 * Here are the limits against slow and oversized clients, and the orderly end.
 */

import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { accessChecks } from "./access/access.ts";
import { limitConnections } from "./access/connections.ts";
import { ConsoleSessions } from "./access/console-session.ts";
import { Origins, type OriginsOptions } from "./access/origins.ts";
import { clientReader, type TrustProxy, trustsOf } from "./request/client.ts";
import { Dispatcher } from "./request/dispatcher.ts";
import { OneWriteResponse } from "./request/one-write.ts";
import { answerClientError, rawProblem } from "./request/problem.ts";
import { RecentErrors } from "./request/recent-errors.ts";
import { RecentRequests } from "./request/recent-requests.ts";
import { RequestMetrics } from "./request/request-metrics.ts";
import { Router } from "./request/router.ts";
import { allRoutes } from "./routes/all.ts";
import { openWebsite, type WebsiteOptions } from "./routes/website-files.ts";
import type { HttpServices } from "./services.ts";

export interface HttpServerOptions {
  readonly trustProxy: TrustProxy;
  readonly origins: OriginsOptions;
  readonly connectionsMax: number;
  readonly connectionsPerAddress: number;
  readonly timeouts?: Timeouts | undefined;
  /** The built website; without it there is none. */
  readonly website?: WebsiteOptions | undefined;
}

const HEADER_BYTES_MAX = 16_384;
const TIMEOUTS: Timeouts = { headMs: 15_000, bodyMs: 15_000, answerMs: 60_000, checkMs: 1_000 };
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const SWEEP_INTERVAL_MS = 50;

export interface Timeouts {
  /** For the head of a request, and for its body after that. */
  readonly headMs: number;
  readonly bodyMs: number;
  /** How long an answer may wait without a byte of it being taken. */
  readonly answerMs: number;
  /** How often Node looks for requests that are too late. */
  readonly checkMs: number;
}

export class HttpServer {
  readonly #server: Server;
  readonly #dispatcher: Dispatcher;
  readonly #services: HttpServices;

  constructor(services: HttpServices, options: HttpServerOptions) {
    const sessions = new ConsoleSessions(services.adminToken, services.clock);
    const recent = { errors: new RecentErrors(services.clock), requests: new RecentRequests() };
    const { timeouts = TIMEOUTS } = options;
    const { headMs, bodyMs, answerMs, checkMs } = timeouts;
    const trusts = trustsOf(options.trustProxy);
    const isProxy = (address: string) => trusts(address, 0);
    const { routes: pages, notFound } = openWebsite(options.website);
    this.#services = services;
    this.#dispatcher = new Dispatcher({
      services,
      router: new Router(allRoutes({ services, sessions, recent, pages })),
      access: accessChecks(services, { sessions, origins: new Origins(options.origins), isProxy }),
      clientOf: clientReader(trusts),
      metrics: new RequestMetrics(services),
      recent,
      notFound,
    });
    this.#server = createServer(
      {
        headersTimeout: headMs,
        requestTimeout: headMs + bodyMs,
        connectionsCheckingInterval: checkMs,
        keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
        maxHeaderSize: HEADER_BYTES_MAX,
        // The dispatcher refuses a request without Host or with a strange Expect: Node would do it without a problem body.
        requireHostHeader: false,
        ServerResponse: OneWriteResponse,
      },
      this.handle,
    );
    this.#server.timeout = answerMs;
    this.#server.maxConnections = options.connectionsMax;
    this.#server.on("checkExpectation", this.handle);
    this.#server.on("clientError", answerClientError);
    refuseConnect(this.#server);
    limitConnections(this.#server, {
      perAddressMax: options.connectionsPerAddress,
      isProxy,
      metrics: services.metrics,
    });
  }

  /** Answers a request, whichever server it came to. */
  get handle(): RequestListener {
    return this.#dispatcher.handle;
  }

  listen(host: string, port: number): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.#server
        .once("error", reject)
        .listen({ host, port }, () => resolve(this.#server.address() as AddressInfo));
    });
  }

  /**
   * Takes no new connections and lets running requests finish; after `timeoutMs` their connections are cut.
   * Connections are kept alive by their clients: each is closed as soon as its request is answered.
   */
  async close(timeoutMs: number): Promise<void> {
    this.#dispatcher.closing = true;
    this.#services.mcp.close();
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    const sweep = setInterval(() => this.#server.closeIdleConnections(), SWEEP_INTERVAL_MS);
    const cut = setTimeout(() => this.#server.closeAllConnections(), timeoutMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
  }
}

/** Node would close the connection without an answer. */
function refuseConnect(server: Server): void {
  server.on("connect", (_request, socket: Socket) => {
    // Node has let go of this socket: without a listener a client that hangs up would end the process.
    socket.on("error", () => {});
    socket.end(rawProblem("method_not_allowed", "CONNECT is not for this service."), () => socket.destroy());
  });
}
