/**
 * Requests that no route takes: an unknown address is 404, another method on a known address is 405 with
 * Allow, OPTIONS says what is allowed. Browsers of any origin may use the demo and what needs no key.
 */

import type { FastifyInstance } from "fastify";
import { Failure } from "../base/errors.ts";
import { OPERATIONS, type Operation } from "../contract/operations.ts";
import { sendProblem } from "./problem.ts";

interface Place {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
  open: boolean;
}

const PREFLIGHT_SECONDS = "86400";

export function answerOtherMethods(app: FastifyInstance, upgradeUrl: string): void {
  const places = placesOf();
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0];
    const place = places.find(({ pattern }) => pattern.test(path));
    if (place === undefined) {
      return sendProblem(reply, new Failure("not_found", "There is nothing at this address."), upgradeUrl);
    }
    const allow = [...place.methods, "OPTIONS"].join(", ");
    if (place.open) {
      void reply.header("access-control-allow-origin", "*");
      if (request.method === "OPTIONS") {
        void reply.headers({
          "access-control-allow-methods": allow,
          "access-control-allow-headers": "Content-Type, If-None-Match, X-Request-Id",
          "access-control-max-age": PREFLIGHT_SECONDS,
        });
      }
    }
    if (request.method === "OPTIONS") return reply.code(204).header("allow", allow).send();
    const detail = `Use ${[...place.methods].join(" or ")} here.`;
    return sendProblem(reply, new Failure("method_not_allowed", detail, { allow }), upgradeUrl);
  });
}

function placesOf(): Place[] {
  const places = new Map<string, Place>();
  for (const { path, method, access } of Object.values(OPERATIONS) as Operation[]) {
    const source = path.replaceAll(".", "\\.").replace(/:\w+/g, "[^/]+");
    const place = places.get(source) ?? {
      pattern: new RegExp(`^${source}$`),
      methods: new Set<string>(),
      open: false,
    };
    place.methods.add(method);
    if (method === "GET") place.methods.add("HEAD");
    place.open ||= access === "demo" || access === "open";
    places.set(source, place);
  }
  return [...places.values()];
}
