/** The PostgreSQL store passes the conformance suite, and what only it has to care about: SQL, slots, groups. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import postgres from "postgres";
import { Failure } from "../../../src/base/errors.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import type { Store } from "../../../src/memory/ports.ts";
import { userSlot } from "../../../src/store/postgres/cluster/placement.ts";
import type { PostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { grantConformance } from "../../conformance/grants.ts";
import { keyRequest, keyRequestConformance } from "../../conformance/key-requests.ts";
import { storeConformance } from "../../conformance/store.ts";
import { storeAnswersConformance } from "../../conformance/store-answers.ts";
import { storeAuditConformance } from "../../conformance/store-audit.ts";
import { storeClearsConformance } from "../../conformance/store-clears.ts";
import { storeCountsConformance } from "../../conformance/store-counts.ts";
import { storeLifeConformance } from "../../conformance/store-life.ts";
import { storeLimitsConformance } from "../../conformance/store-limits.ts";
import { storeOperatorsConformance } from "../../conformance/store-operators.ts";
import { storePlacesConformance } from "../../conformance/store-places.ts";
import { storeRightsConformance } from "../../conformance/store-rights.ts";
import { storeSharedConformance } from "../../conformance/store-shared.ts";
import { forget, keyRecord, write } from "../../conformance/store-under-test.ts";
import { anyCharacter } from "../../fixtures/characters.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { briefly, labelAt, viewOf } from "../../fixtures/views.ts";
import { newDatabase, openEmptiedStore, openStore } from "../../postgres/server.ts";

storeConformance("postgres", openEmptiedStore);
storeAnswersConformance("postgres", openEmptiedStore);
storeCountsConformance("postgres", openEmptiedStore);
storeLifeConformance("postgres", openEmptiedStore);
storePlacesConformance("postgres", openEmptiedStore);
keyRequestConformance("postgres", openEmptiedStore);
grantConformance("postgres", openEmptiedStore);
storeOperatorsConformance("postgres", openEmptiedStore);
storeAuditConformance("postgres", openEmptiedStore);
storeLimitsConformance("postgres", openEmptiedStore);
storeClearsConformance("postgres", openEmptiedStore);
storeRightsConformance("postgres", openEmptiedStore);
storeSharedConformance("postgres", openEmptiedStore);

const NOW = Date.UTC(2026, 10, 15, 12);
const HOSTILE = [
  "'; DROP TABLE sideband.facts; --",
  "\\'; SELECT 1; --",
  "$1 $$ $body$ %s %L :name @x",
  '{"a","b"}',
  "{NULL}",
  "NULL",
  "null",
  '","',
  "\\x00",
  "\\",
  '"',
  "'",
  "0",
  "-1e309",
  "true",
  "2026-11-15",
  "[object Object]",
  "__proto__",
  " leading and trailing ",
  "\u00a0",
  "é e\u0301 \u{1F469}\u200d\u{1F4BB} \uFEFF \uFFFD \u202e \u{10FFFF} \uE000",
  "İıſẞ",
  "x".repeat(100),
];

for (const [forms, clusterForms] of [
  ["a single server", false],
  ["a cluster", true],
] as const)
  test(`postgres: hostile strings in every text field come back exactly, with the rows of ${forms}`, () =>
    hostileStringsComeBack(clusterForms));

async function hostileStringsComeBack(clusterForms: boolean): Promise<void> {
  const store = await openStore(await newDatabase(), { clusterForms });
  // All at once, so that they meet in the groups of writes.
  await Promise.all(HOSTILE.map((text) => hostileText(store, text)));
  const walked: string[] = [];
  for await (const { account, userId } of store.walkUsers()) {
    assert.equal(account, userId);
    walked.push(userId);
  }
  assert.deepEqual(walked.sort(), [...HOSTILE].sort());
  for (const text of HOSTILE) assert.ok(await store.forgetUser(text, text));
  await store.close();
}

/** The text in a write, a key, a request and a setting. */
async function hostileText(store: PostgresStore, text: string): Promise<void> {
  const month = "2026-11";
  const idempotency = { keyId: text, key: text, fingerprint: Buffer.alloc(32, 7), expiresAtMs: NOW + 1000 };
  const request = {
    ...write(text, [
      [0, text],
      [39, `${text}${text}`],
    ]),
    account: text,
    quota: { keyId: text, month, day: "2026-11-15", limit: 10 },
    idempotency,
  };
  assert.deepEqual(briefly(await store.write(request)), { outcome: "stored", channelCount: 2, used: 2 });
  assert.deepEqual(briefly(await store.write(request)), { outcome: "replayed", channelCount: 2, used: 2 });
  const state = await store.readUser(viewOf(text, text));
  assert.deepEqual(fieldsOf(state?.facts, "value"), [`${text}${text}`, text]);
  assert.equal((await store.readFact(viewOf(text, text), "USER.name"))?.value, text);
  assert.equal(await store.readUsage(text, month), 2);
  await hostileLife(store, text);
  const record = { ...keyRecord(text, text), note: text, prefix: text, user: text, tier: "pro" as const };
  await store.addKey(record);
  assert.deepEqual(await store.readKey(text), record);
  assert.deepEqual(await store.listKeys(text), [record]);
  const asked = {
    id: text,
    name: text,
    email: text,
    purpose: text,
    tier: "free",
    createdAtMs: NOW,
    status: "open",
    decidedAtMs: null,
    keyId: null,
  } as const;
  await store.addKeyRequest(asked);
  const decided = await store.decideKeyRequest(text, { status: "approved", decidedAtMs: NOW, keyId: text });
  assert.deepEqual(decided, { ...asked, status: "approved", decidedAtMs: NOW, keyId: text });
  for (const value of [text, "another"]) assert.equal(await store.agreeOn(text, value), text);
}

