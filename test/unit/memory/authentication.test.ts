/** From a key to its caller: what is cached, and what ends it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Authentication } from "../../../src/memory/authentication.ts";
import { hashOfKey, newApiKey } from "../../../src/memory/key-format.ts";
import type { KeyRecord, KeyStore } from "../../../src/memory/ports.ts";

const NOW = Date.UTC(2026, 10, 15);

function setUp(change: Partial<KeyRecord> = {}) {
  const key = newApiKey();
  let record: KeyRecord = {
    id: "key1",
    account: "acme",
    tier: "free",
    hash: hashOfKey(key),
    prefix: key.slice(0, 12),
    note: "",
    createdAtMs: 0,
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
    ...change,
  };
  const state = { version: 1, lookUps: 0, nowMs: NOW, hold: undefined as Promise<void> | undefined };
  const keys = {
    keysVersion: async () => state.version,
    findKey: async (hash: string) => {
      state.lookUps += 1;
      const found = record;
      await state.hold;
      return hash === found.hash ? found : undefined;
    },
    readKey: async (id: string) => (id === record.id ? record : undefined),
  } as unknown as KeyStore;
  const authentication = new Authentication(keys, { now: () => state.nowMs });
  const codeOf = async (text = key) => {
    try {
      return (await authentication.callerOf(text)).account;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const revoke = () => {
    record = { ...record, revokedAtMs: NOW };
    state.version += 1;
  };
  return { key, state, authentication, codeOf, revoke };
}

test("authentication: a known key is looked up once, until any key changes", async () => {
  const { state, codeOf } = setUp();
  assert.deepEqual([await codeOf(), await codeOf(), state.lookUps], ["acme", "acme", 1]);
  state.version += 1;
  assert.deepEqual([await codeOf(), state.lookUps], ["acme", 2]);
});

test("authentication: a cached key that is revoked is refused at the next call", async () => {
  const { codeOf, revoke } = setUp();
  assert.equal(await codeOf(), "acme");
  revoke();
  assert.equal(await codeOf(), "key_revoked");
});

test("authentication: a look-up that began before a revocation and ended after it is not trusted again", async () => {
  const { state, codeOf, revoke } = setUp();
  let goOn = () => {};
  state.hold = new Promise((resolve) => {
    goOn = resolve;
  });
  const slow = codeOf();
  await new Promise((resolve) => setImmediate(resolve));
  revoke();
  const hasted = codeOf();
  await new Promise((resolve) => setImmediate(resolve));
  goOn();
  assert.deepEqual([await slow, await hasted], ["acme", "key_revoked"]);
  assert.equal(await codeOf(), "key_revoked");
});

test("authentication: a cached key ends when its time is over", async () => {
  const { state, codeOf } = setUp({ expiresAtMs: NOW + 1000 });
  assert.equal(await codeOf(), "acme");
  state.nowMs = NOW + 999;
  assert.equal(await codeOf(), "acme");
  state.nowMs = NOW + 1000;
  assert.equal(await codeOf(), "key_expired");
});

test("authentication: a mistyped key is refused without a look-up", async () => {
  const { key, state, codeOf } = setUp();
  const mistyped = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
  assert.deepEqual([await codeOf(mistyped), state.lookUps], ["invalid_key", 0]);
  assert.equal(await codeOf(newApiKey()), "invalid_key");
});

test("authentication: the last use of a key is handed out once", async () => {
  const { state, authentication, codeOf } = setUp();
  await codeOf();
  state.nowMs = NOW + 5000;
  await codeOf();
  assert.deepEqual([...authentication.takeUses()], [["key1", NOW + 5000]]);
  assert.deepEqual([...authentication.takeUses()], []);
});

test("authentication: a refused call is no use of its key", async () => {
  const { authentication, codeOf } = setUp({ expiresAtMs: NOW });
  assert.equal(await codeOf(), "key_expired");
  assert.equal(authentication.takeUses().size, 0);
});

test("authentication: a caller has the account, the tier and the limit of the key", async () => {
  const { key, authentication } = setUp({ tier: "pro", expiresAtMs: NOW + 1000 });
  assert.deepEqual(await authentication.callerOf(key), {
    account: "acme",
    keyId: "key1",
    tier: "pro",
    limit: 50_000,
    expiresAtMs: NOW + 1000,
  });
});

test("authentication: what outlives a request ends with its key: revoked, expired or gone", async () => {
  const { key, state, authentication, revoke } = setUp({ expiresAtMs: NOW + 1000 });
  const caller = await authentication.callerOf(key);
  state.nowMs = NOW + 999;
  assert.equal(await authentication.isLive(caller), true);
  state.nowMs = NOW + 1000;
  assert.equal(await authentication.isLive(caller), false);
  state.nowMs = NOW;
  assert.equal(await authentication.isLive({ ...caller, keyId: "gone" }), false);
  revoke();
  assert.equal(await authentication.isLive(caller), false);
});

test("authentication: what outlives a request goes on with a key that does not expire, and for the owner, who has none", async () => {
  const { key, authentication } = setUp();
  const caller = await authentication.callerOf(key);
  assert.equal(await authentication.isLive(caller), true);
  assert.equal(await authentication.isLive({ ...caller, tier: "owner", keyId: "none" }), true);
});
