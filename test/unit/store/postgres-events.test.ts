/** What a database records of events for those who listen, and histories after their limit was changed. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import postgres from "postgres";
import type { EndedFact, RecordedEvent } from "../../../src/memory/records.ts";
import { userSlot } from "../../../src/store/postgres/cluster/placement.ts";
import { DATABASE_DEFAULTS, Database } from "../../../src/store/postgres/connection/database.ts";
import { follow } from "../../../src/store/postgres/queries/event-queries.ts";
import { write } from "../../conformance/store-under-test.ts";
import { labelAt, numberOf, viewOf } from "../../fixtures/views.ts";
import { newDatabase, openStore, SERVICE_LOCK_MS } from "../../postgres/server.ts";

const NOW = Date.UTC(2026, 10, 15, 12);
const HOUR_MS = 3_600_000;
const UNTIL = NOW + 10 * HOUR_MS;

async function databaseWithStore(context: TestContext, options = {}) {
  const url = await newDatabase();
  const sql = postgres(url, { max: 1 });
  const store = await openStore(url, options);
  context.after(async () => {
    await Promise.all([store.close(), sql.end()]);
  });
  return { url, sql, store };
}

const briefly = (events: readonly RecordedEvent[]) =>
  events.map(({ userId, kind, label }) => [userId, kind, label && numberOf(label)].join(" "));

test("postgres: what happens in an account is recorded from the first listener on, with a number and without a value", async (context) => {
  const { store } = await databaseWithStore(context);
  await store.write(write("ada", [[0, "before"]]));
  const { log, last } = await store.followEvents("acme", UNTIL);
  const outcome = await store.write({
    ...write("ada", [], { writtenBy: "tests", nowMs: NOW + 1 }),
    changes: [{ place: "loom", label: "USER.gpu", value: "x" }],
  });
  await store.write(write("eve", [[0, "y"]], { account: "globex" }));
  await store.write({ ...write("ada", []), changes: [{ place: "", label: "USER.name", value: null }] });
  const { first, last: end, events } = await store.readEvents(["acme"], last, 10);
  assert.deepEqual(events[0], {
    account: "acme",
    number: last + 1,
    userId: "ada",
    place: "loom",
    label: labelAt(3),
    revision: outcome.outcome === "stored" && outcome.revision,
    kind: "written",
    writtenBy: "tests",
    atMs: NOW + 1,
  });
  assert.deepEqual([first, end, events.length], [last, last + 2, 2]);
  assert.deepEqual([events[1].kind, events[1].label, events[1].writtenBy], ["forgotten", labelAt(0), null]);
  assert.deepEqual(await store.followEvents("acme", UNTIL), { log, last: end });
  await store.forgetUser("acme", "ada");
  assert.equal((await store.readEvents(["acme"], end, 10)).events[0].label, null);
});

test("postgres: whoever is the first to listen on a cluster waits for as long as a write may take, since no machine knows all of them", async (context) => {
  const { url } = await databaseWithStore(context);
  const database = new Database({ ...DATABASE_DEFAULTS, url });
  context.after(() => database.close());
  const startedMs = performance.now();
  const begun = await follow(database, "acme", UNTIL, true);
  assert.ok(performance.now() - startedMs >= 999);
  assert.deepEqual(await follow(database, "acme", UNTIL, true), begun);
});

test("postgres: events are read after a number, so many and no more, of all accounts that are named", async (context) => {
  const { store } = await databaseWithStore(context);
  const { last } = await store.followEvents("acme", UNTIL);
  await store.followEvents("globex", UNTIL);
  for (let i = 0; i < 3; i++) {
    await store.write(write(`a${i}`, [[i, "x"]]));
    await store.write(write(`g${i}`, [[i, "x"]], { account: "globex" }));
  }
  const read = async (accounts: string[], after: number, limit = 10) =>
    briefly((await store.readEvents(accounts, after, limit)).events);
  assert.deepEqual(await read(["acme"], last), ["a0 written 0", "a1 written 1", "a2 written 2"]);
  assert.deepEqual(await read(["acme"], last + 1), ["a1 written 1", "a2 written 2"]);
  assert.deepEqual(await read(["acme", "globex"], last, 3), ["a0 written 0", "g0 written 0", "a1 written 1"]);
  const nobody = await store.readEvents(["nobody"], last, 10);
  assert.deepEqual(nobody, { first: last + 6, last: last + 6, events: [] });
});

test("postgres: what was told of a user or place that was forgotten is gone, the last moments of it after a sweep", async (context) => {
  const { store } = await databaseWithStore(context);
  const { last } = await store.followEvents("acme", Date.now() + HOUR_MS);
  const kept = async () =>
    (await store.readEvents(["acme"], last, 100)).events.map(({ userId, place, label }) =>
      [userId, place, label && numberOf(label)].join(" "),
    );
  const nowMs = Date.now();
  for (const atMs of [nowMs - 60_000, nowMs])
    for (const place of ["", "loom", "loom/w", "loo"])
      await store.write({
        ...write("ada", [], { nowMs: atMs }),
        changes: [{ place, label: labelAt(atMs === nowMs ? 1 : 0), value: "x" }],
      });
  await store.forgetUser("acme", "ada", "loom");
  const before = ["ada  0", "ada loo 0", "ada  1"];
  assert.deepEqual(await kept(), [...before, "ada loom 1", "ada loom/w 1", "ada loo 1", "ada loom "]);
  await store.sweep(Date.now());
  assert.deepEqual(await kept(), [...before, "ada loo 1", "ada loom "]);
  await store.forgetUser("acme", "ada");
  await store.sweep(Date.now());
  assert.deepEqual(await kept(), ["ada  "]);
});

test("postgres: an erasure that finds no fact takes the last moments, too, but not what tells of an earlier one", async (context) => {
  const { store } = await databaseWithStore(context);
  const { last } = await store.followEvents("acme", Date.now() + HOUR_MS);
  const kept = async () => briefly((await store.readEvents(["acme"], last, 100)).events);
  const nowMs = Date.now();
  await store.write(write("ada", [[0, "x"]], { nowMs }));
  await store.write(write("eve", [[0, "x"]], { nowMs }));
  const gone = { place: "", label: labelAt(0), value: null };
  await store.write({ ...write("ada", [], { nowMs }), changes: [gone] });
  await store.forgetUser("acme", "ada");
  assert.deepEqual(await kept(), ["eve written 0"]);
  await store.forgetUser("acme", "eve");
  assert.deepEqual(await kept(), ["eve written 0", "eve forgotten "]);
  await store.forgetUser("acme", "eve");
  assert.deepEqual(await kept(), ["eve forgotten "]);
});

test("postgres: two nodes that end the same facts record each end once, at its moment and in order", async (context) => {
  const { url, store } = await databaseWithStore(context);
  const other = await openStore(url);
  context.after(() => other.close());
  const { last } = await store.followEvents("acme", UNTIL);
  const users = ["ada", "bob", "eve"];
  for (const userId of users)
    await store.write({
      ...write(userId, []),
      changes: [3, 1, 2].map((end) => ({
        place: "loom",
        label: labelAt(end),
        value: "x",
        expiresAtMs: NOW + 100 * end,
      })),
    });
  const sweeps = [store.endFacts(NOW + 250), other.endFacts(NOW + 250), store.sweep(NOW + 250)];
  const ended = (await Promise.all(sweeps)).flat();
  assert.equal(ended.length, 6, "each end is told by the sweep that made it");
  const { events } = await store.readEvents(["acme"], last + 9, 100);
  for (const user of users)
    assert.deepEqual(
      events
        .filter(({ userId }) => userId === user)
        .map(({ kind, label, atMs }) => [kind, numberOf(label!), atMs]),
      [
        ["expired", 1, NOW + 100],
        ["expired", 2, NOW + 200],
      ],
    );
  assert.equal(events.length, 6);
  assert.equal(await other.nextEndMs(), NOW + 300);
});

test("postgres: facts of others end while somebody keeps a user locked", async (context) => {
  // So long the locked user is waited for.
  const { sql, store } = await databaseWithStore(context, { statementTimeoutMs: SERVICE_LOCK_MS });
  for (const userId of ["held", "ada"])
    await store.write({
      ...write(userId, []),
      changes: [{ place: "", label: "USER.name", value: "x", expiresAtMs: NOW + 1 }],
    });
  const usersOf = (ended: readonly EndedFact[]) => ended.map(({ userId }) => userId);
  await sql.begin(async (tx) => {
    await tx`SELECT FROM sideband.users WHERE slot = ${userSlot("acme", "held")} AND user_id = 'held' FOR UPDATE`;
    assert.deepEqual(usersOf(await store.endFacts(NOW + 1)), ["ada"]);
    assert.deepEqual(usersOf(await store.endFacts(NOW + 1)), []);
  });
  assert.deepEqual(usersOf(await store.endFacts(NOW + 1)), ["held"]);
});

test("postgres: a sweep removes events of more than an hour ago, and those of accounts that nobody listens to", async (context) => {
  const { store } = await databaseWithStore(context);
  const { log, last } = await store.followEvents("acme", UNTIL);
  for (const nowMs of [NOW, NOW + 1]) await store.write(write("ada", [[0, `at ${nowMs}`]], { nowMs }));
  await store.sweep(NOW + HOUR_MS);
  const { first, events } = await store.readEvents(["acme"], last, 10);
  assert.deepEqual([first, events.map(({ atMs }) => atMs)], [last + 1, [NOW + 1]]);
  await store.write(write("ada", [[0, "later"]], { nowMs: UNTIL }));
  await store.sweep(UNTIL - 1);
  assert.equal((await store.followEvents("acme", UNTIL)).log, log);
  await store.sweep(UNTIL);
  assert.deepEqual((await store.readEvents(["acme"], last, 10)).events, []);
  assert.notEqual((await store.followEvents("acme", UNTIL + 1)).log, log);
});

test("postgres: writes that began before somebody listens are waited for, a second and no longer", {
  timeout: 60_000,
}, async (context) => {
  const { store, sql } = await databaseWithStore(context);
  let nowMs = 0;
  context.mock.method(performance, "now", () => nowMs);
  for (const [account, end] of [
    ["acme", "commit"],
    ["globex", "a second"],
  ]) {
    let commit = () => {};
    let isFollowing = false;
    let following = Promise.resolve();
    await new Promise<void>((isOpen, hasFailed) => {
      const transaction = sql.begin(async (tx) => {
        await tx`SELECT pg_current_xact_id()`;
        const held = new Promise<void>((resolve) => {
          commit = resolve;
        });
        following = store.followEvents(account, UNTIL).then(() => {
          isFollowing = true;
        });
        // It looks at the open transactions many times meanwhile.
        for (let i = 0; i < 20; i++) await tx`SELECT pg_sleep(0.01)`;
        assert.equal(isFollowing, false);
        isOpen();
        await held;
      });
      transaction.catch(hasFailed);
    });
    if (end === "commit") commit();
    else nowMs += 1_000;
    await following;
    commit();
  }
});

test("postgres: a lower limit shortens all histories once; before a higher one is noted, they are shortened once more", async (context) => {
  const { url, sql, store } = await databaseWithStore(context);
  for (const value of ["1", "2", "3", "4", "5"])
    await store.write(
      write("ada", [
        [0, value],
        [1, value],
      ]),
    );
  await store.write({
    ...write("ada", []),
    changes: [{ place: "", label: "USER.project", value: null, keepHistory: true }],
  });
  await store.write(write("gone", [[0, "x"]]));
  await store.write({
    ...write("gone", []),
    changes: [{ place: "", label: "USER.name", value: null, keepHistory: true }],
  });
  await store.sweep(NOW);
  const kept = async () => {
    const rows =
      await sql`SELECT label, value FROM sideband.history WHERE user_id = 'ada' ORDER BY label, ordinal`;
    return rows.map(({ label, value }) => `${numberOf(label)} ${value}`);
  };
  const noted = async () =>
    (await sql`SELECT value FROM sideband.settings WHERE name = 'history limit'`)[0]?.value;
  const underLimit = async (historyMax: number, sweeps = true) => {
    const other = await openStore(url, { historyMax });
    if (sweeps) await other.sweep(NOW);
    await other.close();
    return [await kept(), await noted()];
  };
  assert.equal((await kept()).length, 9);
  assert.deepEqual(await underLimit(2), [["0 3", "0 4", "1 4", "1 5"], "2"]);
  // What is beyond a limit that is noted is not looked for again.
  await sql`UPDATE sideband.history SET ordinal = 1 WHERE value = '3'`;
  assert.deepEqual(await underLimit(2), [["0 3", "0 4", "1 4", "1 5"], "2"]);
  assert.deepEqual(await underLimit(7, false), [["0 4", "1 4", "1 5"], "7"]);
  await sql`UPDATE sideband.history SET ordinal = 1 WHERE value = '4' AND label = ${labelAt(0)}`;
  assert.deepEqual(await underLimit(3, false), [["0 4", "1 4", "1 5"], "7"]);
  assert.deepEqual(await underLimit(3), [["1 4", "1 5"], "3"]);
  assert.equal(await store.readUser(viewOf("gone")), undefined);
  const users = async () => (await sql`SELECT user_id FROM sideband.users`).map((row) => row.user_id).sort();
  assert.deepEqual(await users(), ["ada", "gone"]);
  assert.deepEqual(await underLimit(0), [[], "0"]);
  assert.deepEqual(await users(), ["ada"], "of whom a fact is left");
});