/** The text as place, writer, session and value of a fact that is replaced, forgotten and gone. */
async function hostileLife(store: Store, text: string): Promise<void> {
  const [by, place] = [{ writtenBy: text, sessionId: text }, `x${text}`];
  const change = (value: string | null, keepHistory = false) =>
    store.write({
      ...write(text, [], { account: text, places: ["", place], ...by }),
      changes: [{ place, label: "OWN.label_255", value, keepHistory }],
    });
  await change(text);
  assert.deepEqual(briefly(await change("another")), { outcome: "stored", channelCount: 3, used: 0 });
  await change(null, true);
  const life = await store.readLife(text, text, { nowMs: NOW, place });
  assert.deepEqual(
    life?.earlier.map(({ value, writtenBy, sessionId, ended }) => ({ value, writtenBy, sessionId, ended })),
    [
      { value: text, ...by, ended: "replaced" },
      { value: "another", ...by, ended: "forgotten" },
    ],
  );
  await change(null);
  assert.deepEqual((await store.readLife(text, text, { nowMs: NOW, place }))?.earlier, []);
  await change(text);
  assert.ok(await store.forgetUser(text, text, place));
  const label = {
    label: text,
    description: text,
    example: text,
    oneOf: [text, "x"],
    scope: null,
    hidden: true,
  };
  const added = await store.addLabel(text, { ...label, maxBytes: 7, ttlS: 9, createdAtMs: NOW });
  assert.deepEqual(await store.readLabels(text), [added.outcome === "added" && added.label]);
}

test("postgres: any value of Unicode without control characters comes back exactly", async () => {
  const store = await openStore(await newDatabase());
  const value = fc
    .string({ unit: anyCharacter, minLength: 1, maxLength: 200 })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what the service refuses before any store.
    .filter((text) => text.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text));
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 40 }), async (values) => {
      await store.write(
        write(
          "ada",
          values.map((text, channel): [number, string] => [channel, text]),
        ),
      );
      const state = await store.readUser(viewOf("ada"));
      assert.deepEqual(
        values.map((_, i) => state?.facts.find(({ label }) => label === labelAt(i))?.value),
        values,
      );
    }),
    { numRuns: 30 },
  );
  await store.close();
});

