/** What the operator does with keys and with requests for keys. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { hashOfKey } from "../../../src/memory/key-format.ts";
import { KeyManager } from "../../../src/memory/key-manager.ts";
import type { KeyRequest } from "../../../src/memory/records.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { FakeClock } from "../blockwork/fake-workers.ts";
import { temporaryStore } from "./memory-services.ts";

const NOON = "2026-11-15T12:00:00Z";

async function setUp(context: TestContext, time = NOON) {
  const store = await temporaryStore(context);
  const clock = new FakeClock(Date.parse(time));
  let made = 0;
  const keys = new KeyManager(store, clock, { newId: () => `id${++made}` });
  const request = async (tier?: KeyRequest["tier"]) => {
    await keys.request({ name: "Ada", email: "ada@example.org", purpose: "tests", tier });
    return (await keys.requests()).at(-1)!.id;
  };
  /** Counts one fact against a key, at a moment. */
  const use = async (keyId: string, moment: string) => {
    const { outcome } = await store.write({
      account: "acme",
      userId: "ada",
      changes: [{ place: "", label: "USER.name", value: "Ada" }],
      places: [""],
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
    tier: "unlimited",
    hash: hashOfKey(key),
    prefix: key.slice(0, 12),
    note: "first",
    user: null,
    access: "write",
    createdAtMs: Date.parse(NOON),
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
  });
  assert.equal(JSON.stringify(record).includes(key), false);
});

test("an id that nobody hands in has 16 hexadecimal digits, and is another one each time", async (context) => {
  const { store, clock } = await setUp(context);
  const keys = new KeyManager(store, clock);
  const made = [await keys.create({ account: "acme" }), await keys.create({ account: "acme" })];
  for (const { record } of made) assert.match(record.id, /^[0-9a-f]{16}$/);
  assert.notEqual(made[0].record.id, made[1].record.id);
});

test("a key that the store did not take is not handed out", async (context) => {
  const { store, clock, request } = await setUp(context);
  const keys = new KeyManager(store, clock, { newId: () => "same" });
  const { record } = await keys.create({ account: "acme" });
  const unstored = { name: "AssertionError", message: "a new key was not stored: key_exists" };
  await assert.rejects(keys.create({ account: "acme" }), unstored);
  await assert.rejects(keys.approve(await request(), { account: "globex" }), unstored);
  assert.deepEqual(await keys.list(), [record]);
});

test("an expiry that is not in the future is refused, and no key is made", async (context) => {
  const { clock, keys } = await setUp(context);
  const create = (expiresAtMs: number) => keys.create({ account: "acme", expiresAtMs });
  for (const expiresAtMs of [clock.now() - 1, clock.now()])
    await assert.rejects(create(expiresAtMs), { code: "invalid_request", extra: { param: "expires_at" } });
  assert.deepEqual(await keys.list(), []);
  assert.equal((await create(clock.now() + 1)).record.expiresAtMs, clock.now() + 1);
});

test("a key for an account or a user that cannot be is not made", async (context) => {
  const { keys } = await setUp(context);
  await assert.rejects(keys.create({ account: "@demo" }), { code: "invalid_request" });
  await assert.rejects(keys.create({ account: "acme", user: "" }), {
    code: "invalid_request",
    extra: { param: "user" },
  });
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
  await assert.rejects(keys.revoke("nobody"), { code: "not_found", extra: { param: "id" } });
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

/** One of the two, and the code with which the other was refused. */
async function oneOf<T>(both: readonly Promise<T>[]): Promise<{ value: T; code: string }> {
  const results = await Promise.allSettled(both);
  const { value } = results.find((result) => result.status === "fulfilled")!;
  const { reason } = results.find((result) => result.status === "rejected")!;
  return { value, code: reason.code };
}

test("of two approvals of one request at once, one makes a key and the other leaves neither key nor account", async (context) => {
  const { keys, request } = await setUp(context);
  const id = await request();
  const { value, code } = await oneOf(["acme", "globex"].map((account) => keys.approve(id, { account })));
  assert.equal(code, "conflict");
  assert.deepEqual(await keys.list(), [value.record]);
  assert.equal((await keys.accounts()).length, 1);
  assert.equal((await keys.requests())[0].keyId, value.record.id);
});

test("of two approvals for one new name at once, one gets the account and the other leaves its request open", async (context) => {
  const { keys, request } = await setUp(context);
  const ids = [await request(), await request()];
  const { value, code } = await oneOf(ids.map((id) => keys.approve(id, { account: "acme" })));
  assert.equal(code, "account_exists");
  assert.deepEqual(await keys.list(), [value.record]);
  const statuses = (await keys.requests()).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), ["approved", "open"]);
});

test("an approval does not enter an account that exists, and says what is in it", async (context) => {
  const { store, keys, request, use } = await setUp(context);
  const { record } = await keys.create({ account: "acme" });
  await use(record.id, NOON);
  const id = await request();
  await assert.rejects(keys.approve(id, { account: "acme" }), {
    code: "account_exists",
    message: "The account acme exists, with 1 key and 1 user. The key would have access to all of it.",
    extra: { param: "account" },
  });
  assert.deepEqual(await keys.list(), [record]);
  assert.equal((await keys.requests())[0].status, "open");
  const write = (userId: string) =>
    store.write({
      account: "acme",
      userId,
      changes: [{ place: "", label: "USER.name", value: "x" }],
      places: [""],
      nowMs: 1,
    });
  await Promise.all(Array.from({ length: 999 }, (_, i) => write(`u${i}`)));
  await assert.rejects(keys.approve(id, { account: "acme" }), /with 1 key and 1,000 users/);
  await write("one more");
  await assert.rejects(keys.approve(id, { account: "acme" }), /1 key and more than 1,000 users/);
});

