/**
 * The upgrade of a database that was written before facts had places (migrations 1 to 3): everything is still there, the
 * facts that clients kept under PERSON/PROJECT are the person's at that place, and programs of before are refused.
 */

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { replaySlot, userSlot } from "../../src/store/postgres/cluster/placement.ts";
import type { Sql } from "../../src/store/postgres/connection/database.ts";
import { loadMigrations, migrate, readApplied } from "../../src/store/postgres/migrations.ts";
import { newEmptyDatabase, openStore } from "./server.ts";

const all = loadMigrations();
const before = all.slice(0, 3);
const NOW = Date.UTC(2026, 10, 15, 12);
const ACCOUNT = "acmé";
const [LOOM, BARE] = ["loom-3f2a9c81d04e", "-0123456789ab"];
const TABLES = ["users", "facts", "month_counters", "day_counters", "replays", "api_keys", "accounts"];

/** A user as the release before wrote it: values by channel, each one revision after the other. */
async function writeBefore(
  sql: Sql,
  userId: string,
  values: readonly string[],
  revision: number,
): Promise<void> {
  const slot = userSlot(ACCOUNT, userId);
  await sql`
    INSERT INTO sideband.users (slot, life, revision, channels, account, user_id)
    VALUES (${slot}, 7, ${revision + values.length}, ${2 ** values.length - 1}, ${ACCOUNT}, ${userId})`;
  for (const [channel, value] of values.entries())
    await sql`
      INSERT INTO sideband.facts (slot, channel, code_version, revision, updated_at_ms, code_length, account, user_id, value,
        code_bytes)
      VALUES (${slot}, ${channel}, 3, ${revision + channel + 1}, ${NOW + channel}, 8, ${ACCOUNT}, ${userId}, ${value},
        ${Buffer.of(1, 2, 3, 4, 0xab)})`;
}

async function oldDatabase(): Promise<{ url: string; sql: Sql }> {
  const url = await newEmptyDatabase();
  const sql = postgres(url, { max: 1, onnotice: () => {} }) as unknown as Sql;
  await migrate(sql, before);
  await writeBefore(sql, "ada", ["Ada", "London"], 100);
  await writeBefore(sql, `ada/${LOOM}`, ["TypeScript", "main"], 500);
  await writeBefore(sql, `ada/${BARE}`, ["Rust"], 300);
  await writeBefore(sql, `only/a/project/${LOOM}`, ["nested"], 10);
  for (const untouched of [
    LOOM,
    `/${LOOM}`,
    `x/${LOOM}/${LOOM}`,
    `x/${LOOM}/`,
    "x/loom-3f2a9c81d04",
    `x/é${LOOM}`,
  ])
    await writeBefore(sql, untouched, [untouched], 20);
  await sql`INSERT INTO sideband.accounts (created_at_ms, account) VALUES (${NOW}, ${ACCOUNT})`;
  await sql`
    INSERT INTO sideband.api_keys (created_at_ms, id, account, tier, hash, prefix, note)
    VALUES (${NOW}, 'key1', ${ACCOUNT}, 'pro', 'ab', 'sb_live_AAAA', 'first')`;
  await sql`INSERT INTO sideband.month_counters VALUES (5, 12, 'key1', '2026-11')`;
  await sql`INSERT INTO sideband.day_counters VALUES (5, 12, 'key1', '2026-11-15')`;
  await sql`
    INSERT INTO sideband.replays
    VALUES (${replaySlot("key1", "once")}, 2, ${NOW + 1000}, 'key1', 'once', ${Buffer.alloc(32, 1)})`;
  return { url, sql };
}

async function dump(sql: Sql): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (const table of TABLES)
    rows.push(await sql`SELECT to_jsonb(t) FROM ${sql(`sideband.${table}`)} t ORDER BY to_jsonb(t)::text`);
  return rows;
}

