/** GET /users/events without a network: what many streams of one change share. */

import assert from "node:assert/strict";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import type { Answer } from "../../../src/http/request/answer.ts";
import { ANSWERS, ByteBudget } from "../../../src/http/request/byte-budget.ts";
import { eventRoutes } from "../../../src/http/routes/events.ts";
import type { HttpServices } from "../../../src/http/services.ts";
import { caller, memoryServices } from "../memory/memory-services.ts";

test("a change is encoded once for all streams that tell of it", async (context) => {
  const { services, write } = await memoryServices(context);
  const authentication = { watch: () => () => {} };
  const { events } = eventRoutes(
    { memory: services, authentication } as unknown as HttpServices,
    new ByteBudget(new Metrics(), ANSWERS),
  );
  const queries = [{}, {}, { user_id: "ada" }];
  const streams = await Promise.all(
    queries.map(async (query) => {
      const call = { query, caller, header: () => undefined, isGone: false, holdAnswer() {} };
      return ((await events(call as never)) as Answer).body as Readable;
    }),
  );
  context.after(() => {
    for (const stream of streams) stream.destroy();
  });
  for (const stream of streams) assert.match(String(stream.read()), /^: listening/);
  const told = Promise.all(streams.map((stream) => once(stream, "data")));
  await write("ada", "one");
  const [[first], ...others] = await told;
  assert.match(String(first), /^id: .*\nevent: change\ndata: \{"user_id":"ada"/);
  for (const [other] of others) assert.equal(other, first, "another encoding of the same event");
});
