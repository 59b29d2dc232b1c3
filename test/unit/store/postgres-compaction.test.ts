/** A compaction of PostgreSQL leaves no byte of what was forgotten, in no table, and does not mislead the planner. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { AUDIT_KEPT_MS } from "../../../src/base/limits.ts";
import type { AuditNote, KeyRequest } from "../../../src/memory/records.ts";
import type { Sql } from "../../../src/store/postgres/connection/database.ts";
import type { PostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { FORGETTING_TABLES } from "../../../src/store/postgres/queries/upkeep.ts";
import { keyRecord, NOW, write } from "../../conformance/store-under-test.ts";
import { later, until } from "../../fixtures/waiting.ts";
import { newDatabase, openClient, openStore } from "../../postgres/server.ts";

const GONE = "zq-gone";
const LABEL = "OWN.label";
const DAY_MS = 86_400_000;

/** The tables, indexes and others of the database whose files hold a text. */
async function holdersOf(sql: Sql, text: string): Promise<string[]> {
  await sql`CHECKPOINT`;
  const [{ folder }] = await sql<{ folder: string }[]>`
    SELECT current_setting('data_directory') || '/base/' || oid AS folder FROM pg_database
    WHERE datname = current_database()`;
  const rows = await sql<{ file: string; name: string }[]>`
    SELECT pg_relation_filenode(c.oid)::text AS file, coalesce(t.relname, c.relname) AS name FROM pg_class AS c
    LEFT JOIN pg_index AS i ON i.indexrelid = c.oid LEFT JOIN pg_class AS t ON t.oid = i.indrelid`;
  const names = new Map(rows.map(({ file, name }) => [file, name]));
  const holding = readdirSync(folder).filter((file) => readFileSync(`${folder}/${file}`).includes(text));
  return [...new Set(holding.map((file) => names.get(file.replace(/[._].*$/, "")) ?? file))];
}

/** A row in each table, which names it. */
async function fill(store: PostgresStore, name: string): Promise<void> {
  const audit: AuditNote = {
    entry: {
      ...{ id: name, atMs: NOW, operation: "key_added", account: "acme", by: {}, of: {} },
      ...{ address: null, requestId: name },
    },
    names: [{ hash: `hash of ${name}`, account: "acme", name }],
  };
  const request: KeyRequest = {
    ...{ id: name, name, email: `${name}@example.com`, purpose: "", tier: "free" },
    ...{ createdAtMs: NOW, status: "open", decidedAtMs: null, keyId: null },
  };
  const grant = { keyId: "k", resource: "", client: name, returnsTo: "", refreshes: 0, recentMs: [] };
  const label = {
    // The name of a label stays: its channel is given to no other.
    ...{ label: LABEL, description: name, example: "", oneOf: null, maxBytes: null },
    ...{ ttlS: null, scope: null, hidden: false, createdAtMs: NOW },
  };
  await store.addKeyRequest(request);
  await store.addKey(keyRecord(name, "acme", { user: name, grant }));
  await store.addLabel("acme", label);
  await store.changeProject("acme", { project: name, members: [name], createdAtMs: NOW });
  await store.operators.add({ name, access: "write", hash: name.padEnd(64, "0"), createdAtMs: NOW });
  await store.audit.add(audit);
  const free = { make: true, description: name };
  for (const value of [`${name} before`, name]) {
    const idempotency = { keyId: "k", key: value, fingerprint: Buffer.alloc(32), expiresAtMs: NOW + DAY_MS };
    const changes = [{ place: "", label: "FAMILY.son", value, free }];
    await store.write(write(name, [], { changes, idempotency }));
  }
}

async function forgetAll(store: PostgresStore, name: string): Promise<void> {
  await store.forgetUser("acme", name);
  await store.endGrants("acme", name, NOW);
  await store.deleteKeyRequest(name);
  assert.equal(await store.removeLabel("acme", LABEL), "removed");
  await store.changeProject("acme", { project: name, members: [], createdAtMs: NOW });
  assert.equal(await store.removeProject("acme", name), "removed");
  await store.operators.remove(name);
  await store.sweep(NOW + AUDIT_KEPT_MS + 1);
}

for (const isAlone of [true, false])
  test(`postgres: after a compaction no file holds what was forgotten, of tables that are ${isAlone ? "empty" : "in use"}`, async () => {
    const url = await newDatabase();
    const [store, sql] = [await openStore(url), openClient(url)];
    await store.followEvents("acme", NOW + DAY_MS);
    await fill(store, GONE);
    // As the database does by itself.
    await sql`ANALYZE`;
    const before = await holdersOf(sql, GONE);
    assert.deepEqual(
      [...FORGETTING_TABLES, "pg_statistic"].filter((table) => !before.includes(table)),
      [],
      "the test fills each table",
    );
    await forgetAll(store, GONE);
    if (!isAlone) await fill(store, "zq-kept");
    await store.compact();
    assert.deepEqual(await holdersOf(sql, GONE), []);
    assert.equal((await holdersOf(sql, "zq-kept")).length > 0, !isAlone);
    await Promise.all([store.close(), sql.end()]);
  });

test("postgres: what is written into an empty table while it is compacted is kept", async () => {
  const url = await newDatabase();
  const [store, sql] = [await openStore(url), openClient(url, 2)];
  const { promise: end, resolve } = later();
  const begun = later();
  const writing = sql.begin(async (tx) => {
    await tx`
      INSERT INTO sideband.key_requests (slot, created_at_ms, id, name, email, purpose, tier, status)
      VALUES (0, 0, 'late', '', '', '', 'free', 'open')`;
    begun.resolve();
    await end;
  });
  await begun.promise;
  const compacting = store.compact();
  const isWaiting = async () =>
    (
      await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        AND query LIKE 'LOCK TABLE%key_requests%'`
    ).length === 1;
  await until(isWaiting);
  resolve();
  await Promise.all([writing, compacting]);
  assert.deepEqual(
    (await store.listKeyRequests()).map(({ id }) => id),
    ["late"],
  );
  await Promise.all([store.close(), sql.end()]);
});
