/** What the operator does with keys and with requests for keys. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { hashOfKey } from "../../../src/memory/key-format.ts";
import { KeyManager } from "../../../src/memory/key-manager.ts";
import type { KeyRequest } from "../../../src/memory/ports.ts";
import { FakeClock } from "../blockwork/fake-workers.ts";
import { temporaryStore } from "./memory-services.ts";

const NOON = "2026-11-15T12:00:00Z";

async function setUp(context: TestContext, time = NOON) {
  const store = await temporaryStore(context);
  const clock = new FakeClock(Date.parse(time));
  let made = 0;
  const keys = new KeyManager(store, clock, () => `id${++made}`);
  const request = async (tier?: KeyRequest["tier"]) => {
    await keys.request({ name: "Ada", email: "ada@example.org", purpose: "tests", tier });
    return (await keys.requests()).at(-1)!.id;
  };
  /** Counts one fact against a key, at a moment. */
  const use = async (keyId: string, moment: string) => {
    const { outcome } = await store.write({
      account: "acme",
      userId: "ada",
      facts: [{ channel: 0, value: "Ada" }],
      nowMs: Date.parse(moment),
      quota: { keyId, month: moment.slice(0, 7), day: moment.slice(0, 10), limit: null },
    });
    assert.equal(outcome, "stored");
  };
  return { store, clock, keys, request, use };
}

test("the store holds a new key's hash and its first characters, and not the key", async (context) => {
  const { store, keys } = await setUp(context);
  const { key, record } = await keys.create({ account: "acme", note: "first" });
  assert.deepEqual(store.readKey("id1"), record);
  assert.deepEqual(record, {
    id: "id1",
    account: "acme",
    tier: "free",
    hash: hashOfKey(key),
    prefix: key.slice(0, 12),
    note: "first",
    createdAtMs: Date.parse(NOON),
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
  });
  assert.equal(JSON.stringify(record).includes(key), false);
});

test("an expiry that is not in the future is refused, and no key is made", async (context) => {
  const { clock, keys } = await setUp(context);
  const create = (expiresAtMs: number) => keys.create({ account: "acme", expiresAtMs });
  for (const expiresAtMs of [clock.now() - 1, clock.now()])
    await assert.rejects(create(expiresAtMs), { code: "invalid_request", extra: { param: "expires_at" } });
  assert.deepEqual(await keys.list(), []);
  assert.equal((await create(clock.now() + 1)).record.expiresAtMs, clock.now() + 1);
});

test("a key for an account that cannot be is not made", async (context) => {
  const { keys } = await setUp(context);
  await assert.rejects(keys.create({ account: "@demo" }), { code: "invalid_request" });
  assert.deepEqual(await keys.list(), []);
});

test("a revoked key keeps the time of its first revocation", async (context) => {
  const { clock, keys } = await setUp(context);
  const { record } = await keys.create({ account: "acme" });
  await keys.revoke(record.id);
  clock.advance(1000);
  assert.equal((await keys.revoke(record.id)).revokedAtMs, Date.parse(NOON));
});

test("a key's expiry can be set and taken away", async (context) => {
  const { store, keys } = await setUp(context);
  await keys.create({ account: "acme" });
  await keys.expire("id1", 5);
  assert.equal(store.readKey("id1")?.expiresAtMs, 5);
  await keys.expire("id1", null);
  assert.equal(store.readKey("id1")?.expiresAtMs, null);
});

test("a key that does not exist can neither be revoked nor be given an expiry", async (context) => {
  const { keys } = await setUp(context);
  await assert.rejects(keys.revoke("nobody"), { code: "not_found" });
  await assert.rejects(keys.expire("nobody", null), { code: "not_found" });
});

test("an account is listed with the number of its keys", async (context) => {
  const { keys } = await setUp(context);
  for (const account of ["acme", "acme", "globex"]) await keys.create({ account });
  const counts = (await keys.accounts()).map(({ account, keys }) => [account, keys]);
  assert.deepEqual(counts, [
    ["acme", 2],
    ["globex", 1],
  ]);
});

test("an approval makes a key of the tier that was requested, with the requester in its note", async (context) => {
  const { store, keys, request } = await setUp(context);
  const id = await request("builder");
  const { key, record } = await keys.approve(id, { account: "acme" });
  assert.deepEqual([record.tier, record.note], ["builder", "Ada <ada@example.org>"]);
  assert.deepEqual(store.findKey(hashOfKey(key)), record);
});

test("an approval whose tier is undefined makes a key of the tier that was requested", async (context) => {
  const { keys, request } = await setUp(context);
  const { record } = await keys.approve(await request("builder"), { account: "acme", tier: undefined });
  assert.equal(record.tier, "builder");
});

test("an approval may name another tier", async (context) => {
  const { keys, request } = await setUp(context);
  const { record } = await keys.approve(await request("builder"), { account: "acme", tier: "pro" });
  assert.equal(record.tier, "pro");
});

