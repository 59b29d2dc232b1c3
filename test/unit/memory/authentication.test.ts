/** From a key to its caller: what is cached, and what ends it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../src/base/errors.ts";
import { Authentication, type Caller, type TokenRequest } from "../../../src/memory/authentication.ts";
import { hashOfKey, newApiKey } from "../../../src/memory/key-format.ts";
import type { KeyStore } from "../../../src/memory/ports.ts";
import type { KeyRecord } from "../../../src/memory/records.ts";
import { Tokens } from "../../../src/memory/tokens.ts";
import { keyRecord } from "../../conformance/store-under-test.ts";

const NOW = Date.UTC(2026, 10, 15);

function setUp(change: Partial<KeyRecord> = {}) {
  const key = newApiKey();
  let record = keyRecord("key1", "acme", {
    hash: hashOfKey(key),
    prefix: key.slice(0, 12),
    createdAtMs: 0,
    ...change,
  });
  const state = { version: 1, lookUps: 0, nowMs: NOW, hold: undefined as Promise<void> | undefined };
  const keys = {
    keysVersion: async () => state.version,
    findKey: async (hash: string) => {
      state.lookUps += 1;
      const found = record;
      await state.hold;
      return hash === found.hash ? found : undefined;
    },
    readKey: async (id: string) => {
      state.lookUps += 1;
      return id === record.id ? record : undefined;
    },
    readAccount: () => undefined,
  } as unknown as KeyStore;
  const tokens = new Tokens([new Uint8Array(32)]);
  const authentication = new Authentication(keys, { now: () => state.nowMs }, tokens);
  const isLive = async (caller: Caller) => (await authentication.liveUntil(caller)) > state.nowMs;
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
  const replace = (other: Partial<KeyRecord>) => {
    record = { ...record, ...other };
    state.version += 1;
  };
  return { key, state, keys, authentication, codeOf, isLive, revoke, replace };
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
    user: null,
    access: "write",
  });
});

test("authentication: what outlives a request ends with its key: revoked, expired or gone", async () => {
  const { key, state, authentication, isLive, revoke } = setUp({ expiresAtMs: NOW + 1000 });
  const caller = await authentication.callerOf(key);
  state.nowMs = NOW + 999;
  assert.equal(await isLive(caller), true);
  state.nowMs = NOW + 1000;
  assert.equal(await isLive(caller), false);
  state.nowMs = NOW;
  assert.equal(await isLive({ ...caller, keyId: "gone" }), false);
  revoke();
  assert.equal(await isLive(caller), false);
});

const WANTED = { user: "ada", access: "write", ttlS: 60 } as const;

/** A token of the key, and what becomes of it. */
async function setUpToken(change: Partial<KeyRecord> = {}, wanted: Partial<TokenRequest> = {}) {
  const all = setUp(change);
  const made = all.authentication.newToken(await all.authentication.callerOf(all.key), {
    ...WANTED,
    ...wanted,
  });
  return { ...all, ...made };
}

test("tokens: a caller with one has the account, tier and limit of its key, and the user and access of the token", async () => {
  const { token, expiresAtMs, authentication } = await setUpToken({ tier: "pro" }, { access: "read" });
  assert.match(token, /^sbt_[\w-]+\.[\w-]{43}$/);
  assert.equal(expiresAtMs, NOW + 60_000);
  assert.deepEqual(await authentication.callerOf(token), {
    account: "acme",
    keyId: "key1",
    tier: "pro",
    limit: 50_000,
    expiresAtMs: null,
    user: "ada",
    access: "read",
    token: { expiresAtMs },
  });
});

test("tokens: one ends at its time, with its key's end at the latest, and what outlives a request with it", async () => {
  const { token, state, authentication, codeOf, isLive } = await setUpToken();
  const caller = await authentication.callerOf(token);
  state.nowMs = NOW + 59_999;
  assert.deepEqual([await codeOf(token), await isLive(caller)], ["acme", true]);
  state.nowMs = NOW + 60_000;
  assert.deepEqual([await codeOf(token), await isLive(caller)], ["key_expired", false]);
  assert.equal((await setUpToken({ expiresAtMs: NOW + 5 })).expiresAtMs, NOW + 5);
});

test("tokens: one of a key that is bound to its user counts, and may write where both may", async () => {
  const { token, authentication } = await setUpToken({ user: "ada" }, { access: "write" });
  const { user, access } = await authentication.callerOf(token);
  assert.deepEqual([user, access], ["ada", "write"]);
});