test("upgrade to places: every fact, key, count and replay record is there", async () => {
  const { url, sql } = await oldDatabase();
  await migrate(sql);
  const store = await openStore(url);
  const life = await store.readLife(ACCOUNT, "ada", { nowMs: NOW });
  assert.deepEqual(
    life?.facts.map(({ place, channel, value, updatedAtMs }) => [place, channel, value, updatedAtMs]),
    [
      ["", 0, "Ada", NOW],
      ["", 1, "London", NOW + 1],
      [BARE, 0, "Rust", NOW],
      [LOOM, 0, "TypeScript", NOW],
      [LOOM, 1, "main", NOW + 1],
    ],
  );
  assert.ok(life?.facts.every((fact) => fact.sinceMs === fact.updatedAtMs && fact.ordinal === 1));
  const revisionOf = (place: string, channel: number) =>
    life!.facts.find((fact) => fact.place === place && fact.channel === channel)!.revision;
  const ordered = [
    revisionOf("", 0),
    revisionOf("", 1),
    revisionOf(BARE, 0),
    revisionOf(LOOM, 0),
    revisionOf(LOOM, 1),
  ];
  assert.deepEqual(
    ordered,
    ordered.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(ordered).size, 5);
  // What keeps its place keeps its code; the next revision is above all.
  const view = { account: ACCOUNT, userId: "ada", places: ["", LOOM], nowMs: NOW };
  const state = await store.readUser({ ...view, places: [""] });
  assert.deepEqual(state?.facts[0].code?.bits.bytes, Uint8Array.of(0xab));
  const change = { place: LOOM, channel: 0, value: "Zig" };
  const outcome = await store.write({ ...view, changes: [change] });
  assert.ok(outcome.outcome === "stored" && outcome.revision > Math.max(...ordered));
  assert.equal((await store.readFact(view, 0))?.value, "Zig");
  assert.equal((await store.readLife(ACCOUNT, "only/a/project", { nowMs: NOW }))?.facts[0].place, LOOM);

  const users = await store.listUsers(ACCOUNT, { prefix: "", after: "", limit: 100 });
  const untouched = [LOOM, `/${LOOM}`, `x/${LOOM}/${LOOM}`, `x/${LOOM}/`, "x/loom-3f2a9c81d04", `x/é${LOOM}`];
  assert.deepEqual(users.toSorted(), ["ada", "only/a/project", ...untouched].toSorted());
  for (const userId of untouched)
    assert.equal((await store.readFact({ ...view, userId, places: [""] }, 0))?.value, userId);

  const key = await store.readKey("key1");
  assert.deepEqual([key?.tier, key?.note, key?.user, key?.access], ["pro", "first", null, "write"]);
  assert.equal(await store.readUsage("key1", "2026-11"), 12);
  const idempotency = { keyId: "key1", key: "once", fingerprint: Buffer.alloc(32, 1), expiresAtMs: NOW + 9 };
  const replayed = await store.write({ ...view, changes: [change], idempotency });
  assert.deepEqual(replayed, { outcome: "replayed", channelCount: 2, used: 0, revision: 0, previous: [] });
  await Promise.all([store.close(), sql.end()]);
});

test("upgrade to places: the slots that SQL computes are those of the program", async () => {
  const { url, sql } = await oldDatabase();
  const persons = Array.from({ length: 200 }, (_, i) => `${i} zoë \u{1F9E0} e\u0301 ${"x".repeat(i % 50)}`);
  for (const person of persons) await writeBefore(sql, `${person}/${LOOM}`, [person], 1000);
  await migrate(sql);
  const store = await openStore(url);
  for (const userId of persons) {
    const view = { account: ACCOUNT, userId, places: ["", LOOM], nowMs: NOW };
    assert.equal((await store.readUser(view))?.facts[0].value, userId);
  }
  await Promise.all([store.close(), sql.end()]);
});

test("upgrade to places: one that is killed at its end has changed nothing, and can be done again", async () => {
  const { url, sql } = await oldDatabase();
  const kept = await dump(sql);
  const script = fileURLToPath(new URL("migrating-process.ts", import.meta.url));
  const child = fork(script, [url], { execArgv: ["--import", "tsx"] });
  const ended = once(child, "exit");
  const sleeping = () => sql<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
  while ((await sleeping()).length === 0) assert.equal(child.exitCode, null);
  child.kill("SIGKILL");
  await ended;
  // The server learns only at its next answer that nobody is there.
  await sql`SELECT pg_terminate_backend(${(await sleeping())[0].pid}, 60000)`;
  assert.deepEqual(await dump(sql), kept);
  assert.equal((await readApplied(sql)).length, before.length);
  await migrate(sql);
  const store = await openStore(url);
  assert.equal((await store.readLife(ACCOUNT, "ada", { nowMs: NOW }))?.facts.length, 5);
  await Promise.all([store.close(), sql.end()]);
});

test("upgrade to places: a program of before is refused, and one that still runs fails in each call", async () => {
  const { url, sql } = await oldDatabase();
  await migrate(sql);
  await assert.rejects(openStore(url, { migrations: before }), /a-facts-life.*newer version of sideband/);
  await assert.rejects(openStore(url, { migrations: before, readOnly: true }), /newer version of sideband/);
  // The statements of the release before.
  await assert.rejects(
    sql`SELECT f.channel, f.value, f.code_version FROM sideband.facts AS f`,
    /code_version/,
  );
  const [{ writes }] = await sql<{ writes: number }[]>`
    SELECT count(*)::integer AS writes FROM pg_proc WHERE proname = 'forget_facts' OR proname = 'write_facts'
      AND 'p_masks' = ANY(proargnames)`;
  assert.equal(writes, 0);
  await sql.end();
});
