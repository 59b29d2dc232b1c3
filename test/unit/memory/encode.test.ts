/** What refuses a write, and what makes a repeated request another one; test/property/life has what is written. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Failure } from "../../../src/base/errors.ts";
import type { Caller } from "../../../src/memory/authentication.ts";
import { QUIET_MS } from "../../../src/memory/blocks.ts";
import { type EncodeInput, encodeFacts } from "../../../src/memory/encode.ts";
import type { UserState } from "../../../src/memory/ports.ts";
import { numberOf, viewOf } from "../../fixtures/views.ts";
import { until } from "../../fixtures/waiting.ts";
import { ACCOUNT, caller, memoryServices } from "./memory-services.ts";

type Facts = EncodeInput["facts"];

const NAME = { label: "USER.name", value: "Ada" };
const ROLE = { label: "USER.role", value: "engineer" };

async function setUp(context: TestContext, time?: string) {
  const memory = await memoryServices(context, time);
  const encode = (facts: Facts, input: Partial<EncodeInput> = {}, by: Caller = caller) =>
    encodeFacts(memory.services, by, { userId: "ada", facts, operation: "encode/batch", ...input });
  const valuesOf = (userId: string, account = ACCOUNT) =>
    (memory.store.readUser(viewOf(userId, account)) as UserState | undefined)?.facts.map(
      ({ label, value }) => [numberOf(label), value],
    );
  return { ...memory, encode, valuesOf };
}

test("a call over the limit is told the seconds to the end of the month", async (context) => {
  const { services } = await setUp(context);
  for (const [time, retryAfterS] of [
    ["2026-01-31T23:59:59.001Z", 1],
    ["2026-01-31T00:00:00.000Z", 86_400],
    ["2026-02-28T12:00:00.000Z", 43_200],
    ["2028-02-28T12:00:00.000Z", 129_600],
    ["2028-02-29T23:59:00.000Z", 60],
    ["2026-12-31T23:00:00.000Z", 3_600],
    ["2027-01-01T00:00:00.000Z", 2_678_400],
  ] as const) {
    const at = { ...services, clock: { now: () => Date.parse(time) } };
    const input = { userId: "ada", facts: [NAME], operation: "encode" } as const;
    await assert.rejects(
      encodeFacts(at, { ...caller, limit: 0 }, input),
      { code: "monthly_limit_exceeded", extra: { retryAfterS, used: 0 } },
      time,
    );
  }
});

test("codes follow in the background after a write to a user whose block was asked for, and not after a replay", async (context) => {
  const { services, encode, clock, factsOf, workers } = await setUp(context);
  await encode([ROLE]);
  await services.blocks.of(caller, viewOf("ada"));
  await encode([NAME], { idempotencyKey: "once" });
  clock.advance(QUIET_MS);
  await until(() => factsOf("ada").every(({ code }) => code !== undefined));
  assert.equal(workers.countOf("code"), 2);
  await encode([NAME], { idempotencyKey: "once" });
  assert.equal(clock.alarmCount, 0);
});

const NOON = "2026-11-15T12:00:00Z";
const NOON_MS = Date.parse(NOON);
const isoOf = (ms: number) => new Date(ms).toISOString();

test("a fact lives from a second to ten years, or until a moment that is to come", async (context) => {
  const { encode } = await setUp(context, NOON);
  const endOf = async (life: Partial<Facts[0]>) =>
    (await encode([{ ...NAME, ...life }])).facts[0].expiresAtMs;
  assert.equal(await endOf({ ttlS: 1 }), NOON_MS + 1000);
  assert.equal(await endOf({ ttlS: 315_360_000 }), NOON_MS + 315_360_000_000);
  assert.equal(await endOf({ expiresAt: isoOf(NOON_MS + 1) }), NOON_MS + 1);
  const refused = (param: string) => ({ code: "invalid_request", extra: { param: `facts[0].${param}` } });
  for (const ttlS of [0, -1, 315_360_001]) await assert.rejects(endOf({ ttlS }), refused("ttl_s"));
  for (const expiresAt of [NOON, "2026-11-15T11:59:59Z", "2026-12-01", "2026-12-01T18:00:00", "soon", ""])
    await assert.rejects(endOf({ expiresAt }), refused("expires_at"), expiresAt);
  await assert.rejects(endOf({ ttlS: 60, expiresAt: "2026-12-01T18:00:00Z" }), refused("ttl_s"));
});

test("a fact that is not as expected is not written, and the refusal shows what is there", async (context) => {
  const { encode, valuesOf } = await setUp(context, NOON);
  const refusal = (found: string, present: object | null) => ({
    code: "revision_mismatch",
    message: `The fact on USER.name is not as expected: ${found}. Nothing was written.`,
    extra: { param: "facts[1].if_revision", present },
  });
  const write = (value: string, ifRevision: number) => encode([ROLE, { ...NAME, value, ifRevision }]);
  await assert.rejects(write("Ada", 1), refusal("there is no such fact", null));
  await encode([NAME], { writtenBy: "tests" });
  const present = { ...NAME, revision: 1, updated_at: isoOf(NOON_MS) };
  await assert.rejects(write("Grace", 0), refusal("its revision is 1", { ...present, written_by: "tests" }));
  assert.deepEqual(valuesOf("ada"), [[0, "Ada"]]);
  await write("Grace", 1);
  const grace = { ...present, value: "Grace", revision: 3 };
  await assert.rejects(write("Joan", 1), refusal("its revision is 3", grace));
});

test("under its Idempotency-Key a request is another with another life, scope, revision or project", async (context) => {
  const { encode } = await setUp(context, NOON);
  const [soon, later] = [60_000, 120_000].map((ms) => isoOf(NOON_MS + ms));
  const pairs: readonly [Partial<Facts[0]>, Partial<Facts[0]>][] = [
    [{ ttlS: 60 }, { ttlS: 61 }],
    [{ expiresAt: soon }, { expiresAt: later }],
    [{ scope: "person" }, { scope: "project" }],
    [{}, { ifRevision: 7 }],
  ];
  for (const [i, [one, other]] of pairs.entries()) {
    const write = (fact: Partial<Facts[0]>, project = "loom") =>
      encode([{ ...NAME, ...fact }], { userId: `user-${i}`, project, idempotencyKey: `once-${i}` });
    const first = await write(one);
    assert.deepEqual(await write(one), { ...first, replayed: true });
    const mismatch = { code: "idempotency_mismatch" };
    await assert.rejects(write(other), mismatch, JSON.stringify(other));
    await assert.rejects(write(one, "tent"), mismatch);
  }
  const plain = (ttlS: number) => encode([{ ...NAME, ttlS }], { idempotencyKey: "plain" });
  await plain(60);
  await assert.rejects(plain(61), { code: "idempotency_mismatch" });
});

test("a store that fails is not asked for an earlier answer", async (context) => {
  const { store, encode } = await setUp(context);
  await encode([NAME], { idempotencyKey: "once" });
  for (const error of [
    new Error("disk"),
    new Failure("internal_error", "x"),
    new Failure("overloaded", "x"),
  ]) {
    const failing = context.mock.method(store, "write", () => Promise.reject(error));
    await assert.rejects(encode([NAME], { idempotencyKey: "once" }), error);
    failing.mock.restore();
  }
});
