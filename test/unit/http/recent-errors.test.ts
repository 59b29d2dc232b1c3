/** Recent errors: failures of the service's own making, the newest first, bounded, and nothing of the request. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fastify } from "fastify";
import { Failure } from "../../../src/base/errors.ts";
import { RecentErrors } from "../../../src/http/recent-errors.ts";

test("server errors are kept with route, code and id; what callers get wrong is not", async () => {
  const app = fastify();
  let nowMs = Date.parse("2026-11-15T00:00:00Z");
  const recent = new RecentErrors({ now: () => nowMs });
  recent.observe(app);
  app.setErrorHandler((error, _request, reply) => {
    const status = { store_unavailable: 503, not_found: 404 }[(error as Failure).code as string] ?? 500;
    return reply.code(status).send({});
  });
  app.get("/things/:id", async (request) => {
    const { id } = request.params as { id: string };
    if (id === "bug") throw new TypeError("secret");
    throw new Failure(id === "store" ? "store_unavailable" : "not_found", "secret");
  });
  await app.inject("/things/store?api_key=secret");
  await app.inject("/things/missing");
  nowMs += 1000;
  await app.inject("/things/bug");
  const list = recent.list();
  assert.deepEqual(
    list.map(({ status, code, route, method, at }) => [status, code, route, method, at.slice(11, 19)]),
    [
      [500, "internal_error", "/things/:id", "GET", "00:00:01"],
      [503, "store_unavailable", "/things/:id", "GET", "00:00:00"],
    ],
  );
  assert.doesNotMatch(JSON.stringify(list), /secret/);
  for (let i = 0; i < 60; i++) await app.inject("/things/bug");
  assert.equal(recent.list().length, 50);
  await app.close();
});
