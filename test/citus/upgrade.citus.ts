/** A migration on a distributed database makes its new table known to the cluster, and every machine serves. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { loadMigrations, migrate } from "../../src/store/postgres/migrations.ts";
import { NOW, write } from "../conformance/store-under-test.ts";
import { fieldsOf } from "../fixtures/fields.ts";
import { openClient, openStore } from "../postgres/server.ts";
import { newDistributedDatabase, sharedCluster } from "./shared-cluster.ts";

test("citus: a distributed database is upgraded in place", async () => {
  const cluster = await sharedCluster();
  await newDistributedDatabase(cluster, "older");
  const sql = openClient(cluster.urlOf(cluster.coordinator, "older"));
  const known = loadMigrations();
  const added = { version: known.length + 1, name: "made-for-the-test", checksum: "0", oldest: known.length };
  const text = "ALTER TABLE sideband.facts ADD COLUMN made_for_the_test text";
  await migrate(sql, [...known, { ...added, sql: text }]);
  await sql.end();
  for (const machine of [cluster.coordinator, ...cluster.workers]) {
    const store = await openStore(cluster.urlOf(machine, "older"));
    const users = Array.from({ length: 20 }, (_, i) => `user-${i}`);
    const outcomes = await Promise.all(
      users.map((user) => store.write(write(user, [[0, `${machine.port}`]]))),
    );
    assert.ok(outcomes.every(({ outcome }) => outcome === "stored"));
    for (const userId of users) {
      const life = await store.readLife("acme", userId, { nowMs: NOW });
      assert.deepEqual(fieldsOf(life?.facts, "value"), [`${machine.port}`]);
    }
    await store.close();
  }
});
