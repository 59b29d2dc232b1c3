/**
 * What is counted and logged of every answered request. Metrics are by route and status; the log line has no query and
 * no body, so that keys and values are in no log.
 */

import type { Metrics } from "../../base/metrics.ts";
import type { HttpServices, Log } from "../services.ts";
import type { Call } from "./call.ts";
import { causesOf } from "./problem.ts";

/** A request that takes longer is worth a line in the log. */
const SLOW_MS = 1_000;
/** Anyone may send any text as the name of a client. */
const CLIENT_LENGTH_MAX = 40;

/** The label texts of one method, route and status. */
interface MetricLabels {
  readonly counted: string;
  readonly timed: string;
}

export class RequestMetrics {
  readonly #metrics: Metrics;
  readonly #log: Log;
  /** Whether every request has a line. */
  readonly #logsAll: boolean;
  /** By route, method and status. Few combinations occur: their label texts are made once. */
  readonly #labels = new Map<string, Map<string, Map<number, MetricLabels>>>();

  constructor({ metrics, log }: Pick<HttpServices, "metrics" | "log">) {
    this.#metrics = metrics;
    this.#log = log;
    this.#logsAll = log.isLevelEnabled("debug");
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
  }

  /** Before the answer is sent, not after: listening for its end costs a fifth of a decode. */
  count(call: Call, status: number): void {
    const ms = performance.now() - call.startedMs;
    const { counted, timed } = this.#labelsOf(call.method, call.routePath, status);
    this.#metrics.add("sideband_requests_total", counted);
    this.#metrics.observe("sideband_request_seconds", ms / 1000, timed);
    this.#writeLine(call, status, ms);
  }

  /** An answer on the bare socket: there is no request whose time could be taken. */
  countBare(
    status: number,
    { method = "unknown", reason }: { method?: string; reason?: string | undefined },
  ): void {
    const route = "unknown";
    this.#metrics.add("sideband_requests_total", this.#labelsOf(method, route, status).counted);
    this.#log.info({ method, route, status, reason }, "request");
  }

  #labelsOf(method: string, route: string, status: number): MetricLabels {
    const labels = this.#labels.get(route)?.get(method)?.get(status);
    if (labels !== undefined) return labels;
    const timed = `route="${route}"`;
    const made = { counted: `method="${method}",${timed},status="${status}"`, timed };
    const byMethod = this.#labels.get(route) ?? new Map<string, Map<number, MetricLabels>>();
    const byStatus = byMethod.get(method) ?? new Map<number, MetricLabels>();
    this.#labels.set(route, byMethod.set(method, byStatus.set(status, made)));
    return made;
  }

  /**
   * A line for each request. At level info are those that someone may look for later: with a session_id, with an
   * error, or slow. The others are at level debug, for a line costs as much as the answer to a decode.
   */
  #writeLine(call: Call, status: number, ms: number): void {
    const { caller, sessionId } = call;
    const quiet = sessionId === undefined && status < 400 && ms < SLOW_MS;
    if (quiet && !this.#logsAll) return;
    const client = call.header("sideband-client");
    const line = {
      request_id: call.id,
      method: call.method,
      route: call.routePath,
      status,
      ms: Math.round(ms * 100) / 100,
      ...(caller === undefined ? {} : { account: caller.account, key_id: caller.keyId }),
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
      ...(client === undefined ? {} : { client: client.slice(0, CLIENT_LENGTH_MAX) }),
      ...failureFields(call, status),
    };
    if (quiet) this.#log.debug(line, "request");
    else this.#log.info(line, "request");
  }
}

/**
 * Who was refused, and by which rule. Why is added where it is the operator's business: for faults of the service, and for
 * refusals of what is the operator's own. The detail of other refusals may repeat what was sent.
 */
function failureFields({ failure, client, access, routePath }: Call, status: number): object {
  if (failure === undefined) return {};
  const { code, message, extra = {} } = failure;
  const isOperators = status >= 500 || access === "admin" || routePath.startsWith("/console/");
  return {
    address: client.address,
    code,
    ...(isOperators ? { reason: extra.reason ?? (causesOf(extra.cause) || message) } : {}),
  };
}
