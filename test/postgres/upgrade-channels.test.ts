/**
 * The upgrade of a database that does not keep a user's channels (migrations 1 to 8): writes count right from the first
 * one on, also those of nodes of the release before, which go on beside it.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import postgres from "postgres";
import type { FactChange, WriteOutcome } from "../../src/memory/ports.ts";
import type { Sql } from "../../src/store/postgres/connection/database.ts";
import { loadMigrations, migrate } from "../../src/store/postgres/migrations.ts";
import type { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { NOW } from "../conformance/store.ts";
import { newDatabase, newEmptyDatabase, openStore } from "./server.ts";

const before = loadMigrations().slice(0, 8);
const after = loadMigrations().slice(8);
const PLACES = ["", "loom"];

function writeAt(store: PostgresStore, nowMs: number, changes: FactChange[], places = PLACES) {
  return store.write({ account: "acme", userId: "ada", changes, places, nowMs });
}

const channelCount = (outcome: WriteOutcome) => outcome.outcome === "stored" && outcome.channelCount;

test("upgrade to channels: a write counts what was written before, and leaves out what has expired", async () => {
  const url = await newEmptyDatabase();
  const older = await openStore(url, { migrations: before });
  await writeAt(older, NOW, [
    { place: "", channel: 0, value: "lasting" },
    { place: "", channel: 255, value: "lasting" },
    { place: "", channel: 1, value: "ends", expiresAtMs: NOW + 10 },
    { place: "", channel: 2, value: "ends", expiresAtMs: NOW + 1000 },
    { place: "loom", channel: 0, value: "of the project" },
    { place: "loom", channel: 3, value: "of the project" },
  ]);
  const sql = postgres(url, { max: 1, onnotice: () => {} }) as unknown as Sql;
  assert.deepEqual(await migrate(sql), after);
  const newer = await openStore(url);
  // Each node after the other, with the facts that the one before it has left.
  for (const [i, store] of [newer, older, newer].entries()) {
    const nowMs = NOW + 20 + i;
    const own = { place: "", channel: 10 + i, value: "more" };
    assert.equal(channelCount(await writeAt(store, nowMs, [own])), 5 + i);
    assert.equal(channelCount(await writeAt(store, nowMs, [own], [""])), 4 + i);
  }
  // A restart on the migrated database, by the release before.
  const again = await openStore(url, { migrations: before });
  const last = { place: "", channel: 2, value: "lasts now" };
  assert.equal(channelCount(await writeAt(again, NOW + 30, [last], [""])), 6);
  assert.equal(channelCount(await writeAt(newer, NOW + 2000, [last], [""])), 6);
  await Promise.all([older.close(), newer.close(), again.close(), sql.end()]);
});

test("upgrade to channels: what the sweep and forgetting take is not counted", async () => {
  const store = await openStore(await newDatabase());
  await writeAt(store, NOW, [
    { place: "", channel: 0, value: "lasting" },
    { place: "", channel: 1, value: "ends", expiresAtMs: NOW + 10 },
    { place: "", channel: 2, value: "ends", expiresAtMs: NOW + 20 },
    { place: "loom", channel: 4, value: "of the project" },
  ]);
  await store.sweep(NOW + 10);
  const same = [{ place: "", channel: 0, value: "lasting" }];
  assert.equal(channelCount(await writeAt(store, NOW + 11, same)), 3);
  assert.equal(channelCount(await writeAt(store, NOW + 20, same, [""])), 1);
  await store.sweep(NOW + 20);
  assert.equal(channelCount(await writeAt(store, NOW + 20, same, [""])), 1);
  assert.equal(await store.forgetUser("acme", "ada", ""), true);
  assert.equal(
    channelCount(await writeAt(store, NOW + 21, [{ place: "", channel: 9, value: "first" }], [""])),
    1,
  );
  await store.close();
});