test("an approved request names its key and the time of the decision", async (context) => {
  const { clock, keys, request } = await setUp(context);
  const id = await request();
  clock.advance(60_000);
  const { record } = await keys.approve(id, { account: "acme" });
  const [{ status, decidedAtMs, keyId }] = await keys.requests();
  assert.deepEqual([status, decidedAtMs, keyId], ["approved", Date.parse("2026-11-15T12:01:00Z"), record.id]);
});

test("of two approvals of one request at once, one makes a key and the other is a conflict whose key is revoked", async (context) => {
  const { keys, request } = await setUp(context);
  const id = await request();
  const approve = () => keys.approve(id, { account: "acme" });
  const results = await Promise.allSettled([approve(), approve()]);
  const approved = results.find((result) => result.status === "fulfilled")!.value;
  const refused = results.find((result) => result.status === "rejected")!.reason;
  assert.equal(refused.code, "conflict");
  const all = await keys.list();
  assert.equal(all.length, 2);
  const live = all.filter(({ revokedAtMs }) => revokedAtMs === null);
  assert.deepEqual(live, [approved.record]);
  assert.equal((await keys.requests())[0].keyId, approved.record.id);
});

test("a request that is declined, approved or unknown cannot be approved, and no key is made", async (context) => {
  const { keys, request } = await setUp(context);
  const declined = await request();
  await keys.decline(declined);
  const approved = await request();
  await keys.approve(approved, { account: "acme" });
  for (const id of [declined, approved, "nobody"])
    await assert.rejects(keys.approve(id, { account: "acme" }), { code: "conflict" });
  assert.equal((await keys.list()).length, 1);
});

test("a request can be declined once", async (context) => {
  const { keys, request } = await setUp(context);
  const id = await request();
  const { status, decidedAtMs, keyId } = await keys.decline(id);
  assert.deepEqual([status, decidedAtMs, keyId], ["declined", Date.parse(NOON), null]);
  await assert.rejects(keys.decline(id), { code: "conflict" });
});

test("a thousand requests may be open, and one that is decided makes room for another", async (context) => {
  const { store, keys, request } = await setUp(context);
  const first = await request();
  const [open] = await keys.requests();
  await Promise.all(Array.from({ length: 998 }, (_, i) => store.addKeyRequest({ ...open, id: `other${i}` })));
  await request();
  await assert.rejects(request(), { code: "rate_limited", extra: { retryAfterS: 3600 } });
  await keys.decline(first);
  await request();
  await assert.rejects(request(), { code: "rate_limited" });
});

test("usage is that of the present month, with the days that were asked for", async (context) => {
  const { clock, keys, use } = await setUp(context, "2026-12-31T23:59:59.999Z");
  const { record } = await keys.create({ account: "acme", tier: "pro" });
  for (const moment of ["2026-11-30T23:59:59.999Z", "2026-12-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z"])
    await use(record.id, moment);
  await use(record.id, "2026-12-31T23:59:59.999Z");
  const days = [
    { day: "2026-12-01", count: 1 },
    { day: "2026-12-31", count: 2 },
  ];
  const december = { from: "2026-12-01", to: "2026-12-31" };
  const expected = { key: record, limit: 50_000, usedThisMonth: 3, days };
  assert.deepEqual(await keys.usage(december), [expected]);
  clock.advance(1);
  assert.deepEqual(await keys.usage(december), [{ ...expected, usedThisMonth: 0 }]);
});

test("usage can be asked for one key or one account", async (context) => {
  const { keys } = await setUp(context);
  for (const account of ["acme", "acme", "globex"]) await keys.create({ account });
  const ids = async (filter: { keyId?: string; account?: string }) =>
    (await keys.usage({ ...filter, ...keys.recentDays() })).map(({ key }) => key.id);
  assert.deepEqual(await ids({}), ["id1", "id2", "id3"]);
  assert.deepEqual(await ids({ account: "acme" }), ["id1", "id2"]);
  assert.deepEqual(await ids({ keyId: "id2" }), ["id2"]);
  assert.deepEqual(await ids({ keyId: "id2", account: "globex" }), []);
});

test("the recent days are 31, today included, also across the ends of months and years", () => {
  for (const [now, from, to] of [
    ["2026-12-31T23:59:59.999Z", "2026-12-01", "2026-12-31"],
    ["2027-01-01T00:00:00.000Z", "2026-12-02", "2027-01-01"],
    ["2026-03-01T12:00:00.000Z", "2026-01-30", "2026-03-01"],
    ["2028-03-01T12:00:00.000Z", "2028-01-31", "2028-03-01"],
    ["2026-10-31T00:00:00.000Z", "2026-10-01", "2026-10-31"],
  ]) {
    const keys = new KeyManager({} as never, new FakeClock(Date.parse(now)));
    assert.deepEqual(keys.recentDays(), { from, to });
  }
});
