/** How long an Idempotency-Key is kept, and that it serves one request at a time. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { encodeFacts } from "../../../src/memory/encode.ts";
import { IdempotencyGate } from "../../../src/memory/idempotency.ts";
import type { WriteRequest } from "../../../src/memory/ports.ts";
import { caller, memoryServices } from "./memory-services.ts";

const DAY_MS = 86_400_000;

async function setUp(context: TestContext) {
  const memory = await memoryServices(context, "2026-12-31T18:00:00Z");
  const facts = [{ label: "USER.name", value: "Ada" }];
  const input = { userId: "ada", facts, idempotencyKey: "once", operation: "encode" } as const;
  const isReplayed = async () => (await encodeFacts(memory.services, caller, input)).replayed;
  assert.equal(await isReplayed(), false);
  return { ...memory, isReplayed };
}

const request = { caller: { keyId: "key1", user: null }, nowMs: 0, fingerprinted: ["encode", "ada"] };
const inFlight = {
  code: "idempotency_in_flight",
  extra: { param: "Idempotency-Key", retryAfterS: 1 },
};

/** Work that ends when told to. */
function heldWork() {
  let end = (_error?: Error) => {};
  const ended = new Promise<string>((resolve, reject) => {
    end = (error) => (error === undefined ? resolve("first") : reject(error));
  });
  return { work: () => ended, end };
}

test("a request is replayed until one second before 24 hours", async (context) => {
  const { clock, isReplayed } = await setUp(context);
  clock.advance(DAY_MS - 1000);
  assert.equal(await isReplayed(), true);
});

test("a request is written anew after 24 hours, also where nothing was swept", async (context) => {
  const { clock, isReplayed } = await setUp(context);
  clock.advance(DAY_MS);
  assert.equal(await isReplayed(), false);
});

test("a request that is written anew is kept for another 24 hours", async (context) => {
  const { store, clock, isReplayed } = await setUp(context);
  clock.advance(DAY_MS);
  assert.equal(await isReplayed(), false);
  clock.advance(DAY_MS - 1000);
  await store.sweep(clock.now());
  assert.equal(await isReplayed(), true);
});

test("a replay does not prolong the 24 hours", async (context) => {
  const { clock, isReplayed } = await setUp(context);
  clock.advance(DAY_MS - 1000);
  assert.equal(await isReplayed(), true);
  clock.advance(1000);
  assert.equal(await isReplayed(), false);
});

test("a sweep leaves what is one second younger than 24 hours, and removes it a day later at the latest", async (context) => {
  const { store, clock, isReplayed } = await setUp(context);
  await store.sweep(clock.now() + DAY_MS - 1000);
  assert.equal(await isReplayed(), true);
  // The clock stands still: only a removed record lets the request be written anew.
  await store.sweep(clock.now() + 2 * DAY_MS);
  assert.equal(await isReplayed(), false);
});

test("a second request with the same key is refused while the first runs", async () => {
  const gate = new IdempotencyGate([new Uint8Array(32)]);
  const { work, end } = heldWork();
  const first = gate.run("once", request, work);
  let ran = false;
  const second = gate.run("once", request, async () => {
    ran = true;
  });
  await assert.rejects(second, inFlight);
  assert.equal(ran, false);
  end();
  assert.equal(await first, "first");
});

test("a refused second request does not free the key for a third", async () => {
  const gate = new IdempotencyGate([new Uint8Array(32)]);
  const { work, end } = heldWork();
  const first = gate.run("once", request, work);
  for (let i = 0; i < 2; i++) await assert.rejects(gate.run("once", request, work), inFlight);
  end();
  await first;
});

test("a key is free again after its request was answered", async () => {
  const gate = new IdempotencyGate([new Uint8Array(32)]);
  await gate.run("once", request, async () => "first");
  assert.equal(await gate.run("once", request, async () => "second"), "second");
});

test("a key is free again after its request failed", async () => {
  const gate = new IdempotencyGate([new Uint8Array(32)]);
  const { work, end } = heldWork();
  const first = gate.run("once", request, work);
  end(new RangeError("the disk"));
  await assert.rejects(first, RangeError);
  assert.equal(await gate.run("once", request, async () => "second"), "second");
});

test("one key is in flight for each API key", async () => {
  const gate = new IdempotencyGate([new Uint8Array(32)]);
  const { work, end } = heldWork();
  const first = gate.run("once", request, work);
  const other = gate.run("once", { ...request, caller: { keyId: "key2", user: null } }, async () => "other");
  assert.equal(await other, "other");
  end();
  await first;
});

test("a bad Idempotency-Key is refused before the work", async () => {
  const gate = new IdempotencyGate([new Uint8Array(32)]);
  const refused = gate.run("a b", request, () => assert.fail("it was run"));
  await assert.rejects(refused, { code: "invalid_request" });
});

test("what is kept is a digest that depends on the secret and the request, and not the request itself", async () => {
  const recordOf = async (secret: number, fingerprinted: unknown[]) => {
    let kept: WriteRequest["idempotency"];
    const gate = new IdempotencyGate([new Uint8Array(32).fill(secret)]);
    await gate.run("once", { ...request, fingerprinted }, async (record) => {
      kept = record;
    });
    const fields = ["expiresAtMs", "fingerprint", "key", "keyId", "otherFingerprints"];
    assert.deepEqual(Object.keys(kept!).sort(), fields);
    return Buffer.from(kept!.fingerprint).toString("hex");
  };
  const digests = [await recordOf(1, ["Ada"]), await recordOf(2, ["Ada"]), await recordOf(1, ["Eve"])];
  assert.equal(new Set(digests).size, 3);
  assert.ok(digests.every((digest) => /^[0-9a-f]{64}$/.test(digest)));
  assert.equal(await recordOf(1, ["Ada"]), digests[0]);
});

test("the tokens of one key do not meet each other's Idempotency-Key, nor that of the key itself", async () => {
  const gate = new IdempotencyGate([new Uint8Array(32)]);
  const keyOf = (user: string | null, token?: { expiresAtMs: number }) =>
    gate.run("1", { ...request, caller: { keyId: "key1", user, token } }, async (kept) => kept!.key);
  const token = { expiresAtMs: 1 };
  const keys = await Promise.all([keyOf(null), keyOf("ada", token), keyOf("bob", token)]);
  assert.equal(new Set(keys).size, 3);
  assert.equal(keys[0], "1");
  assert.equal(await keyOf("ada", { expiresAtMs: 2 }), keys[1]);
});

test("a request is known again by what is kept of it while one master key takes the place of another", () => {
  const [old, present] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const recordOf = (...secrets: Uint8Array[]) => new IdempotencyGate(secrets).recordOf("once", request);
  const before = recordOf(old);
  const meanwhile = recordOf(old, present);
  assert.deepEqual(meanwhile.otherFingerprints, [before.fingerprint]);
  assert.deepEqual(recordOf(present, old).otherFingerprints, [meanwhile.fingerprint]);
  assert.deepEqual(recordOf(present).otherFingerprints, []);
});
