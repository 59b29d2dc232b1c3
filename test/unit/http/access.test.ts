/** Who may call: a check refuses or lets pass, and changes nothing that is stored. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { RateLimiter } from "../../../src/base/rate-limiter.ts";
import { type AccessOptions, accessChecks } from "../../../src/http/access/access.ts";
import type { Call } from "../../../src/http/request/call.ts";
import type { HttpServices } from "../../../src/http/services.ts";
import { DEMO_ACCOUNT, DEMO_USER, Demo } from "../../../src/memory/demo.ts";
import { viewOf } from "../../fixtures/views.ts";
import { memoryServices } from "../memory/memory-services.ts";

test("the demo's check forgets no fact, also where a reset is due", async (context) => {
  const { services, store, clock } = await memoryServices(context, "2026-11-15T12:30:00Z");
  const demo = new Demo(services, 3_600_000);
  await demo.encode("USER.name", "Ada", await demo.userOf(undefined));
  clock.advance(3_600_000);
  const limits = { demo: new RateLimiter({ countMax: 60, windowMs: 60_000, clock }) };
  const checks = accessChecks(
    { demo, clock, limits, door: {} } as unknown as HttpServices,
    {} as AccessOptions,
  );
  const call = { client: { address: "192.0.2.1" } } as Call;
  await checks.demo(call);
  assert.ok(call.headers.includes("sideband-demo-resets-in"), "it was let pass");
  assert.equal(store.readFact(viewOf(DEMO_USER, DEMO_ACCOUNT), "USER.name")?.value, "Ada");
});
