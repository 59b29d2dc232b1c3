/** A side of the comparison with Fastify, in a process of its own: the service, or Fastify with two of its routes. */

import { fastify } from "fastify";
import { andThen } from "../../src/base/maybe-promise.ts";
import { readConfig } from "../../src/config.ts";
import { TokenBody } from "../../src/contract/key-schemas.ts";
import { DecodeQuery } from "../../src/contract/schemas.ts";
import type { Static } from "../../src/contract/type.ts";
import { decodeAnswer } from "../../src/http/routes/answer-mapping.ts";
import { type Core, openCore } from "../../src/main/core.ts";
import { startService } from "../../src/main/service.ts";
import type { Caller } from "../../src/memory/authentication.ts";
import { decodeFact } from "../../src/memory/decode.ts";

export type Side = "dispatcher" | "Fastify" | "Fastify with metrics and headers";

process.on("disconnect", () => process.exit());
process.on("message", async ({ side, folder }: { side: Side; folder: string }) => {
  const config = readConfig({ SIDEBAND_DATA: folder, SIDEBAND_PORT: "0", SIDEBAND_LOG_LEVEL: "fatal" });
  const service = side === "dispatcher" ? await startService(config, { warm: false }) : undefined;
  const core = service?.core ?? (await openCore(config, { create: true }));
  const { key } = await core.keys.create({ account: "bench", tier: "unlimited" });
  const changes = [{ place: "", label: "USER.name", value: "Ada Lovelace" }];
  await core.store.write({ account: "bench", userId: "ada", changes, places: [""], nowMs: Date.now() });
  const url = service?.url ?? (await serve(core, side !== "Fastify"));
  process.send?.({ port: Number(new URL(url).port), key });
});

/** Checks the key and the schema as the service does, and answers the same JSON. */
function serve({ authentication, memory, metrics }: Core, isMeasured: boolean): Promise<string> {
  const app = fastify();
  const callers = new WeakMap<object, Caller>();
  app.addHook("onRequest", (request, _reply, done) => {
    const token = request.headers.authorization?.slice("Bearer ".length) ?? "";
    andThen(authentication.callerOf(token), (caller) => {
      callers.set(request, caller);
      done();
    });
  });
  if (isMeasured) {
    metrics.define({ name: "requests", help: "Requests.", type: "counter" });
    metrics.define({ name: "seconds", help: "Their time.", type: "histogram", buckets: [0.001, 0.01, 0.1] });
    app.addHook("onSend", (request, reply, _payload, done) => {
      metrics.add("requests", `route="${request.routeOptions.url}"`);
      metrics.observe("seconds", reply.elapsedTime / 1000, `route="${request.routeOptions.url}"`);
      reply.header("x-request-id", request.id).header("etag", '"1"');
      done();
    });
  }
  app.get<{ Querystring: Static<typeof DecodeQuery> }>(
    "/decode",
    { schema: { querystring: DecodeQuery } },
    (request, reply) => {
      const { user_id: userId, label } = request.query;
      const found = decodeFact(memory, callers.get(request)!.account, { userId, label });
      andThen(found, (decoded) => reply.send(decodeAnswer(decoded)));
    },
  );
  app.post<{ Body: Static<typeof TokenBody> }>(
    "/tokens",
    { schema: { body: TokenBody } },
    (request, reply) => {
      const { user_id: user, access, ttl_s: ttlS } = request.body;
      const { token, expiresAtMs } = authentication.newToken(callers.get(request)!, { user, access, ttlS });
      reply.send({ token, expires_at: new Date(expiresAtMs).toISOString() });
    },
  );
  return app.listen({ host: "127.0.0.1", port: 0 });
}
