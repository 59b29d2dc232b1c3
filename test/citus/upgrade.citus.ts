/** A distributed database of before facts had places is brought to this program's form, and serves from every machine. */

import assert from "node:assert/strict";
import { test } from "node:test";
import postgres from "postgres";
import { distributionStatements, readSignatures } from "../../src/store/postgres/cluster/distribution.ts";
import { userSlot } from "../../src/store/postgres/cluster/placement.ts";
import type { Sql } from "../../src/store/postgres/connection/database.ts";
import { loadMigrations, migrate } from "../../src/store/postgres/migrations.ts";
import { NOW } from "../conformance/store.ts";
import { openStore } from "../postgres/server.ts";
import { sharedCluster } from "./shared-cluster.ts";

const PROJECT = "loom-3f2a9c81d04e";
const PERSONS = Array.from({ length: 20 }, (_, i) => `person-${i}`);
/** What the migrations after those have added. */
const LATER = ["history", "labels", "answers", "event_logs", "events"].map((name) => `sideband.${name}`);

test("citus: an older cluster is upgraded in place", async () => {
  const cluster = await sharedCluster();
  const url = await cluster.createDatabase("older");
  const sql = postgres(url, { max: 1, onnotice: () => {} }) as unknown as Sql;
  await migrate(sql, loadMigrations().slice(0, 3));
  await sql.begin(async (tx) => {
    const signatures = await readSignatures(tx as unknown as Sql);
    for (const statement of distributionStatements(8, signatures, LATER)) await tx.unsafe(statement);
  });
  for (const userId of PERSONS.flatMap((person) => [person, `${person}/${PROJECT}`])) {
    const slot = userSlot("acme", userId);
    await sql`
      INSERT INTO sideband.users (slot, life, revision, channels, account, user_id)
      VALUES (${slot}, 7, 1, 1, 'acme', ${userId})`;
    await sql`
      INSERT INTO sideband.facts (slot, channel, revision, updated_at_ms, account, user_id, value)
      VALUES (${slot}, 0, 1, ${NOW}, 'acme', ${userId}, ${userId})`;
  }
  await migrate(sql);
  await sql.end();
  for (const machine of [cluster.coordinator, ...cluster.workers]) {
    const store = await openStore(cluster.urlOf(machine, "older"));
    const places = ["", PROJECT];
    const outcomes = await Promise.all(
      PERSONS.map((userId) => {
        const changes = [{ place: PROJECT, channel: 1, value: `of ${machine.port}` }];
        return store.write({ account: "acme", userId, changes, places, nowMs: NOW });
      }),
    );
    assert.ok(outcomes.every((outcome) => outcome.outcome === "stored" && outcome.channelCount === 2));
    for (const userId of PERSONS) {
      const facts = (await store.readLife("acme", userId, { nowMs: NOW }))?.facts;
      assert.deepEqual(
        facts?.map(({ place, value }) => [place, value]),
        [
          ["", userId],
          [PROJECT, `${userId}/${PROJECT}`],
          [PROJECT, `of ${machine.port}`],
        ],
      );
    }
    await store.close();
  }
});
