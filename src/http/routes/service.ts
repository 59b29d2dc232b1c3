/** What needs no key: channels, requests for keys, the API's description, health and metrics. */

import { CHANNELS } from "../../base/channels.ts";
import { Failure } from "../../base/errors.ts";
import { openApiDocument } from "../../contract/openapi.ts";
import { enforce } from "../access/rate-limiter.ts";
import { Answer, JSON_TYPE } from "../request/answer.ts";
import { limitGroupOf } from "../request/client.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";

type ServiceOperation = "channels" | "requestKey" | "openapi" | "health" | "ready" | "metrics";

/** A probe writes to the disk: it is not repeated more often than this. */
const PROBE_INTERVAL_MS = 1_000;

export function serviceRoutes(services: HttpServices): Handlers<ServiceOperation> {
  const { publicUrl: serverUrl, version, memory, limits, keys, metrics } = services;
  const openapi = JSON.stringify(openApiDocument({ version, serverUrl }));
  let probe = { atMs: Number.NEGATIVE_INFINITY, result: Promise.resolve() };

  return {
    channels: () => ({ channels: [...CHANNELS] }),

    async requestKey(call) {
      enforce(limits.keyRequests, limitGroupOf(call.client));
      const { name, email, purpose, tier } = call.body;
      await keys.request({ name, email, purpose, tier });
      return Answer.json({ status: "received" } as const, { status: 202 });
    },

    openapi: () => new Answer(openapi, { type: JSON_TYPE }),

    health: () => ({ status: "ok" }),

    async ready() {
      const nowMs = performance.now();
      if (nowMs - probe.atMs >= PROBE_INTERVAL_MS) probe = { atMs: nowMs, result: memory.store.probe() };
      await probe.result;
      if (!memory.blockWork.healthy) {
        throw new Failure("overloaded", "The reader model's threads keep failing.", { retryAfterS: 1 });
      }
      return { status: "ready" };
    },

    metrics: () => new Answer(metrics.render(), { type: "text/plain; version=0.0.4; charset=utf-8" }),
  };
}
