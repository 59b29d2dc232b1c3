/** What the queries make of the database's answers where the conformance suite does not lead: limits, sizes, full pages. */

import assert from "node:assert/strict";
import { test } from "node:test";
import postgres from "postgres";
import type { FactChange } from "../../../src/memory/ports.ts";
import { userSlot } from "../../../src/store/postgres/cluster/placement.ts";
import type { Sql } from "../../../src/store/postgres/connection/database.ts";
import type { PostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { part, Statements } from "../../../src/store/postgres/queries/statements.ts";
import { readStatistics } from "../../../src/store/postgres/queries/upkeep.ts";
import { NOW, write } from "../../conformance/store-under-test.ts";
import { until } from "../../fixtures/waiting.ts";
import { newDatabase, openStore } from "../../postgres/server.ts";

const MIB = 2 ** 20;

test("postgres: on a cluster, too, the change that is named first is made last", async () => {
  const sent: string[] = [];
  const unsafe = async (text: string) => {
    sent.push(text.split(" ")[0] ?? "");
    return [];
  };
  const statements = new Statements({ unsafe } as unknown as Sql, true);
  await Promise.all(statements.change([part`COUNT`, part`STORE`, part`END`]));
  assert.deepEqual(sent, ["END", "STORE", "COUNT"]);
});

/** The sizes of tables on each machine; what is counted, unless nothing can be. */
interface Answers {
  readonly machines: readonly (readonly object[])[];
  readonly count?: number;
  readonly distributed?: boolean;
}

/** A database that answers the statements of the statistics. */
function answering({ machines, count, distributed = false }: Answers): Sql {
  const answerTo = (text: string): object[] => {
    if (text.includes("pg_extension")) return [{ version: distributed ? "13.0" : null }];
    if (text.includes("pg_dist_partition")) return [{ distributed, isWorker: false }];
    if (text.includes("run_command_on_all_nodes"))
      return machines.map((tables) => ({ result: JSON.stringify(tables) }));
    if (count === undefined) throw new Error("no machine can count");
    return [{ count }];
  };
  const sql = async (first: string | TemplateStringsArray, ticket?: number) =>
    typeof first === "string" ? first : answerTo(first.join("?")).map((row) => ({ ticket, ...row }));
  return Object.assign(sql, { unsafe: async () => machines[0] }) as unknown as Sql;
}

const table = (name: string, heapBytes: number, estimate: number) => ({
  name,
  heapBytes,
  sizeBytes: heapBytes + 10,
  estimate,
});

test("postgres: small tables are counted, of large ones the estimate is taken, and sizes are added up", async () => {
  const machines = [
    [table("facts", 16 * MIB, 900), table("users", 16 * MIB + 1, 80), table("history", 5, 7)],
  ];
  assert.deepEqual(await readStatistics()(answering({ machines, count: 3 })), {
    facts: 3,
    users: 80,
    sizeBytes: 32 * MIB + 36,
  });
});

test("postgres: on a cluster the machines are added up, and estimates stand in where nothing can be counted", async () => {
  const machines = [
    [table("facts", 9 * MIB, 900), table("users", 1, 80)],
    [table("facts", 9 * MIB, 100), table("users", 1, 20)],
  ];
  const sizeBytes = 18 * MIB + 42;
  const cluster = { machines, distributed: true };
  assert.deepEqual(await readStatistics()(answering({ ...cluster, count: 3 })), {
    facts: 1_000,
    users: 3,
    sizeBytes,
  });
  assert.deepEqual(await readStatistics()(answering(cluster)), { facts: 1_000, users: 100, sizeBytes });
});

test("postgres: a compaction says what is left, and how large it is", async () => {
  const store = await openStore(await newDatabase());
  await store.write(write("ada", [[0, "a"]]));
  const { entries, beforeBytes, afterBytes, durationMs } = await store.compact();
  assert.equal(entries, 2);
  assert.ok(beforeBytes > 0 && afterBytes > 0 && durationMs >= 0 && durationMs < 600_000);
  await store.close();
});

test("postgres: a compaction does not tell the planner that an empty table stays empty", async () => {
  const url = await newDatabase();
  const store = await openStore(url);
  await store.write(write("ada", [[0, "a"]]));
  await store.compact();
  await store.close();
  const sql = postgres(url, { max: 1 });
  const tables = await sql`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'sideband'::regnamespace AND relkind = 'r' AND reltuples = 0`;
  await sql.end();
  assert.deepEqual([...tables], []);
});

async function change(store: PostgresStore, userId: string, ...changes: FactChange[]): Promise<void> {
  await store.write(write(userId, [], { changes }));
}
const keptOf = async (store: PostgresStore, nowMs = NOW) =>
  (await store.readLife("acme", "ada", { nowMs }))?.earlier.map(({ value }) => value);
const forgotten: FactChange = { place: "", label: "USER.name", value: null, keepHistory: true };

test("postgres: what was beyond a limit does not come back under a higher one", async () => {
  const url = await newDatabase();
  const valuesUnder = async (historyMax: number, ...values: string[]) => {
    const store = await openStore(url, { historyMax });
    for (const value of values) await change(store, "ada", { place: "", label: "USER.name", value });
    await store.sweep(NOW);
    const kept = await keptOf(store);
    await store.close();
    return kept;
  };
  assert.deepEqual(await valuesUnder(2, "v1", "v2", "v3", "v4", "v5", "v6"), ["v4", "v5"]);
  assert.deepEqual(await valuesUnder(8, "v7"), ["v4", "v5", "v6"]);
  assert.deepEqual(await valuesUnder(1), ["v6"]);
  assert.deepEqual(await valuesUnder(8), ["v6"]);
  assert.deepEqual(await valuesUnder(0), []);
  assert.deepEqual(await valuesUnder(8, "v8"), ["v7"]);
});

test("postgres: a node or a command without a limit of its own keeps the one in force, and no history is shortened", async () => {
  const url = await newDatabase();
  const node = await openStore(url, { historyMax: 32 });
  for (let i = 1; i <= 12; i++) await change(node, "ada", { place: "", label: "USER.name", value: `v${i}` });
  const kept = await keptOf(node);
  assert.equal(kept?.length, 11);
  await node.close();
  const command = await openStore(url);
  assert.equal(command.historyMax, 32);
  await command.close();
  const again = await openStore(url, { historyMax: 32 });
  assert.deepEqual(await keptOf(again), kept);
  await again.close();
});

test("postgres: where no history is kept any longer, all users of whom nothing else is left go, page after page", async () => {
  const url = await newDatabase();
  // They are looked for in sixteen slots at a time.
  const users = Array.from({ length: 20_000 }, (_, i) => `user${i}`)
    .filter((userId) => userSlot("acme", userId) < 16)
    .slice(0, 257);
  const store = await openStore(url, { historyMax: 8 });
  await Promise.all(
    users.map((userId) => change(store, userId, { place: "", label: "USER.name", value: "a" })),
  );
  await Promise.all(users.map((userId) => change(store, userId, forgotten)));
  assert.equal((await store.statistics()).users, 257);
  await store.close();
  const bare = await openStore(url, { historyMax: 0 });
  await bare.sweep(NOW);
  assert.equal((await bare.statistics()).users, 0);
  await bare.close();
});

test("postgres: histories are shortened under the lock of their user, so that what another node writes meanwhile is counted", async () => {
  const url = await newDatabase();
  const store = await openStore(url, { historyMax: 8 });
  const sql = postgres(url, { max: 2 });
  await change(store, "ada", { place: "", label: "USER.name", value: "a" });
  await change(store, "ada", forgotten);
  await change(store, "ada", { place: "", label: "USER.role", value: "b" });
  await store.close();
  const bare = await openStore(url, { historyMax: 0 });
  let shortening: Promise<unknown> | undefined;
  // A node with a higher limit forgets a fact, and keeps its history.
  await sql.begin(async (node) => {
    await node`SELECT FROM sideband.users FOR NO KEY UPDATE`;
    shortening = bare.sweep(NOW);
    const waiting = () =>
      sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await waiting()).length > 0);
    await node`
      INSERT INTO sideband.history SELECT slot, ordinal, revision, updated_at_ms, since_ms, updated_at_ms,
        expires_at_ms, account, user_id, place, label, value, 'forgotten' FROM sideband.facts`;
    await node`DELETE FROM sideband.facts`;
    await node`UPDATE sideband.users SET facts = 0, heads = 2`;
  });
  await shortening;
  const left = await sql`SELECT label FROM sideband.history UNION ALL SELECT user_id FROM sideband.users`;
  assert.deepEqual([...left], [], "no history is left of a user who is gone");
  await Promise.all([bare.close(), sql.end()]);
});
