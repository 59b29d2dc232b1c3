/** Changes of a whole user on the embedded store, who has more than is changed in one go. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Change } from "../../../src/memory/ports.ts";
import type { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { labelAt, viewOf } from "../../fixtures/views.ts";
import { openFolder, withFolder } from "./lmdb-folder.ts";

const PLACES = ["loom", "loom/east", "loom/west"];
const LABELS = 40;
const FACTS = PLACES.length * LABELS;
const NOW_MS = 1_000_000;

const write = (store: LmdbStore, userId: string, changes: readonly Change[], nowMs = NOW_MS) =>
  store.write({ account: "acme", userId, changes, places: [], nowMs });

async function fill(store: LmdbStore, userId: string): Promise<void> {
  for (const nowMs of [1_000, 2_000, 3_000]) {
    const changes = PLACES.flatMap((place) =>
      Array.from({ length: LABELS }, (_, i) => ({
        place,
        label: labelAt(i),
        value: `${i} at ${place}, ${nowMs}`,
      })),
    );
    await write(store, userId, changes, nowMs);
  }
}

async function valuesOf(store: LmdbStore, userId: string): Promise<string[]> {
  const life = await store.readLife("acme", userId, { nowMs: NOW_MS });
  return (life?.facts ?? []).map(({ place, label, value }) => `${place} ${label} ${value}`);
}

const expected = (place: (place: string) => string, nowMs: number) =>
  PLACES.flatMap((at) =>
    Array.from({ length: LABELS }, (_, i) => `${place(at)} ${labelAt(i)} ${i} at ${at}, ${nowMs}`),
  ).sort();

test("long writes: a large user is rolled back, moved and erased whole, and nothing is left of it", async () => {
  await withFolder(async (folder) => {
    const store = await openFolder(folder);
    await fill(store, "ada");
    const to = { toMs: 2_500, partial: false };
    const dry = await write(store, "ada", [{ kind: "rollback", within: "", dryRun: true, ...to }]);
    assert.ok(dry.outcome === "stored" && dry.report?.rollback?.changes.length === FACTS);
    await write(store, "ada", [{ kind: "rollback", within: "", dryRun: false, ...to }]);
    assert.deepEqual(
      (await valuesOf(store, "ada")).sort(),
      expected((at) => at, 2_000),
    );
    const moved = await write(store, "ada", [{ kind: "move", from: "loom", to: "web" }]);
    assert.ok(moved.outcome === "stored" && moved.report?.moved === FACTS);
    assert.deepEqual(
      (await valuesOf(store, "ada")).sort(),
      expected((at) => at.replace("loom", "web"), 2_000),
    );
    const life = await store.readLife("acme", "ada", { nowMs: NOW_MS });
    assert.deepEqual([life?.earlier.length, store.statistics().facts], [3 * FACTS, FACTS]);
    assert.ok(await store.forgetUser("acme", "ada", "web/east"));
    assert.equal(store.statistics().facts, FACTS - LABELS);
    assert.ok(await store.forgetUser("acme", "ada"));
    assert.equal(await store.forgetUser("acme", "ada"), undefined);
    assert.deepEqual(store.statistics().users, 0);
    await store.close();
    const again = await openFolder(folder);
    assert.deepEqual(
      [again.statistics().facts, await again.readLife("acme", "ada", { nowMs: NOW_MS })],
      [0, undefined],
    );
    await again.close();
  });
});

test("long writes: what comes after one waits for it, and other users do not", async () => {
  await withFolder(async (folder) => {
    const store = await openFolder(folder);
    await Promise.all([fill(store, "ada"), fill(store, "bob")]);
    const order: string[] = [];
    const noted = (name: string, work: Promise<unknown>) => work.then(() => void order.push(name));
    const fact = (value: string) => [{ place: "loom", label: labelAt(0), value }];
    await Promise.all([
      noted("before", write(store, "ada", fact("before"))),
      noted("move", write(store, "ada", [{ kind: "move", from: "loom", to: "web" }])),
      noted("after", write(store, "ada", fact("after"))),
      noted("erase", store.forgetUser("acme", "ada", "web")),
      noted("last", write(store, "ada", fact("last"))),
      noted("other", write(store, "eve", fact("other"))),
    ]);
    assert.deepEqual(order, ["before", "other", "move", "after", "erase", "last"]);
    assert.deepEqual(await valuesOf(store, "ada"), [`loom ${labelAt(0)} last`]);
    assert.equal((await store.readLife("acme", "ada", { nowMs: NOW_MS }))?.earlier[0].value, "after");
    assert.equal(store.readFact(viewOf("eve", "acme", { places: ["loom"] }), labelAt(0))?.value, "other");
    assert.equal(store.statistics().facts, FACTS + 2);
    await store.close();
  });
});

test("long writes: a key's limit holds for what is counted while one is prepared", async () => {
  await withFolder(async (folder) => {
    const store = await openFolder(folder);
    await fill(store, "ada");
    const quota = { keyId: "key", month: "2026-11", day: "2026-11-01", limit: FACTS };
    const rollback = {
      kind: "rollback",
      within: "",
      toMs: 2_500,
      dryRun: false,
      partial: false,
    } as const;
    const counted = { account: "acme", places: [], nowMs: NOW_MS, quota };
    const outcomes = await Promise.all([
      store.write({ ...counted, userId: "ada", changes: [rollback] }),
      store.write({ ...counted, userId: "eve", changes: [{ place: "", label: labelAt(0), value: "Eve" }] }),
    ]);
    assert.deepEqual(fieldsOf(outcomes, "outcome"), ["limit", "stored"]);
    assert.deepEqual(
      (await valuesOf(store, "ada")).sort(),
      expected((at) => at, 3_000),
    );
    assert.equal(store.readUsage("key", "2026-11"), 1);
    await store.close();
  });
});

test("long writes: a store that closes ends what it has begun", async () => {
  await withFolder(async (folder) => {
    const store = await openFolder(folder);
    await fill(store, "ada");
    const erase = { kind: "erase", within: null } as const;
    const erasing = store.write({
      account: "acme",
      userId: "ada",
      changes: [erase],
      places: [],
      nowMs: Date.now(),
    });
    const [{ outcome }] = await Promise.all([erasing, store.close()]);
    const again = await openFolder(folder);
    assert.equal(outcome, "stored");
    assert.equal(again.statistics().facts, 0);
    await again.close();
  });
});
