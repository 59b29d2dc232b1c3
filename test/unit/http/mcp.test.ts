/** The way of a call into /mcp: when a visit ends, and what a batch counts. */

import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { RateLimiter } from "../../../src/base/rate-limiter.ts";
import type { Call } from "../../../src/http/request/call.ts";
import { mcpRoutes } from "../../../src/http/routes/mcp.ts";
import type { HttpServices } from "../../../src/http/services.ts";
import { FakeClock } from "../blockwork/fake-workers.ts";

/** A call that has passed the checks of access, and the signal that its visit was given. */
async function visit({
  body,
  isGone = false,
  rate = 10,
}: {
  body?: unknown;
  isGone?: boolean;
  rate?: number;
}) {
  const end = new EventEmitter();
  let given: AbortSignal | undefined;
  const services = {
    mcp: {
      answer: async ({ ended }: { ended: AbortSignal }) => {
        given = ended;
        return new Response(null);
      },
    },
    limits: { key: new RateLimiter({ countMax: rate, windowMs: 1000, clock: new FakeClock() }) },
    door: { admits: () => false },
  };
  const [{ handle }] = mcpRoutes(services as unknown as HttpServices);
  const request = { headers: {}, url: "/mcp" };
  await handle({
    method: "POST",
    request,
    end,
    isGone,
    body,
    caller: { keyId: "k" },
  } as unknown as Call);
  return { end, ended: given! };
}

test("a visit ends with its answer, and for a client that has already gone at once", async () => {
  const { end, ended } = await visit({});
  assert.equal(ended.aborted, false);
  end.emit("close");
  assert.equal(ended.aborted, true);
  assert.equal((await visit({ isGone: true })).ended.aborted, true);
});

test("of a batch, the first call was counted with its request, and each other one is counted here", async () => {
  const batch = (calls: number) => Array.from({ length: calls }, (_, id) => ({ id, method: "ping" }));
  await visit({ body: batch(1), rate: 0 });
  await visit({ body: batch(11), rate: 10 });
  await assert.rejects(visit({ body: batch(12), rate: 10 }), { code: "rate_limited" });
});