test("an account without a key that holds facts exists", async (context) => {
  const { keys, request, use } = await setUp(context);
  await use("owner:acme", NOON);
  const id = await request();
  await assert.rejects(keys.approve(id, { account: "acme" }), /acme exists, with 0 keys and 1 user/);
  assert.equal((await keys.approve(id, { account: "acme", join: true })).record.account, "acme");
});

test("an approval without an account makes a new one under an unused name", async (context) => {
  const { store, keys, request } = await setUp(context);
  await keys.create({ account: "example-ada" });
  // Facts without a key make a name used too.
  await store.write({
    account: "example-ada-2",
    userId: "ada",
    changes: [{ place: "", label: "USER.name", value: "Ada" }],
    places: [""],
    nowMs: Date.parse(NOON),
  });
  const ids = [await request(), await request(), await request()];
  const made = await Promise.all(ids.map((id) => keys.approve(id, {})));
  const names = made.map(({ record }) => record.account).sort();
  assert.deepEqual(names, ["example-ada-3", "example-ada-4", "example-ada-5"]);
  assert.equal((await keys.list("example-ada")).length, 1);
  assert.throws(() => keys.list("no account"), { code: "invalid_request", extra: { param: "account" } });
});

test("an approval that joins names the account", async (context) => {
  const { keys, request } = await setUp(context);
  const id = await request();
  await assert.rejects(keys.approve(id, { join: true }), {
    code: "invalid_request",
    extra: { param: "account" },
  });
  assert.deepEqual(await keys.list(), []);
});

test("an approval that joins needs an account that exists", async (context) => {
  const { keys, request } = await setUp(context);
  const id = await request();
  const join = (account: string) => keys.approve(id, { account, join: true });
  await assert.rejects(join("acme"), { code: "not_found", extra: { param: "account" } });
  assert.deepEqual([await keys.list(), await keys.accounts()], [[], []]);
  await keys.create({ account: "acme" });
  assert.equal((await join("acme")).record.account, "acme");
  assert.deepEqual(fieldsOf(await keys.accounts(), "keys"), [2]);
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
  await assert.rejects(keys.decline(id), { code: "conflict", extra: { param: "id" } });
});

test("a request can be deleted, open or decided, and its key stays", async (context) => {
  const { keys, request } = await setUp(context);
  const [open, approved] = [await request(), await request()];
  const { record } = await keys.approve(approved, { account: "acme" });
  for (const id of [open, approved]) await keys.deleteRequest(id);
  assert.deepEqual(await keys.requests(), []);
  assert.deepEqual(await keys.list(), [record]);
  await assert.rejects(keys.deleteRequest(open), { code: "not_found", extra: { param: "id" } });
});

test("when a thousand requests are open, a new one takes the place of the oldest open one", async (context) => {
  const { store, clock, keys, request } = await setUp(context);
  const decided = await request();
  await keys.decline(decided);
  const [oldest, second] = [await request(), await request()];
  const open = (await keys.requests()).find(({ id }) => id === second)!;
  clock.advance(1);
  const others = Array.from({ length: 997 }, (_, i) => ({ ...open, id: `a${i}`, createdAtMs: clock.now() }));
  await Promise.all(others.map((other) => store.addKeyRequest(other)));
  clock.advance(1);
  const ids = async () => new Set((await keys.requests()).map(({ id }) => id));
  const thousandth = await request();
  assert.deepEqual([(await ids()).size, (await ids()).has(oldest)], [1001, true]);
  const newest = await request();
  const left = await ids();
  assert.equal(left.size, 1001);
  assert.equal(left.has(oldest), false);
  for (const id of [decided, second, thousandth, newest]) assert.ok(left.has(id), id);
});

const REQUEST = { name: "Ada", email: "ada@example.org", purpose: "tests" };

for (const [what, text] of [
  ["U+0000", "a\u0000b@example.org"],
  ["a line break", "a\nb@example.org"],
  ["U+2028", "a\u2028b@example.org"],
  ["half of a surrogate pair", "a\ud800b@example.org"],
  ["U+202A", "a\u202ab@example.org"],
  ["U+202E", "a\u202eb@example.org"],
  ["U+2066", "a\u2066b@example.org"],
  ["U+2069", "a\u2069b@example.org"],
]) {
  test(`a request with ${what} in its name, address or purpose is refused`, async (context) => {
    const { keys } = await setUp(context);
    for (const param of ["name", "email", "purpose"])
      await assert.rejects(keys.request({ ...REQUEST, [param]: text }), {
        code: "invalid_request",
        extra: { param },
      });
    assert.deepEqual(await keys.requests(), []);
  });
}

test("an address has an @ and a dot behind it", async (context) => {
  const { keys } = await setUp(context);
  for (const email of [
    "ada",
    "ada@example",
    "a.da@example",
    "@example.org",
    "a@b@example.org",
    "a b@example.org",
  ])
    await assert.rejects(keys.request({ ...REQUEST, email }), {
      code: "invalid_request",
      message: "email must have an @ and a dot behind it.",
      extra: { param: "email" },
    });
  for (const email of ["ada@example.org", "a.b+c@mail.example.org", "ä@bücher.example"])
    await keys.request({ ...REQUEST, email });
  assert.equal((await keys.requests()).length, 3);
});

test("letters of every script, and those written from right to left, are taken", async (context) => {
  const { keys } = await setUp(context);
  await keys.request({ ...REQUEST, name: "عدا", purpose: "日本語 🧠 e\u0301" });
  assert.equal((await keys.requests()).length, 1);
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