test("tokens: a change of the key counts at once: revoked, expired, bound to another user, reading only, gone", async () => {
  const cases: [Partial<KeyRecord>, string][] = [
    [{ revokedAtMs: NOW }, "key_revoked"],
    [{ expiresAtMs: NOW }, "key_expired"],
    [{ user: "bob" }, "invalid_key"],
    [{ id: "key2" }, "invalid_key"],
  ];
  for (const [change, code] of cases) {
    const { token, codeOf, replace } = await setUpToken();
    assert.equal(await codeOf(token), "acme");
    replace(change);
    assert.equal(await codeOf(token), code);
  }
  const { token, authentication, replace } = await setUpToken();
  replace({ access: "read" });
  assert.equal((await authentication.callerOf(token)).access, "read");
});

test("tokens: the key is looked up once for all its tokens, and their use is the key's", async () => {
  const { authentication, key, state, codeOf } = await setUpToken();
  const caller = await authentication.callerOf(key);
  const before = state.lookUps;
  for (let i = 0; i < 5; i++)
    assert.equal(await codeOf(authentication.newToken(caller, { ...WANTED, user: `u${i}` }).token), "acme");
  assert.equal(state.lookUps, before + 1);
  assert.deepEqual([...authentication.takeUses().keys()], ["key1"]);
});

test("tokens: none with another letter, another secret or another content counts, and a key's id opens nothing", async () => {
  const { token, codeOf } = await setUpToken();
  assert.equal(await codeOf(token), "acme");
  for (let i = 0; i < token.length; i++) {
    const altered = `${token.slice(0, i)}${token[i] === "A" ? "B" : "A"}${token.slice(i + 1)}`;
    assert.equal(await codeOf(altered), "invalid_key", altered);
  }
  const content = { keyId: "key1", user: "ada", access: "write", expiresAtMs: NOW + 1 } as const;
  const seal = token.slice(token.indexOf("."));
  const foreign = new Tokens([new Uint8Array(32).fill(1)]).make(content);
  const rewritten = foreign.slice(0, foreign.indexOf(".")) + seal;
  for (const text of [
    foreign,
    rewritten,
    "sbt_",
    "sbt_.",
    `${token}.`,
    "key1",
    "id key1",
    "sbt_".padEnd(9_999, "x"),
  ])
    assert.equal(await codeOf(text), "invalid_key", text);
});

test("tokens: one gives no more than its key has", async () => {
  const refusal = (change: Partial<KeyRecord>, wanted: Partial<TokenRequest> = {}) =>
    setUpToken(change, wanted).then(
      () => "made",
      (error: { code: string }) => error.code,
    );
  assert.equal(await refusal({ user: "ada" }), "made");
  assert.equal(await refusal({ user: "bob" }), "user_not_allowed");
  assert.equal(await refusal({ user: "ada", access: "read" }), "read_only_key");
  assert.equal(await refusal({ user: "ada", access: "read" }, { access: "read" }), "made");
  assert.equal(await refusal({ access: "read" }, { access: "read" }), "read_only_key");
  assert.equal(await refusal({}, { user: "ada\u0000x" }), "invalid_request");
  const { authentication, token } = await setUpToken();
  const caller = await authentication.callerOf(token);
  assert.throws(() => authentication.newToken(caller, WANTED), { code: "user_not_allowed" });
  assert.throws(() => authentication.newToken({ ...caller, token: undefined, tier: "owner" }, WANTED), {
    code: "missing_key",
  });
});

test("tokens: a user_id of the greatest length, of any characters, goes into one", async () => {
  for (const character of ["a", '"', "\\", "\u{1f600}"]) {
    const user = character.repeat(128);
    const { token, authentication } = await setUpToken({}, { user });
    assert.equal((await authentication.callerOf(token)).user, user);
  }
});

test("authentication: while the store cannot be asked, nothing that outlives a request is ended", async () => {
  const { key, state, keys, authentication } = setUp();
  const caller = await authentication.callerOf(key);
  for (const error of [
    new Error("disk"),
    new Failure("store_corrupt", "x"),
    new Failure("overloaded", "x"),
  ]) {
    state.version += 1;
    keys.readKey = () => Promise.reject(error);
    await assert.rejects(authentication.liveUntil(caller), error);
  }
});

test("authentication: what outlives a request goes on with a key that does not expire, and for the owner, who has none", async () => {
  const { key, authentication, isLive } = setUp();
  const caller = await authentication.callerOf(key);
  assert.equal(await isLive(caller), true);
  assert.equal(await isLive({ ...caller, tier: "owner", keyId: "none" }), true);
});
