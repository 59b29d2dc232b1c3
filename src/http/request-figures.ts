/**
 * What is counted and logged of every answered request. Figures are by route and status; the log line has no
 * query and no body, so that keys and values are in no log.
 */

import type { FastifyInstance } from "fastify";
import type { Metrics } from "../base/metrics.ts";
import type { Caller } from "../memory/authentication.ts";
import type { HttpParts, Log } from "./parts.ts";

/** A request that takes longer is worth a line in the log. */
const SLOW_MS = 1_000;

/** A request as the log sees it: Fastify's has this shape too. */
export interface AnsweredRequest {
  readonly id: string;
  readonly method: string;
  readonly caller: Caller | null;
  readonly sessionId: string | null;
}

/** The label texts of one method, route and status. */
export interface FigureLabels {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly counted: string;
  readonly timed: string;
}

export class RequestFigures {
  readonly #metrics: Metrics;
  readonly #log: Log;
  /** Few combinations occur: their label texts are made once. */
  readonly #labels = new Map<string, FigureLabels>();

  constructor({ metrics, log }: Pick<HttpParts, "metrics" | "log">) {
    this.#metrics = metrics;
    this.#log = log;
    metrics.define({
      name: "sideband_requests_total",
      help: "Answered requests by route and status.",
      type: "counter",
    });
    metrics.define({
      name: "sideband_request_seconds",
      help: "Time from the request's head to its answer, by route.",
      type: "histogram",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    });
    metrics.define({ name: "sideband_connections", help: "Open connections.", type: "gauge" });
  }

  observe(app: FastifyInstance): void {
    let connections = 0;
    app.server.on("connection", (socket) => {
      connections += 1;
      socket.once("close", () => {
        connections -= 1;
      });
    });
    this.#metrics.onCollect(() => this.#metrics.set("sideband_connections", connections));
    // Before the answer is sent, not after: listening for its end costs a fifth of a decode.
    app.addHook("onSend", (request, reply, payload, done) => {
      const labels = this.labels(request.method, request.routeOptions.url ?? "unknown", reply.statusCode);
      this.note(labels, request, reply.elapsedTime);
      done(null, payload);
    });
  }

  labels(method: string, route: string, status: number): FigureLabels {
    const slot = method + route + status;
    let labels = this.#labels.get(slot);
    if (labels === undefined) {
      const timed = `route="${route}"`;
      labels = { method, route, status, counted: `method="${method}",${timed},status="${status}"`, timed };
      this.#labels.set(slot, labels);
    }
    return labels;
  }

  note(labels: FigureLabels, request: AnsweredRequest, ms: number): void {
    this.#metrics.add("sideband_requests_total", labels.counted);
    this.#metrics.observe("sideband_request_seconds", ms / 1000, labels.timed);
    this.#logRequest(labels, request, ms);
  }

  /**
   * A line for each request. At level info are those that someone may look for later: with a session_id, with an
   * error, or slow. The others are at level debug, for a line costs as much as the answer to a decode.
   */
  #logRequest({ route, status }: FigureLabels, request: AnsweredRequest, ms: number): void {
    const { caller, sessionId } = request;
    const quiet = sessionId === null && status < 400 && ms < SLOW_MS;
    if (quiet && !this.#log.isLevelEnabled("debug")) return;
    const line = {
      request_id: request.id,
      method: request.method,
      route,
      status,
      ms: Math.round(ms * 100) / 100,
      ...(caller === null ? {} : { account: caller.account, key_id: caller.keyId }),
      ...(sessionId === null ? {} : { session_id: sessionId }),
    };
    if (quiet) this.#log.debug(line, "request");
    else this.#log.info(line, "request");
  }
}
