/**
 * A rolling upgrade with two versions of the schema, as docs/CLUSTER.md writes it down: a release expands, the one after
 * it contracts. Nodes of the old release work beside the expanded schema, start on it, and end before it contracts.
 */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { loadMigrations, type Migration, migrate } from "../../src/store/postgres/migrations.ts";
import { write } from "../conformance/store-under-test.ts";
import { temporaryFolder } from "../fixtures/ends.ts";
import { changesOf, viewOf } from "../fixtures/views.ts";
import { newEmptyDatabase, openClient, openStore } from "./server.ts";

const today = loadMigrations();

/** Adds to what is there, and changes nothing that the old release uses. */
const expand: Migration = {
  version: today.length + 1,
  name: "9001-expand",
  sql: "ALTER TABLE sideband.facts ADD COLUMN weight bigint; CREATE TABLE sideband.later (slot integer PRIMARY KEY)",
  checksum: "expand",
  oldest: today.length,
};

/** Takes away what only the old release used. */
const contract: Migration = {
  version: today.length + 2,
  name: "9002-contract",
  sql: "ALTER TABLE sideband.facts DROP COLUMN codebook_version",
  checksum: "contract",
  oldest: expand.version,
};

test("rolling upgrade: old nodes go on beside an expanded schema, and a step back starts on it", async () => {
  const url = await newEmptyDatabase();
  const old = await openStore(url);
  await old.write(write("ada", [[0, "old"]]));

  // The first node of the new release expands the schema while the old node serves.
  const next = await openStore(url, { migrations: [...today, expand] });
  for (const [store, other] of [
    [old, next],
    [next, old],
  ]) {
    await store.write(write("ada", [[1, "written"]]));
    assert.equal((await other.readUser(viewOf("ada")))?.facts.length, 2);
    await store.write({ ...write("ada", []), changes: changesOf([[1, null]]) });
    await store.probe();
  }

  // One step back: the old release starts again, and changes nothing.
  await next.close();
  const back = await openStore(url);
  await back.write(write("ada", [[2, "after the step back"]]));
  await Promise.all([old.close(), back.close()]);
  const forward = await openStore(url, { migrations: [...today, expand] });
  assert.equal((await forward.readFact(viewOf("ada"), "USER.affiliation"))?.value, "after the step back");
  await forward.close();
});

test("rolling upgrade: a contracted schema refuses the release before the last, with a line that says so", async () => {
  const url = await newEmptyDatabase();
  const sql = openClient(url);
  await migrate(sql, [...today, expand, contract]);
  await assert.rejects(openStore(url), /9002-contract.*written by a newer version of sideband/);
  await assert.rejects(openStore(url, { readOnly: true }), /9002-contract/);
  await migrate(sql, [...today, expand]);
  await sql.end();
});

test("a node takes no more calls once a newer node has contracted the schema beneath it, and says so to a probe", async () => {
  const url = await newEmptyDatabase();
  const lines: string[] = [];
  const old = await openStore(url, { warn: (line) => lines.push(line) });
  await old.write(write("ada", [[0, "Ada"]]));
  await old.probe();
  const sql = openClient(url);
  await migrate(sql, [...today, expand, contract]);
  // At once: the first call finds a column missing, and then it is known why.
  await assert.rejects(old.write(write("ada", [[0, "lost"]])), /newer version of sideband/);
  for (const call of [
    () => old.readUser(viewOf("ada")),
    () => old.findKey("0".repeat(64)),
    () => old.probe(),
    () => old.write(write("bob", [[0, "Bob"]])),
  ])
    await assert.rejects(call, { code: "store_unavailable", message: /form that this node does not know/ });
  assert.ok(
    lines.some((line) => /9002-contract.*newer version of sideband/.test(line)),
    lines.join("\n"),
  );
  const next = await openStore(url, { migrations: [...today, expand, contract] });
  assert.equal((await next.readFact(viewOf("ada"), "USER.name"))?.value, "Ada");
  await Promise.all([old.close(), next.close(), sql.end()]);
});

test("a probe makes a read and a write of the service's own kind, which leave nothing behind", async () => {
  const url = await newEmptyDatabase();
  const store = await openStore(url);
  await store.probe();
  const sql = openClient(url);
  const tables = [
    "users",
    "facts",
    "history",
    "month_counters",
    "day_counters",
    "replays",
    "answers",
    "api_keys",
  ];
  for (const table of tables)
    assert.equal((await sql`SELECT FROM ${sql(`sideband.${table}`)}`).length, 0, table);
  assert.equal((await sql`SELECT FROM sideband.probes`).length, 1);
  // What only facts need, or only keys: the row of the probe alone would not show it.
  for (const table of ["history", "month_counters", "replays", "api_keys"]) {
    await sql`ALTER TABLE ${sql(`sideband.${table}`)} RENAME TO away`;
    await assert.rejects(store.probe(), `without ${table}`);
    await sql`ALTER TABLE sideband.away RENAME TO ${sql(table)}`;
    await store.probe();
  }
  await Promise.all([store.close(), sql.end()]);
});

test("with migrates: false a node waits for the migration, and starts after it", async () => {
  const url = await newEmptyDatabase();
  await assert.rejects(openStore(url, { migrates: false }), {
    name: "MissingMigrationError",
    message: /lacks migration 0001-tables: run sideband db migrate/,
  });
  const sql = openClient(url);
  await migrate(sql);
  const store = await openStore(url, { migrates: false });
  await store.write(write("ada", [[0, "Ada"]]));
  await Promise.all([store.close(), sql.end()]);
});

test("rolling upgrade: a migration says in a line of its own which releases work beside it", (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "0001-first.sql"), "-- The first.\nSELECT 1;\n");
  writeFileSync(join(folder, "0002-expand.sql"), "-- Adds.\n-- works with: 1\nSELECT 1;\n");
  writeFileSync(
    join(folder, "0003-contract.sql"),
    "-- Takes away, and says that it works with: 1.\nSELECT 1;\n",
  );
  const found = loadMigrations(pathToFileURL(`${folder}/`)).map(({ oldest }) => oldest);
  assert.deepEqual(found, [1, 1, 3]);
});
