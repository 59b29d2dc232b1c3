/** What a key has used in this month, and when the count begins anew. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { encodeFacts } from "../../../src/memory/encode.ts";
import { readUsage } from "../../../src/memory/usage.ts";
import { caller, memoryServices } from "./memory-services.ts";

async function setUp(context: TestContext, time: string) {
  const memory = await memoryServices(context, time);
  const facts = ["USER.name", "USER.role"].map((label) => ({ label, value: "x" }));
  const input = { userId: "ada", facts, operation: "encode/batch" } as const;
  const encode = () => encodeFacts(memory.services, caller, input);
  return { ...memory, encode };
}

test("usage is the number of facts that the key has written this month, with the key's limit", async (context) => {
  const { services, encode } = await setUp(context, "2028-02-29T12:00:00Z");
  for (let i = 0; i < 2; i++) await encode();
  assert.deepEqual(await readUsage(services, caller), {
    account: "acme",
    user: null,
    access: "write",
    tier: "free",
    limit: 1000,
    used: 4,
    resetsAtMs: Date.parse("2028-03-01T00:00:00Z"),
  });
});

test("usage is 0 from the first millisecond of the next month on", async (context) => {
  const { services, clock, encode } = await setUp(context, "2026-12-31T23:59:59.998Z");
  await encode();
  clock.advance(1);
  assert.equal((await readUsage(services, caller)).used, 2);
  clock.advance(1);
  const { used, resetsAtMs } = await readUsage(services, caller);
  assert.deepEqual([used, resetsAtMs], [0, Date.parse("2027-02-01T00:00:00Z")]);
});

test("usage of one key is not that of another key of the account", async (context) => {
  const { services, encode } = await setUp(context, "2026-11-15T12:00:00Z");
  await encode();
  assert.equal((await readUsage(services, { ...caller, keyId: "key2" })).used, 0);
});
