/** What needs no key: channels, requests for keys, the API's description, health and figures. */

import type { FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../../base/errors.ts";
import type { KeyRequestBody } from "../../contract/admin-schemas.ts";
import { openApiDocument } from "../../contract/openapi.ts";
import { CHANNELS } from "../../memory/channels.ts";
import type { HttpParts } from "../parts.ts";
import { enforce } from "../rate-limiter.ts";
import { PAGE_POLICY, referencePage } from "../reference-page.ts";

/** A probe writes to the disk: it is not repeated more often than this. */
const PROBE_INTERVAL_MS = 1_000;
/** As text: the first thing that a new process is asked waits for no serialiser. */
const HEALTHY = '{"status":"ok"}';
const READY = '{"status":"ready"}';

export function serviceRoutes(parts: HttpParts) {
  const { publicUrl: serverUrl, version } = parts;
  const openapi = JSON.stringify(openApiDocument({ version, serverUrl }));
  const page = referencePage({ version, serverUrl });
  let probe = { atMs: Number.NEGATIVE_INFINITY, result: Promise.resolve() };

  return {
    async channels() {
      return { channels: CHANNELS };
    },

    async requestKey(request: FastifyRequest, reply: FastifyReply) {
      enforce(parts.limits.keyRequests, request.ip);
      const { name, email, purpose, tier } = request.body as KeyRequestBody;
      if (![name, email, purpose].every((text) => text.isWellFormed())) {
        throw new Failure("invalid_request", "The texts must be well-formed Unicode.");
      }
      await parts.desk.request({ name, email, purpose, tier });
      return reply.code(202).send({ status: "received" });
    },

    async openapi(_: FastifyRequest, reply: FastifyReply) {
      return reply.type("application/json; charset=utf-8").send(openapi);
    },

    async reference(_: FastifyRequest, reply: FastifyReply) {
      return reply.type("text/html; charset=utf-8").header("content-security-policy", PAGE_POLICY).send(page);
    },

    async health(_: FastifyRequest, reply: FastifyReply) {
      return reply.type("application/json; charset=utf-8").send(HEALTHY);
    },

    async ready(_: FastifyRequest, reply: FastifyReply) {
      const nowMs = performance.now();
      if (nowMs - probe.atMs >= PROBE_INTERVAL_MS)
        probe = { atMs: nowMs, result: parts.memory.store.probe() };
      await probe.result;
      if (!parts.memory.blockWork.healthy) {
        throw new Failure("overloaded", "The reader model's threads keep failing.", { retryAfterS: 1 });
      }
      return reply.type("application/json; charset=utf-8").send(READY);
    },

    async metrics(_: FastifyRequest, reply: FastifyReply) {
      return reply.type("text/plain; version=0.0.4; charset=utf-8").send(parts.metrics.render());
    },
  };
}
