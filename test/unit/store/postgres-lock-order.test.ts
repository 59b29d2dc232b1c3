/**
 * Rows that more than one transaction changes are locked in one order everywhere, so that nobody waits in a circle. A test holds
 * the row that must come first: whoever waits for it has locked none of the later ones.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { accountCounter } from "../../../src/memory/quota.ts";
import type { AuditNote } from "../../../src/memory/records.ts";
import { quotaSlot } from "../../../src/store/postgres/cluster/placement.ts";
import type { Sql } from "../../../src/store/postgres/connection/database.ts";
import type { PostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { keyRecord, NOW, write } from "../../conformance/store-under-test.ts";
import { later, until } from "../../fixtures/waiting.ts";
import { newDatabase, openClient, openStore } from "../../postgres/server.ts";

const MONTH = "2026-11";
const GRANT = { keyId: "k", resource: "", client: "", returnsTo: "", refreshes: 0, recentMs: [] };

/** How many rows `rows` names that nobody has locked while `act` waits for those that `held` names, inserts or deletes. */
async function freeDuring(
  sql: Sql,
  { held, rows }: { held: string; rows: string },
  act: () => Promise<unknown>,
): Promise<number> {
  const [begun, end] = [later(), later()];
  const holding = sql.begin(async (tx) => {
    await tx.unsafe(/^(INSERT|DELETE)/.test(held) ? held : `SELECT FROM sideband.${held} FOR UPDATE`);
    begun.resolve();
    await end.promise;
  });
  await begun.promise;
  const acting = act();
  await until(
    async () =>
      (
        await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      ).length > 0,
  );
  const { length } = await sql.unsafe(`SELECT FROM sideband.${rows} FOR UPDATE SKIP LOCKED`);
  end.resolve();
  await Promise.all([holding, acting]);
  return length;
}

async function withStore(run: (store: PostgresStore, sql: Sql) => Promise<void>): Promise<void> {
  const url = await newDatabase();
  const [store, sql] = [await openStore(url), openClient(url, 2)];
  await run(store, sql);
  await Promise.all([store.close(), sql.end()]);
}

test("postgres: whoever ends grants locks the version of the keys before the keys, and not at all without a grant", () =>
  withStore(async (store, sql) => {
    await store.addKey(keyRecord("g1", "acme", { user: "ada", grant: GRANT }));
    const held = "settings WHERE name = 'keys-version'";
    const ending = () => store.endGrants("acme", "ada", NOW);
    assert.equal(await freeDuring(sql, { held, rows: "api_keys" }, ending), 1);
    const version = await store.keysVersion(true);
    assert.deepEqual(await ending(), { connections: 0, removed: 0, keysLeft: 0 });
    assert.equal(await store.keysVersion(true), version);
  }));

test("postgres: the counters of months are locked by slot and name where an account gets no limit", () =>
  withStore(async (store, sql) => {
    const ids = ["k1", "k2", "k3", "k4"].sort((a, b) => quotaSlot(b) - quotaSlot(a));
    for (const [i, id] of ids.entries()) {
      await store.addKey(keyRecord(id, "acme", { createdAtMs: NOW + i }));
      const quota = { keyId: id, month: MONTH, day: `${MONTH}-15`, limit: 100 };
      await store.write(write("ada", [[0, "x"]], { quota }));
    }
    await store.changeAccount("acme", 9, MONTH);
    const first = ids.at(-1);
    const rows = { held: `month_counters WHERE key_id = '${first}'`, rows: "month_counters" };
    // Those of the keys but one, and that of the account.
    assert.equal(await freeDuring(sql, rows, () => store.changeAccount("acme", null, MONTH)), ids.length);
  }));

test("postgres: a group makes the first counters of a month before it counts in those that are there", () =>
  withStore(async (store, sql) => {
    await store.addKey(keyRecord("k1", "acme"));
    const quota = { keyId: "k1", month: MONTH, day: `${MONTH}-15`, limit: 100 };
    await store.write(write("ada", [[0, "x"]], { quota }));
    const counter = accountCounter("acme");
    const held = `INSERT INTO sideband.month_counters (slot, used, key_id, month) VALUES (${quotaSlot(counter)}, 7, '${counter}', '${MONTH}')`;
    const counting = () => store.write(write("ada", [[0, "y"]], { quota: { ...quota, counter } }));
    assert.equal(await freeDuring(sql, { held, rows: "month_counters" }, counting), 1);
    assert.deepEqual([await store.readUsage("k1", MONTH), await store.readUsage(counter, MONTH)], [2, 8]);
  }));

test("postgres: a group whose users are erased while it waits for them makes them again", () =>
  withStore(async (store, sql) => {
    const users = ["ada", "bob"];
    const writing = async () => {
      const written = await Promise.all(users.map((user) => store.write(write(user, [[0, "x"]]))));
      assert.deepEqual(
        written.map(({ outcome }) => outcome),
        ["stored", "stored"],
      );
    };
    await writing();
    const held = "DELETE FROM sideband.facts; DELETE FROM sideband.users";
    assert.equal(await freeDuring(sql, { held, rows: "users" }, writing), 0);
  }));

test("postgres: what was used elsewhere is added to all days before all months", () =>
  withStore(async (store, sql) => {
    const key = keyRecord("k1");
    await store.addKey(key);
    const raise = (count: number) =>
      store.raiseUsage(
        key,
        ["2026-10-01", "2026-11-02"].map((day) => ({ day, count })),
      );
    await raise(1);
    const rows = { held: "day_counters WHERE day = '2026-11-02'", rows: "month_counters" };
    assert.equal(await freeDuring(sql, rows, () => raise(2)), 2);
    assert.deepEqual([await store.readUsage("k1", "2026-10"), await store.readUsage("k1", MONTH)], [2, 2]);
  }));

test("postgres: a group stores the names of its notes in the order of their hashes, each with its last moment", () =>
  withStore(async (store, sql) => {
    const note = (id: string, atMs: number, ...hashes: string[]): AuditNote => ({
      entry: {
        ...{ id, atMs, operation: "erased", account: "acme", by: {}, of: {} },
        ...{ address: null, requestId: id },
      },
      names: hashes.map((hash) => ({ hash, account: "acme", name: `who is ${hash}` })),
    });
    await store.audit.add(note("before", NOW, "a", "b"));
    const notes = [note("later", NOW + 2, "b"), note("sooner", NOW + 1, "b", "a")];
    const writing = () =>
      Promise.all(notes.map((audit, i) => store.write(write(`user-${i}`, [[0, "x"]], { audit }))));
    const rows = { held: "audit_names WHERE hash = 'a'", rows: "audit_names" };
    assert.equal(await freeDuring(sql, rows, writing), 1);
    const names = await sql<{ hash: string; at: number }[]>`
      SELECT hash, last_at_ms AS at FROM sideband.audit_names ORDER BY hash`;
    assert.deepEqual(
      [...names],
      [
        { hash: "a", at: NOW + 1 },
        { hash: "b", at: NOW + 2 },
      ],
    );
  }));
