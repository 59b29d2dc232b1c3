/** The database's form: applied once, checked always, refused where it is not this program's. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  COORDINATOR_TABLES,
  DISTRIBUTED_TABLES,
  distribute,
  distributionStatements,
} from "../../../src/store/postgres/cluster/distribution.ts";
import type { Sql } from "../../../src/store/postgres/connection/database.ts";
import { loadMigrations, migrate, readApplied } from "../../../src/store/postgres/migrations.ts";
import { write } from "../../conformance/store-under-test.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { viewOf } from "../../fixtures/views.ts";
import { newEmptyDatabase, openClient, openStore } from "../../postgres/server.ts";

async function withDatabase(run: (sql: Sql, url: string) => Promise<void>): Promise<void> {
  const url = await newEmptyDatabase();
  const sql = openClient(url, 2);
  try {
    await run(sql, url);
  } finally {
    await sql.end();
  }
}

test("migrations: nodes that start at the same time apply each migration once", () =>
  withDatabase(async (sql, url) => {
    const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(url, { poolMax: 2 })));
    const names = (await readApplied(sql)).map(({ name }) => name);
    assert.deepEqual(
      names,
      loadMigrations().map(({ name }) => name),
    );
    assert.deepEqual(await migrate(sql), [], "a later start has nothing to do");
    await Promise.all(stores.map((store) => store.close()));
  }));

test("migrations: a role that owns the schema and nothing else can migrate, serve and check", () =>
  withDatabase(async (sql, url) => {
    const role = `tenant_${Date.now()}`;
    await sql`CREATE ROLE ${sql(role)} LOGIN`;
    await sql`CREATE SCHEMA sideband AUTHORIZATION ${sql(role)}`;
    const store = await openStore(url.replace("sideband@", `${role}@`));
    await store.write(write("ada", [[0, "Ada"]]));
    assert.equal((await store.readFact(viewOf("ada"), "USER.name"))?.value, "Ada");
    await store.close();
  }));

test("migrations: a database of a newer version is refused with a message that says so", () =>
  withDatabase(async (sql, url) => {
    await migrate(sql);
    const next = loadMigrations().length + 1;
    await sql`
      INSERT INTO sideband.migrations (version, name, checksum, oldest) VALUES (${next}, '9999-later', 'x', ${next})`;
    await assert.rejects(openStore(url), /9999-later.*written by a newer version of sideband/);
  }));

test("migrations: a migration that was changed after it was applied is refused", () =>
  withDatabase(async (sql, url) => {
    await migrate(sql);
    await sql`UPDATE sideband.migrations SET checksum = 'another' WHERE version = 1`;
    await assert.rejects(openStore(url), /migration 1 .*different content/);
  }));

test("migrations: one that fails leaves nothing behind", () =>
  withDatabase(async (sql) => {
    const [first] = loadMigrations();
    const broken = {
      version: 2,
      name: "0002-broken",
      sql: "CREATE TABLE sideband.half (); SELECT 1/0",
      checksum: "x",
      oldest: 2,
    };
    await assert.rejects(migrate(sql, [first, broken]), /division by zero/);
    assert.deepEqual(await readApplied(sql), []);
    assert.equal((await migrate(sql)).length, loadMigrations().length);
  }));

test("distribution: without Citus it is refused with the next step, and nothing is changed", () =>
  withDatabase(async (sql) => {
    await migrate(sql);
    await assert.rejects(
      distribute(sql, 64),
      /no Citus.*CREATE EXTENSION citus.*a single PostgreSQL needs no distributing/,
    );
  }));

test("distribution: every table has its place, and a user's rows are led by the slot", () =>
  withDatabase(async (sql) => {
    await migrate(sql);
    const tables = await sql<{ name: string; first: string }[]>`
      SELECT c.relname AS name, a.attname AS first FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1
      WHERE n.nspname = 'sideband' AND c.relkind = 'r' ORDER BY 1`;
    assert.deepEqual(fieldsOf(tables, "name"), [...DISTRIBUTED_TABLES, ...COORDINATOR_TABLES].sort());
    assert.ok(tables.every(({ name, first }) => first === "slot" || name === "migrations"));
    // What Citus demands: every unique index holds the distribution column.
    const uniques = await sql<{ name: string; first: string }[]>`
      SELECT c.relname AS name, a.attname AS first FROM pg_index i
      JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
      WHERE n.nspname = 'sideband' AND i.indisunique AND c.relname = ANY(${[...DISTRIBUTED_TABLES]}::text[])`;
    assert.ok(uniques.length >= DISTRIBUTED_TABLES.length && uniques.every(({ first }) => first === "slot"));
    assert.equal(distributionStatements(32).length, 1 + tables.length);
    // Nothing of the rules is in the database.
    const functions = await sql`
      SELECT FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'sideband'`;
    assert.equal(functions.length, 0);
  }));
