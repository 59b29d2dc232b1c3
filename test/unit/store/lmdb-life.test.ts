/** A fact's life in the embedded store: how much of a history is kept, and that nothing of what is gone is left. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "../../../src/base/clock.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import type { FactChange } from "../../../src/memory/ports.ts";
import type { TableName } from "../../../src/store/lmdb/environment.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { forget, NOW, set, write } from "../../conformance/store-under-test.ts";
import { countIn, damage, take } from "../../fixtures/behind-the-store.ts";
import { viewOf } from "../../fixtures/views.ts";
import { withFolder } from "./lmdb-folder.ts";

const open = (folder: string, historyMax?: number, more: { freeBytes?: () => number; clock?: Clock } = {}) =>
  LmdbStore.open({
    clock: { now: () => NOW },
    ...more,
    folder,
    create: true,
    queueMax: 1_000,
    metrics: new Metrics(),
    ...(historyMax === undefined ? {} : { historyMax }),
  });

const change = (store: LmdbStore, changes: FactChange[], nowMs = NOW, userId = "ada") =>
  store.write(write(userId, [], { changes, nowMs }));

const keptOf = async (store: LmdbStore) =>
  (await store.readLife("acme", "ada", { nowMs: NOW }))?.earlier.map(({ value }) => value);

test("lmdb: without a history a value that was replaced, forgotten or has expired leaves nothing", () =>
  withFolder(async (folder) => {
    const store = await open(folder, 0);
    await change(store, [set(0, "a"), set(1, "x", { expiresAtMs: NOW + 1 }), set(2, "y")]);
    await change(store, [set(0, "b")]);
    assert.deepEqual(await keptOf(store), []);
    assert.equal(store.forgottenSinceMs(), undefined);
    await change(store, [forget(2, { keepHistory: true })]);
    assert.equal(store.forgottenSinceMs(), NOW);
    assert.deepEqual(await keptOf(store), []);
    await store.sweep(NOW + 1);
    await change(store, [forget(0, { keepHistory: true })]);
    assert.equal(store.readStamp("acme", "ada"), undefined);
    assert.deepEqual(store.statistics().users, 0);
    await store.close();
    for (const table of ["facts", "history", "ends"] as const) assert.equal(await countIn(folder, table), 0);
  }));

test("lmdb: where less is to be kept than before, a write adds to a history and the next sweep takes all that is too much", () =>
  withFolder(async (folder) => {
    const write40 = async (historyMax: number) => {
      const store = await open(folder, historyMax);
      for (let i = 1; i <= 40; i++) await change(store, [set(0, `v${i}`)], NOW + i);
      await store.close();
    };
    await write40(32);
    assert.equal(await countIn(folder, "history"), 32);
    for (const [historyMax, kept] of [
      [2, ["v39", "v40"]],
      [0, []],
    ] as const) {
      const store = await open(folder, historyMax);
      await change(store, [set(0, `with ${historyMax}`)], NOW + 41);
      await store.sweep(NOW + 41);
      assert.deepEqual(await keptOf(store), kept);
      await store.close();
      assert.equal(await countIn(folder, "history"), kept.length);
    }
  }));

test("lmdb: what was beyond a limit does not come back under a higher one, swept or not", () =>
  withFolder(async (folder) => {
    let store = await open(folder, 8);
    for (let i = 1; i <= 6; i++) await change(store, [set(0, `v${i}`), set(1, `w${i}`)], NOW + i);
    await store.close();
    await (await open(folder, 2)).close();
    store = await open(folder, 8);
    assert.deepEqual(await keptOf(store), ["v4", "v5", "w4", "w5"]);
    await change(store, [set(0, "v7")]);
    assert.deepEqual(await keptOf(store), ["v4", "v5", "v6", "w4", "w5"]);
    await store.close();
    await (await open(folder, 0)).close();
    store = await open(folder, 8);
    assert.deepEqual(await keptOf(store), []);
    await store.close();
  }));

test("lmdb: opened without a limit, a store keeps the one that it had: a command costs no history", () =>
  withFolder(async (folder) => {
    let store = await open(folder, 32);
    for (let i = 1; i <= 12; i++) await change(store, [set(0, `v${i}`)], NOW + i);
    const kept = await keptOf(store);
    assert.equal(kept?.length, 11);
    await store.close();
    store = await open(folder);
    assert.equal(store.historyMax, 32);
    await store.sweep(NOW + 13);
    await store.close();
    store = await open(folder, 32);
    assert.deepEqual(await keptOf(store), kept);
    await store.close();
  }));

test("lmdb: on a nearly full disk another limit is refused with a line that names the one in force, which goes on", () =>
  withFolder(async (folder) => {
    let store = await open(folder, 2);
    await change(store, [set(0, "v1")]);
    await change(store, [set(0, "v2")]);
    await store.close();
    const nearlyFull = { freeBytes: () => 2 ** 17 };
    for (const historyMax of [1, 8])
      await assert.rejects(open(folder, historyMax, nearlyFull), {
        name: "DataFolderError",
        message: `cannot begin with SIDEBAND_HISTORY=${historyMax} in ${folder}: The disk is nearly full. Make room, or go on with SIDEBAND_HISTORY=2`,
      });
    for (const historyMax of [2, undefined]) {
      store = await open(folder, historyMax, nearlyFull);
      assert.deepEqual(await keptOf(store), ["v1"]);
      await store.close();
    }
  }));

test("lmdb: where an import leaves ordinals out, what is further back than the limit goes", () =>
  withFolder(async (folder) => {
    const store = await open(folder, 3);
    for (const value of ["a", "b", "c"]) await change(store, [set(0, value)]);
    await change(store, [set(0, "f", { ordinal: 6 })]);
    assert.deepEqual(await keptOf(store), ["c"]);
    await change(store, [set(0, "g")]);
    assert.deepEqual(await keptOf(store), ["f"]);
    await change(store, [forget(0, { keepHistory: true })]);
    await change(store, [set(0, "z", { ordinal: 100 })]);
    assert.deepEqual(await keptOf(store), []);
    await store.close();
    assert.equal(await countIn(folder, "history"), 0);
  }));

test("lmdb: forgetting takes the whole history, however far back it goes", () =>
  withFolder(async (folder) => {
    const before = await open(folder, 32);
    for (let i = 1; i <= 40; i++) await change(before, [set(0, `v${i}`)]);
    await before.close();
    const store = await open(folder, 3);
    assert.equal((await keptOf(store))?.length, 32);
    // In one group: what it has added goes, too.
    await Promise.all([change(store, [set(0, "d")]), change(store, [forget(0)])]);
    await store.close();
    for (const table of ["facts", "history"] as const) assert.equal(await countIn(folder, table), 0);
  }));

test("lmdb: a history that is kept no longer goes with its fact, and heads go when they are used up", () =>
  withFolder(async (folder) => {
    const kept = await open(folder);
    for (const value of ["a", "b"]) await change(kept, [set(0, value), set(1, value, { place: "loom" })]);
    await kept.close();
    const store = await open(folder, 0);
    await change(store, [forget(0, { keepHistory: true }), forget(1, { place: "loom", keepHistory: true })]);
    await store.close();
    assert.equal(await countIn(folder, "history"), 0);
    const again = await open(folder);
    await change(again, [set(0, "a"), set(1, "x", { place: "loom" }), set(2, "y")]);
    await change(again, [forget(0, { keepHistory: true }), forget(1, { place: "loom" })]);
    await change(again, [set(0, "b")]);
    await change(again, [forget(0)]);
    // In one group: what was kept a moment ago, too.
    await Promise.all([
      change(again, [set(3, "c")]),
      change(again, [forget(3, { keepHistory: true })]),
      change(again, [forget(3)]),
    ]);
    await again.close();
    assert.equal(await countIn(folder, "history"), 0);
    assert.equal(await countIn(folder, "facts"), 2, "the user and one fact: an empty place has no record");
  }));

test("lmdb: forgetting a place is noted, so that a compaction follows", () =>
  withFolder(async (folder) => {
    const store = await open(folder);
    await change(store, [set(0, "a"), set(1, "x", { place: "loom" })]);
    assert.equal(store.forgottenSinceMs(), undefined);
    await store.forgetUser("acme", "ada", "loom");
    assert.equal(store.forgottenSinceMs(), NOW);
    await store.close();
  }));

test("lmdb: of a code the bytes of its bits are stored, however many it comes with", () =>
  withFolder(async (folder) => {
    const store = await open(folder);
    await change(store, [set(0, "a")]);
    const bytes = new Uint8Array(100).fill(0xff);
    const code = { version: 3, checksum: 7, bits: { length: 13, bytes } };
    await store.saveCodes("acme", "ada", [{ place: "", label: "USER.name", revision: 1, value: "a", code }]);
    const [fact] = (await store.readUser(viewOf("ada")))!.facts;
    assert.deepEqual([fact.value, fact.code?.bits.bytes], ["a", Uint8Array.of(0xff, 0xff)]);
    await store.close();
  }));

test("lmdb: what is forgotten is no longer listed among the facts that expire", () =>
  withFolder(async (folder) => {
    const ending = { expiresAtMs: NOW + 1_000 };
    const store = await open(folder);
    await change(store, [
      set(0, "a", ending),
      set(1, "b", { ...ending, place: "loom" }),
      set(2, "c", { ...ending, place: "loom/x" }),
      set(3, "d", ending),
      set(4, "e"),
    ]);
    await change(store, [set(5, "f", ending)], NOW, "eve");
    await change(store, [forget(0), set(3, "lasts")]);
    await store.forgetUser("acme", "ada", "loom");
    await store.forgetUser("acme", "eve");
    await store.close();
    assert.equal(await countIn(folder, "ends"), 0);
    assert.equal(await countIn(folder, "facts"), 3, "the user, and the two facts that last");
  }));

test("lmdb: a sweep finds every fact that has expired, says which, and finds it once", () =>
  withFolder(async (folder) => {
    const store = await open(folder);
    const users = Array.from({ length: 300 }, (_, i) => `user-${String(i).padStart(3, "0")}`);
    await Promise.all(
      users.map((userId, i) =>
        change(store, [set(1, "x", { place: "loom", expiresAtMs: NOW + 1 + i })], NOW, userId),
      ),
    );
    const swept = await store.sweep(NOW + 290);
    assert.deepEqual(
      swept,
      users.slice(0, 290).map((userId, i) => {
        const fact = { account: "acme", userId, place: "loom", label: "USER.project", revision: 1 };
        return { ...fact, endedAtMs: NOW + 1 + i };
      }),
    );
    assert.deepEqual(await store.sweep(NOW + 290), []);
    assert.equal(store.statistics().facts, 10);
    await store.close();
  }));

test("lmdb: a damaged fact that would expire can be forgotten with its user, and the sweep clears what is left", () =>
  withFolder(async (folder) => {
    const store = await open(folder);
    await change(store, [set(0, "a", { expiresAtMs: NOW + 1 }), set(1, "b", { expiresAtMs: NOW + 2 })]);
    await store.close();
    await damage(folder, "facts", "acme\0ada\0\0USER.name");
    const again = await open(folder);
    assert.ok(await again.forgetUser("acme", "ada"));
    assert.deepEqual(await again.sweep(NOW + 9), []);
    await again.close();
    for (const table of ["facts", "ends"] as const) assert.equal(await countIn(folder, table), 0);
  }));

test("lmdb: whoever is erased leaves no label and no end, also where a fact with it was lost and another is damaged", () =>
  withFolder(async (folder) => {
    const store = await open(folder);
    const more = { label: "ILL.diabetes", free: { make: true, description: "her illness" } };
    for (const place of ["a", "b", "c"])
      await change(store, [set(0, "x", { ...more, place, expiresAtMs: NOW + 9 })]);
    await change(store, [set(0, "y", { ...more, expiresAtMs: NOW + 9 })], NOW, "bob");
    await store.close();
    await take(folder, "facts", "acme\0ada\0b\0ILL.diabetes");
    await damage(folder, "facts", "acme\0ada\0c\0ILL.diabetes");
    const again = await open(folder);
    assert.ok(await again.forgetUser("acme", "ada"));
    assert.deepEqual(again.readFreeLabels("acme", "ada", { prefix: "", limit: 9 }), []);
    assert.equal(again.readFreeLabels("acme", "bob", { prefix: "", limit: 9 }).length, 1);
    assert.equal(again.nextEndMs(), NOW + 9);
    await again.close();
    assert.equal(await countIn(folder, "free-labels"), 1, "the other person's");
    assert.equal(await countIn(folder, "ends"), 1, "the other person's");
  }));

test("lmdb: an ordinal that stands for the head of a history is never given to a fact, and what was there stays", async () => {
  await withFolder(async (folder) => {
    const store = await open(folder);
    await change(store, [set(0, "Ada")]);
    for (const ordinal of [2 ** 32 - 1, 2 ** 32])
      await assert.rejects(change(store, [set(0, "Grace", { ordinal })]), { name: "AssertionError" });
    await change(store, [set(0, "Bob", { ordinal: 2 ** 32 - 2 })]);
    assert.equal(store.readFact(viewOf("ada"), "USER.name")?.value, "Bob");
    await store.close();
  });
});

test("lmdb: after a sweep no table holds what has expired: no request, no listed end, no fact", () =>
  withFolder(async (folder) => {
    const DAY_MS = 86_400_000;
    const store = await open(folder);
    const requests = ["first", "second"].map((key) => ({
      ...write("ada", [], { changes: [set(0, key), set(1, key, { expiresAtMs: NOW + DAY_MS })] }),
      idempotency: { keyId: "k", key, fingerprint: Buffer.alloc(32), expiresAtMs: NOW + 1, answer: key },
    }));
    for (const request of requests) await store.write(request);
    await change(store, [set(2, "stays", { expiresAtMs: NOW + 9 * DAY_MS })]);
    await store.sweep(NOW + 2 * DAY_MS);
    await store.close();
    const counts: Partial<Record<TableName, number>> = {};
    for (const table of ["idempotency", "ends", "facts"] as const)
      counts[table] = await countIn(folder, table);
    // The user, and two facts, of which one ends later.
    assert.deepEqual(counts, { idempotency: 0, ends: 1, facts: 3 });
    // What was answered is removed with the next copy.
    const again = await open(folder, undefined, { clock: { now: () => NOW + DAY_MS } });
    const history = (await keptOf(again))!.length;
    await again.compact();
    await again.close();
    // The head of the fact that has ended lies beside its values.
    assert.equal(await countIn(folder, "history"), history + 1);
  }));
