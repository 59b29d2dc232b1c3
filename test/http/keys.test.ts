/** Keys, quota and idempotency over HTTP: authentication, tiers, limits, headers, what others may learn. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { crc32 } from "../../src/base/bytes.ts";
import { hashOfKey, isWellFormedKey, newApiKey, toBase62 } from "../../src/memory/key-format.ts";
import { quotaWindow } from "../../src/memory/quota.ts";
import { endAfter } from "../fixtures/ends.ts";
import { changesOf, viewOf } from "../fixtures/views.ts";
import { type Answer, problemCode, type Running, startPortless } from "./running-service.ts";

let running: Running;
let core: Running["service"]["core"];
before(async () => {
  running = await startPortless();
  core = running.service.core;
});
after(() => running?.end());

const call: Running["call"] = (...args) => running.call(...args);
const fact = (user_id: string, value = "x") => ({ user_id, label: "USER.name", value });

test("keys have the published form: prefix, 30 characters, CRC-32 in base 62", () => {
  for (let i = 0; i < 100; i++) {
    const key = newApiKey();
    assert.match(key, /^sb_live_[0-9A-Za-z]{36}$/);
    assert.equal(key.slice(-6), toBase62(crc32(Buffer.from(key.slice(0, -6))), 6));
    assert.ok(isWellFormedKey(key));
    assert.ok(!isWellFormedKey(`${key.slice(0, 20)}${key[20] === "A" ? "B" : "A"}${key.slice(21)}`));
  }
  assert.equal(crc32(Buffer.from("123456789")), 0xcbf43926);
});

test("a key is stored only as its hash and its first 12 characters", async () => {
  const key = await running.newKey("stored");
  const [record] = await core.keys.list("stored");
  assert.equal(record.hash, hashOfKey(key));
  assert.equal(record.prefix, key.slice(0, 12));
  assert.ok(!JSON.stringify(record).includes(key.slice(0, 13)));
});

test("without a key 401 missing_key, with a wrong one 401 invalid_key, both with WWW-Authenticate", async () => {
  for (const [method, path] of [
    ["GET", "/context?user_id=u"],
    ["GET", "/decode?user_id=u&label=USER.name"],
    ["POST", "/encode"],
    ["POST", "/flush"],
    ["POST", "/read"],
    ["GET", "/facts?user_id=u"],
    ["DELETE", "/facts?user_id=u&label=USER.name"],
    ["DELETE", "/users?user_id=u"],
    ["GET", "/usage"],
    ["POST", "/encode/batch"],
    ["GET", "/decode/model?user_id=u&label=USER.name"],
  ]) {
    const missing = await call(method, path, { key: null });
    assert.equal(problemCode(missing), "401 missing_key", path);
    assert.match(missing.headers.get("www-authenticate")!, /^Bearer/);
    for (const key of [newApiKey(), "nonsense", "sb_live_x", `${running.key}x`, running.key.toLowerCase()]) {
      const wrong = await call(method, path, { key });
      assert.equal(problemCode(wrong), "401 invalid_key");
      assert.match(wrong.headers.get("www-authenticate")!, /^Bearer/);
    }
  }
  for (const authorization of ["Basic abc", "Bearer", "Bearer ", running.key]) {
    assert.equal(
      problemCode(await call("GET", "/usage", { key: null, headers: { authorization } })),
      "401 missing_key",
    );
  }
  assert.equal(
    (await call("GET", "/usage", { key: null, headers: { authorization: `bearer ${running.key}` } })).status,
    200,
  );
});

test("the key may be in the query for GET, never for a POST or DELETE", async () => {
  assert.equal((await call("GET", `/usage?api_key=${running.key}`, { key: null })).status, 200);
  assert.equal((await call("HEAD", `/usage?api_key=${running.key}`, { key: null })).status, 200);
  const post = await call("POST", `/encode?api_key=${running.key}`, { key: null, body: fact("query") });
  assert.equal(problemCode(post), "401 missing_key");
  assert.equal(
    problemCode(await call("DELETE", `/users?user_id=u&api_key=${running.key}`, { key: null })),
    "401 missing_key",
  );
});

test("a revoked key is 403 at once, an expired one 403", async () => {
  const key = await running.newKey("revoked");
  assert.equal((await call("GET", "/usage", { key })).status, 200);
  const [record] = await core.keys.list("revoked");
  await core.keys.revoke(record.id);
  assert.equal(problemCode(await call("GET", "/usage", { key })), "403 key_revoked");
  const { key: short, record: expiring } = await core.keys.create({
    account: "expiring",
    expiresAtMs: Date.now() + 60_000,
  });
  assert.equal((await call("GET", "/usage", { key: short })).status, 200);
  await core.keys.expire(expiring.id, Date.now() - 1);
  assert.equal(problemCode(await call("GET", "/usage", { key: short })), "403 key_expired");
  await core.keys.expire(expiring.id, null);
  assert.equal((await call("GET", "/usage", { key: short })).status, 200);
});

test("the last use of a key is noted", async () => {
  const key = await running.newKey("used");
  await call("GET", "/usage", { key });
  await core.store.touchKeys(core.authentication.takeUses());
  const [record] = await core.keys.list("used");
  assert.ok(Math.abs(record.lastUsedAtMs! - Date.now()) < 120_000);
});

test("the same user_id under another account is another user: same answers as for nobody", async () => {
  const other = await running.newKey("neighbour");
  await call("POST", "/encode", { body: fact("shared", "secret of acme") });
  await call("GET", "/context?user_id=shared");
  const probes: [string, string, object?][] = [
    ["GET", "/context?user_id=USER"],
    ["GET", "/facts?user_id=USER"],
    ["GET", "/decode?user_id=USER&label=USER.name"],
    ["GET", "/decode/model?user_id=USER&label=USER.name"],
    ["DELETE", "/facts?user_id=USER&label=USER.name"],
    ["DELETE", "/users?user_id=USER"],
    ["POST", "/flush", { user_id: "USER" }],
  ];
  for (const [method, path, body] of probes) {
    const ask = async (user: string) => {
      const options = {
        key: other,
        ...(body === undefined ? {} : { body: JSON.parse(JSON.stringify(body).replace("USER", user)) }),
      };
      const answer = await call(method, path.replace("USER", user), options);
      const { date: _d, "x-request-id": _r, etag: _e, ...headers } = Object.fromEntries(answer.headers);
      const text = answer.text.replaceAll(user, "USER").replace(/"request_id":"[^"]*"/, "");
      return { status: answer.status, headers, text };
    };
    assert.deepEqual(await ask("shared"), await ask("nobody"), path);
  }
  assert.equal((await call("GET", "/decode?user_id=shared&label=USER.name")).json.value, "secret of acme");
});

test("usage and quota headers: on every authenticated answer of a limited key, none for an unlimited one", async () => {
  const key = await running.newKey("limited", "free");
  const check = async (answer: Awaited<ReturnType<typeof call>>, remaining: number) => {
    const { startMs, endMs } = quotaWindow(Date.now());
    assert.equal(answer.headers.get("ratelimit-policy"), `"monthly";q=1000;w=${(endMs - startMs) / 1000}`);
    assert.match(answer.headers.get("ratelimit")!, new RegExp(`^"monthly";r=${remaining};t=\\d+$`));
    assert.equal(answer.headers.get("x-ratelimit-limit"), "1000");
    assert.equal(answer.headers.get("x-ratelimit-remaining"), String(remaining));
    assert.equal(answer.headers.get("x-ratelimit-reset"), String(endMs / 1000));
  };
  await check(await call("GET", "/usage", { key }), 1000);
  await check(await call("POST", "/encode", { key, body: fact("u") }), 999);
  await check(await call("POST", "/encode", { key, body: fact("u", "") }), 999);
  await check(await call("GET", "/decode?user_id=u&label=USER.os", { key }), 999);
  await check(
    await call("POST", "/encode/batch", {
      key,
      body: {
        user_id: "u",
        facts: [
          { label: "USER.os", value: "a" },
          { label: "USER.gpu", value: "b" },
        ],
      },
    }),
    997,
  );
  const usage = (await call("GET", "/usage", { key })).json;
  assert.deepEqual(usage, {
    account: "limited",
    tier: "free",
    limit: 1000,
    used: 3,
    remaining: 997,
    resets_at: new Date(quotaWindow(Date.now()).endMs).toISOString(),
  });
  const free = await call("GET", "/usage");
  assert.deepEqual([free.json.limit, free.json.remaining, free.json.tier], [null, null, "unlimited"]);
  for (const name of [
    "ratelimit",
    "ratelimit-policy",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
  ]) {
    assert.equal(free.headers.get(name), null);
  }
});

test("the monthly limit: exactly 1,000 pass, then 429 with the upgrade link and Retry-After; another key is untouched", async () => {
  const key = await running.newKey("at-limit", "free");
  const batch = (n: number) =>
    Array.from({ length: n }, (_, i) => ({
      label: ["USER.name", "USER.os", "USER.gpu", "USER.role"][i % 4],
      value: `${i}`,
    }));
  for (let i = 0; i < 249; i++)
    await core.memory.store.write({
      ...viewOf("u", "at-limit", { nowMs: Date.now() }),
      changes: changesOf([0, 1, 2, 3].map((channel) => [channel, "x"])),
      quota: {
        keyId: (await core.keys.list("at-limit"))[0].id,
        month: quotaWindow(Date.now()).month,
        day: new Date().toISOString().slice(0, 10),
        limit: 1000,
      },
    });
  assert.equal((await call("GET", "/usage", { key })).json.used, 996);
  const over = await call("POST", "/encode/batch", {
    key,
    body: { user_id: "v", facts: [...batch(4), { label: "PROJ.goal", value: "one too many" }] },
  });
  assert.equal(problemCode(over), "429 monthly_limit_exceeded");
  assert.equal((await call("GET", "/facts?user_id=v", { key })).json.channel_count, 0);
  const race = await Promise.all(
    Array.from({ length: 10 }, (_, i) => call("POST", "/encode", { key, body: fact(`race-${i}`) })),
  );
  assert.equal(race.filter(({ status }) => status === 200).length, 4);
  const refused = race.find(({ status }) => status === 429)!;
  assert.equal(problemCode(refused), "429 monthly_limit_exceeded");
  assert.match(refused.json.upgrade_url, /^http/);
  assert.equal(refused.headers.get("link"), `<${refused.json.upgrade_url}>; rel="upgrade"`);
  const waitS = Number(refused.headers.get("retry-after"));
  assert.ok(Math.abs(waitS - (quotaWindow(Date.now()).endMs - Date.now()) / 1000) < 60);
  assert.equal(refused.headers.get("x-ratelimit-remaining"), "0");
  assert.equal((await call("GET", "/usage", { key })).json.used, 1000);
  assert.equal((await call("GET", "/context?user_id=u", { key })).status, 200);
  const sibling = await running.newKey("at-limit", "free");
  assert.equal((await call("POST", "/encode", { key: sibling, body: fact("u", "y") })).status, 200);
});

test("Idempotency-Key: replays the first answer, is not counted again, refuses another body, belongs to the key", async () => {
  const key = await running.newKey("idempotent", "free");
  const once = { "idempotency-key": "order-1" };
  const first = await call("POST", "/encode", { key, body: fact("u", "first"), headers: once });
  assert.equal(first.status, 200);
  assert.equal(first.headers.get("idempotency-replayed"), null);
  await call("POST", "/encode", { key, body: { user_id: "u", label: "USER.os", value: "more" } });
  const replay = await call("POST", "/encode", {
    key,
    body: { value: "first", label: "USER.name", user_id: "u" },
    headers: once,
  });
  assert.equal(replay.text, first.text);
  assert.equal(replay.headers.get("idempotency-replayed"), "true");
  assert.equal((await call("GET", "/usage", { key })).json.used, 2);
  const other = await call("POST", "/encode", { key, body: fact("u", "second"), headers: once });
  assert.equal(problemCode(other), "422 idempotency_mismatch");
  const batch = await call("POST", "/encode/batch", {
    key,
    body: { user_id: "u", facts: [{ label: "USER.name", value: "first" }] },
    headers: once,
  });
  assert.equal(problemCode(batch), "422 idempotency_mismatch");
  const sibling = await running.newKey("idempotent", "free");
  const elsewhere = await call("POST", "/encode", { key: sibling, body: fact("u", "second"), headers: once });
  assert.equal(elsewhere.headers.get("idempotency-replayed"), null);
  assert.equal(elsewhere.status, 200);
});

test("Idempotency-Key: errors are not kept", async () => {
  const bad = await call("POST", "/encode", { body: fact("u", ""), headers: { "idempotency-key": "retry" } });
  assert.equal(problemCode(bad), "400 invalid_value");
  const good = await call("POST", "/encode", {
    body: fact("u", "now right"),
    headers: { "idempotency-key": "retry" },
  });
  assert.equal(good.status, 200);
});

test("Idempotency-Key: an odd key is 400", async () => {
  for (const odd of ["a".repeat(256), "with space"]) {
    const answer = await call("POST", "/encode", { body: fact("u"), headers: { "idempotency-key": odd } });
    assert.equal(problemCode(answer), "400 invalid_request");
    assert.equal(answer.json.param, "Idempotency-Key");
  }
});

test("Idempotency-Key: while a request is being answered its repetition is refused, and after that replayed", async () => {
  const key = await running.newKey("at-once", "free");
  const encode = () =>
    call("POST", "/encode", { key, body: fact("u", "once"), headers: { "idempotency-key": "burst" } });
  const { store } = core;
  const write = store.write.bind(store);
  let begin = () => {};
  let finish = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  store.write = async (request) => {
    begin();
    await finished;
    return write(request);
  };
  try {
    const first = encode();
    await begun;
    const second = await encode();
    assert.equal(problemCode(second), "409 idempotency_in_flight");
    assert.equal(second.headers.get("retry-after"), "1");
    finish();
    assert.equal((await first).status, 200);
  } finally {
    store.write = write;
  }
  const third = await encode();
  assert.deepEqual([third.status, third.headers.get("idempotency-replayed")], [200, "true"]);
  assert.equal((await call("GET", "/usage", { key })).json.used, 1);
});

test("keys and values never appear in logs, not even when the key came in the query; session_id and client do", async () => {
  const key = await running.newKey("quiet");
  await call("GET", `/context?user_id=u&api_key=${key}`, { key: null });
  await call("GET", `/nowhere?api_key=${key}`, { key: null });
  await call("POST", "/encode", {
    key,
    body: { ...fact("u", "a-value-that-must-not-be-logged"), session_id: "session-42" },
    headers: { "sideband-client": `js/0.1.0 ${"x".repeat(100)}` },
  });
  await call("POST", "/encode", {
    key,
    raw: '{"value":"a-value-that-must-not-be-logged"',
    headers: { "content-type": "application/json" },
  });
  await call("GET", `/facts?user_id=%FF&api_key=${key}`, { key: null });
  const log = running.logs.join("");
  assert.ok(log.includes(`"session_id":"session-42","client":"js/0.1.0 ${"x".repeat(31)}"`));
  assert.ok(log.includes('"account":"quiet"'));
  assert.ok(!log.includes(key));
  assert.ok(!log.includes(key.slice(8, 30)));
  assert.ok(!log.includes("a-value-that-must-not-be-logged"));
});

test("a key's tier is changed with what it has used, and an account has a limit of all its keys together", async (t) => {
  const running = endAfter(t, await startPortless(undefined, undefined, { warm: false }));
  const admin = { key: "admin-token-for-tests" };
  const made = async (tier: string) =>
    (await running.call("POST", "/admin/keys", { ...admin, body: { account: "navy", tier } })).json;
  const [one, two] = [await made("unlimited"), await made("free")];
  const encode = (key: string) => {
    const body = { user_id: "ada", label: "USER.name", value: "Ada" };
    return running.call("POST", "/encode", { key, body });
  };
  assert.equal((await encode(one.key)).headers.get("x-ratelimit-limit"), null);

  const changed = await running.call("PATCH", `/admin/keys/${one.id}`, { ...admin, body: { tier: "pro" } });
  assert.deepEqual([changed.status, changed.json.tier], [200, "pro"]);
  const limited = await encode(one.key);
  const standing = (answer: Answer) => [
    answer.headers.get("x-ratelimit-limit"),
    answer.headers.get("x-ratelimit-remaining"),
  ];
  assert.deepEqual(standing(limited), ["50000", "49998"]);

  const limit = (monthly_limit: number | null) =>
    running.call("PATCH", "/admin/accounts/navy", { ...admin, body: { monthly_limit } });
  assert.equal((await limit(4)).json.monthly_limit, 4);
  assert.deepEqual(standing(await encode(two.key)), ["4", "1"]);
  assert.deepEqual(standing(await encode(one.key)), ["4", "0"]);
  for (const { key } of [one, two]) {
    const refused = await encode(key);
    assert.equal(problemCode(refused), "429 monthly_limit_exceeded");
    assert.equal(refused.json.detail, "The account allows 4 encodes a month; 4 are used.");
    const { json } = await running.call("GET", "/usage", { key });
    assert.deepEqual([json.limit, json.used, json.remaining], [4, 4, 0]);
  }
  const { json: byKey } = await running.call("GET", "/admin/usage", admin);
  const ofNavy = byKey.keys.filter(({ account }: { account: string }) => account === "navy");
  assert.deepEqual(
    ofNavy.map(({ limit }: { limit: number }) => limit),
    [4, 4],
  );
  const { accounts } = (await running.call("GET", "/admin/accounts", admin)).json;
  const navy = accounts.find(({ account }: { account: string }) => account === "navy");
  assert.deepEqual([navy.monthly_limit, navy.used_this_month, navy.keys], [4, 4, 2]);
  assert.equal((await limit(null)).json.monthly_limit, null);
  // What it used under the account's limit counts.
  assert.deepEqual(standing(await encode(two.key)), ["1000", "998"]);
  assert.equal(problemCode(await limit(-1)), "400 invalid_request");
  const missing = await running.call("PATCH", "/admin/accounts/nobody", {
    ...admin,
    body: { monthly_limit: 1 },
  });
  assert.equal(problemCode(missing), "404 not_found");
});