test("postgres: a write that the database refuses fails alone, its neighbours in the group are stored", async () => {
  const store = await openStore(await newDatabase());
  const results = await Promise.allSettled([
    store.write(write("one", [[0, "fine"]])),
    store.write(write("two", [[0, "with\u0000NUL"]])),
    store.write(write("three", [["USER\0name", "no such label"]])),
    store.write(write("four", [[0, "fine"]])),
  ]);
  assert.deepEqual(fieldsOf(results, "status"), ["fulfilled", "rejected", "rejected", "fulfilled"]);
  assert.equal((await store.readFact(viewOf("four"), "USER.name"))?.value, "fine");
  assert.equal(await store.readUser(viewOf("three")), undefined);
  await store.close();
});

test("postgres: a write of a user whose rows are damaged fails alone, its neighbours in the group are stored", async () => {
  const url = await newDatabase();
  const store = await openStore(url);
  await store.write(write("damaged", [[0, "before"]]));
  const sql = postgres(url, { max: 1 });
  await sql`UPDATE sideband.users SET facts = 0 WHERE user_id = 'damaged'`;
  const quota = { keyId: "big", month: "2026-11", day: "2026-11-15", limit: 9 };
  const results = await Promise.allSettled([
    store.write(write("one", [[0, "fine"]], { quota })),
    store.write(write("damaged", [], { changes: [forget(0)] })),
    store.write(write("two", [[0, "fine"]], { account: "globex", quota })),
  ]);
  assert.deepEqual(fieldsOf(results, "status"), ["fulfilled", "rejected", "fulfilled"]);
  assert.equal((await store.readFact(viewOf("two", "globex"), "USER.name"))?.value, "fine");
  assert.equal((await store.readFact(viewOf("damaged"), "USER.name"))?.value, "before");
  assert.equal(await store.readUsage("big", "2026-11"), 2, "each counts once");
  await sql.end();
  await store.close();
});

test("postgres: a key without a limit has no row that all its writes touch, and is added up exactly", async () => {
  const url = await newDatabase();
  const store = await openStore(url);
  const quota = { keyId: "big", month: "2026-11", day: "2026-11-15", limit: null };
  await Promise.all(
    Array.from({ length: 300 }, (_, i) =>
      store.write(
        write(
          `user-${i}`,
          [
            [0, "x"],
            [1, "y"],
          ],
          { quota },
        ),
      ),
    ),
  );
  assert.equal(await store.readUsage("big", "2026-11"), 600);
  const sql = postgres(url, { max: 1 });
  const counters = await sql<{ slot: number; used: string }[]>`SELECT slot, used FROM sideband.day_counters`;
  const slots = new Set(Array.from({ length: 300 }, (_, i) => userSlot("acme", `user-${i}`)));
  assert.deepEqual(new Set(counters.map(({ slot }) => slot)), slots);
  assert.equal((await sql`SELECT 1 FROM sideband.month_counters`).length, 0);
  await sql.end();
  await store.close();
});

test("postgres: the users of one account spread over the slots, and a slot never changes", () => {
  const counts = new Array<number>(1024).fill(0);
  for (let i = 0; i < 100_000; i++) counts[userSlot("acme", `user-${i}`)] += 1;
  // 98 on average; a binomial leaves this range less than once in a million runs.
  assert.ok(Math.min(...counts) > 40 && Math.max(...counts) < 170);
  assert.deepEqual(
    [userSlot("acme", "ada"), userSlot("ac", "meada"), userSlot("default", "\u{1F9E0}")],
    [29, 127, 255],
  );
});

