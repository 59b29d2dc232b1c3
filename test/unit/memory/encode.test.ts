/** Writing facts: where they go, what refuses them, and what a repeated request does. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Failure } from "../../../src/base/errors.ts";
import type { Caller } from "../../../src/memory/authentication.ts";
import { QUIET_MS } from "../../../src/memory/blocks.ts";
import { type EncodeInput, encodeFacts } from "../../../src/memory/encode.ts";
import { addLabel } from "../../../src/memory/label-terms.ts";
import type { UserState } from "../../../src/memory/ports.ts";
import { fieldsOf, rowsOf } from "../../fixtures/fields.ts";
import { numberOf, viewOf } from "../../fixtures/views.ts";
import { until } from "../../fixtures/waiting.ts";
import { ACCOUNT, caller, memoryServices, NEW_LABEL } from "./memory-services.ts";

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

test("facts are written on the channels of their labels", async (context) => {
  const { encode, valuesOf } = await setUp(context);
  const { facts, channelCount, replayed } = await encode([ROLE, NAME]);
  const placed = [
    { ...ROLE, channel: 6, revision: 1 },
    { ...NAME, channel: 0, revision: 2 },
  ].map((fact) => ({ ...fact, place: "", expiresAtMs: null, previous: undefined }));
  assert.deepEqual([facts, channelCount, replayed], [placed, 2, false]);
  assert.deepEqual(valuesOf("ada"), [
    [0, "Ada"],
    [6, "engineer"],
  ]);
});

test("a fact replaces the one with the same label", async (context) => {
  const { encode, valuesOf } = await setUp(context);
  await encode([NAME]);
  assert.equal((await encode([{ ...NAME, value: "Grace" }])).channelCount, 1);
  assert.deepEqual(valuesOf("ada"), [[0, "Grace"]]);
});

test("facts carry the time of the clock", async (context) => {
  const { encode, factsOf } = await setUp(context, "2026-11-15T12:00:00Z");
  await encode([NAME]);
  assert.equal(factsOf("ada")[0].updatedAtMs, Date.parse("2026-11-15T12:00:00Z"));
});

test("a label that is given twice is refused, and nothing is written", async (context) => {
  const { encode, valuesOf } = await setUp(context);
  await assert.rejects(encode([ROLE, NAME, { ...ROLE, value: "other" }]), {
    code: "invalid_request",
    extra: { param: "facts[2].label" },
  });
  assert.equal(valuesOf("ada"), undefined);
});

test("a batch names the index of the fact at fault, and nothing of it is written", async (context) => {
  const { encode, valuesOf } = await setUp(context);
  await assert.rejects(encode([NAME, { label: "USER.nam", value: "x" }]), {
    code: "unknown_label",
    extra: { param: "facts[1].label", hint: "USER.name" },
  });
  await assert.rejects(encode([NAME, ROLE, { label: "USER.os", value: "" }]), {
    code: "invalid_value",
    extra: { param: "facts[2].value" },
  });
  assert.equal(valuesOf("ada"), undefined);
});

test("a single fact at fault is named without an index", async (context) => {
  const { encode } = await setUp(context);
  await assert.rejects(encode([{ label: "USER.os", value: "" }], { operation: "encode" }), {
    code: "invalid_value",
    extra: { param: "value" },
  });
});

test("a bad user_id or session_id is refused, and nothing is written", async (context) => {
  const { encode, store } = await setUp(context);
  await assert.rejects(encode([NAME], { userId: "" }), { extra: { param: "user_id" } });
  await assert.rejects(encode([NAME], { sessionId: "\n" }), { extra: { param: "session_id" } });
  assert.equal(store.statistics().users, 0);
});

test("every fact counts, and `used` is the count after the call", async (context) => {
  const { encode } = await setUp(context);
  assert.equal((await encode([NAME, ROLE])).used, 2);
  assert.equal((await encode([NAME])).used, 3);
});

test("the count begins anew with the month", async (context) => {
  const { encode, clock } = await setUp(context, "2026-12-31T23:59:59.999Z");
  await encode([NAME, ROLE]);
  clock.advance(1);
  assert.equal((await encode([NAME])).used, 1);
});

test("the limit can be reached, and a call that would pass it is refused as a whole", async (context) => {
  const { encode, valuesOf } = await setUp(context);
  const limited = { ...caller, limit: 3 };
  await encode([NAME, ROLE], {}, limited);
  const both = [
    { ...NAME, value: "Grace" },
    { ...ROLE, value: "admiral" },
  ];
  await assert.rejects(encode(both, {}, limited), {
    code: "monthly_limit_exceeded",
    message: "The free tier allows 3 encodes a month; 2 are used.",
  });
  assert.deepEqual(valuesOf("ada"), [
    [0, "Ada"],
    [6, "engineer"],
  ]);
  assert.equal((await encode([{ ...NAME, value: "Grace" }], {}, limited)).used, 3);
});

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

test("a key without a limit is not refused", async (context) => {
  const { encode } = await setUp(context);
  const unlimited = { ...caller, tier: "unlimited", limit: null } as const;
  assert.equal((await encode([NAME], {}, unlimited)).channelCount, 1);
});

test("a request that is repeated under its Idempotency-Key is answered again, and neither written nor counted", async (context) => {
  const { encode, valuesOf } = await setUp(context);
  const first = await encode([NAME], { idempotencyKey: "once" });
  await encode([{ ...NAME, value: "Grace" }, ROLE]);
  const again = await encode([NAME], { idempotencyKey: "once" });
  assert.deepEqual(again, { ...first, replayed: true, used: 3 });
  assert.deepEqual(valuesOf("ada")?.[0], [0, "Grace"]);
});

test("another body under the same Idempotency-Key is a mismatch, and not written", async (context) => {
  const { encode, valuesOf } = await setUp(context);
  await encode([NAME, ROLE], { idempotencyKey: "once" });
  const mismatch = { code: "idempotency_mismatch", extra: { param: "Idempotency-Key" } };
  for (const facts of [[{ ...NAME, value: "Grace" }, ROLE], [NAME], [{ ...NAME, label: "USER.os" }, ROLE]])
    await assert.rejects(encode(facts, { idempotencyKey: "once" }), mismatch);
  assert.deepEqual(valuesOf("ada"), [
    [0, "Ada"],
    [6, "engineer"],
  ]);
});

test("another user_id under the same Idempotency-Key is a mismatch, and not written", async (context) => {
  const { encode, valuesOf } = await setUp(context);
  await encode([NAME], { idempotencyKey: "once" });
  const other = encode([NAME], { userId: "eve", idempotencyKey: "once" });
  await assert.rejects(other, { code: "idempotency_mismatch" });
  assert.equal(valuesOf("eve"), undefined);
});

test("an Idempotency-Key of a batch does not stand for the same single fact", async (context) => {
  const { encode } = await setUp(context);
  await encode([NAME], { idempotencyKey: "once" });
  const single = encode([NAME], { operation: "encode", idempotencyKey: "once" });
  await assert.rejects(single, { code: "idempotency_mismatch" });
});

test("two API keys can use the same Idempotency-Key, one after the other and at once", async (context) => {
  const { encode } = await setUp(context);
  const other = { ...caller, keyId: "key2" };
  const once = (by: Caller, value: string) => encode([{ ...NAME, value }], { idempotencyKey: "once" }, by);
  const results = await Promise.all([once(caller, "Ada"), once(other, "Grace")]);
  assert.deepEqual(fieldsOf(results, "replayed"), [false, false]);
  assert.equal((await once(other, "Grace")).replayed, true);
});

test("a refused call keeps nothing under its Idempotency-Key", async (context) => {
  const { encode } = await setUp(context);
  const refused = encode([NAME], { idempotencyKey: "once" }, { ...caller, limit: 0 });
  await assert.rejects(refused, { code: "monthly_limit_exceeded" });
  assert.equal((await encode([ROLE], { idempotencyKey: "once" })).replayed, false);
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

test("a label with a list of values takes no other", async (context) => {
  const { services, encode, valuesOf } = await setUp(context);
  await addLabel(services, ACCOUNT, { ...NEW_LABEL, oneOf: ["yes", "no"] });
  await assert.rejects(encode([{ label: NEW_LABEL.label, value: "maybe" }]), {
    code: "invalid_value",
    extra: { param: "facts[0].value" },
  });
  assert.equal(valuesOf("ada"), undefined);
  assert.equal((await encode([{ label: NEW_LABEL.label, value: "no" }])).facts[0].value, "no");
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

test("an answer that is repeated has the ends of the first, also when they have come", async (context) => {
  const { encode, clock } = await setUp(context, NOON);
  const written = (idempotencyKey: string) =>
    encode([ROLE, { ...NAME, scope: "project", expiresAt: isoOf(NOON_MS + 1000) }], {
      project: "loom/tree",
      idempotencyKey,
    });
  const first = await written("once");
  assert.deepEqual(rowsOf(first.facts, "place", "expiresAtMs"), [
    ["", null],
    ["loom", NOON_MS + 1000],
  ]);
  clock.advance(999);
  assert.deepEqual(await written("once"), { ...first, replayed: true });
  clock.advance(1);
  assert.deepEqual(await written("once"), { ...first, replayed: true });
  // Under another key it is a new request, and too late.
  const late = { code: "invalid_request", extra: { param: "facts[1].expires_at" } };
  await assert.rejects(written("other"), late);
  await assert.rejects(encode([{ label: "USER.nam", value: "x" }], { idempotencyKey: "once" }), {
    code: "idempotency_mismatch",
  });
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