test("postgres: more waiting writes than the queue holds are refused, the others are stored", async () => {
  const store = await openStore(await newDatabase(), { queueMax: 10 });
  const results = await Promise.allSettled(
    Array.from({ length: 15 }, (_, i) => store.write(write(`u${i}`, [[0, "x"]]))),
  );
  const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  assert.equal(refused.length, 5);
  assert.ok(refused.every((error) => error instanceof Failure && error.code === "overloaded"));
  assert.equal((await store.statistics()).users, 10);
  await store.close();
});

test("postgres: of several hosts in the address, the one that answers and takes writes is used", async () => {
  const url = await newDatabase();
  const store = await openStore(url.replace("@127.0.0.1:", "@127.0.0.1:9,127.0.0.1:"));
  await store.probe();
  await store.write(write("ada", [[0, "Ada"]]));
  assert.equal((await store.readFact(viewOf("ada"), "USER.name"))?.value, "Ada");
  await store.close();
});

test("postgres: a database that takes no writes is not ready, and refuses as unavailable", async () => {
  const url = await newDatabase();
  const store = await openStore(url);
  const sql = postgres(url, { max: 1 });
  const [{ name }] = await sql`SELECT current_database() AS name`;
  await sql`ALTER DATABASE ${sql(name)} SET default_transaction_read_only = on`;
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name} AND pid <> pg_backend_pid()`;
  const unavailable = (error: unknown) => error instanceof Failure && error.code === "store_unavailable";
  // The first attempt may meet the cut connection, the later ones the read-only database: both are "later again".
  for (let i = 0; i < 3; i++) {
    await assert.rejects(store.probe(), unavailable);
    await assert.rejects(store.write(write("ada", [[0, "Ada"]])), unavailable);
  }
  await sql.end();
  await store.close();
});

test("postgres: a request that is being approved cannot be declined meanwhile", async () => {
  const url = await newDatabase();
  const [store, other] = await Promise.all([openStore(url), openStore(url)]);
  const sql = postgres(url, { max: 2 });
  await store.addKeyRequest(keyRequest("r1"));
  const key = keyRecord("key1");
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  // The approval stops where it adds its key: another transaction is about to add the same one.
  let holding: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve) => {
    holding = sql
      .begin(async (tx) => {
        await tx`INSERT INTO sideband.api_keys (slot, created_at_ms, id, account, tier, hash, prefix, note, access)
          VALUES (0, 0, ${key.id}, 'acme', 'free', ${key.hash}, '', '', 'write')`;
        resolve();
        await held;
        throw new Error("rolled back");
      })
      .catch(() => {});
  });
  const waiting = async () =>
    (
      await sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    ).length;
  const approving = store.addKey(key, { requestId: "r1", account: "new" });
  while ((await waiting()) < 1) await new Promise(setImmediate);
  let isDeclined = false;
  const declining = other
    .decideKeyRequest("r1", { status: "declined", decidedAtMs: NOW, keyId: null })
    .finally(() => {
      isDeclined = true;
    });
  while (!isDeclined && (await waiting()) < 2) await new Promise(setImmediate);
  letGo();
  assert.deepEqual([await approving, await declining], ["added", undefined]);
  assert.equal((await store.listKeyRequests())[0].status, "approved");
  await holding;
  await Promise.all([store.close(), other.close(), sql.end()]);
});

test("postgres: a store that could not be opened leaves no timer behind", async (context) => {
  const url = await newDatabase();
  const metrics = new Metrics();
  context.mock.method(metrics, "define", () => {
    throw new Error("a late step");
  });
  const begun = context.mock.method(globalThis, "setInterval");
  const ended = context.mock.method(globalThis, "clearInterval");
  await assert.rejects(openStore(url, { metrics }), /a late step/);
  const timers = new Set(begun.mock.calls.map(({ result }) => result));
  assert.ok(timers.size > 0);
  for (const { arguments: given } of ended.mock.calls) timers.delete(given[0] as NodeJS.Timeout);
  assert.equal(timers.size, 0);
});
