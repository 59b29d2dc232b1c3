/** A PostgreSQL that is up but not at its best: a locked user, no place for another connection, writes that fail. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import postgres from "postgres";
import { PostgresServer } from "../../bench/store/postgres-server.ts";
import type { Failure } from "../../src/base/errors.ts";
import type { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { write } from "../conformance/store-under-test.ts";
import { viewOf } from "../fixtures/views.ts";
import { newDatabase, openStore, SERVICE_LOCK_MS } from "./server.ts";

/** Locks a user's row until it is told to let go. */
async function lockUser(context: TestContext, url: string, userId: string): Promise<() => Promise<void>> {
  const sql = postgres(url, { max: 1 });
  let letGo = () => {};
  context.after(() => {
    letGo();
    return sql.end();
  });
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let transaction: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve) => {
    transaction = sql.begin(async (tx) => {
      await tx`SELECT 1 FROM sideband.users WHERE user_id = ${userId} FOR UPDATE`;
      resolve();
      await held;
    });
  });
  return async () => {
    letGo();
    await transaction;
  };
}

const codeOf = (error: unknown) => (error as Failure).code;
const names = Array.from({ length: 20 }, (_, i) => `user ${i}`);

const LOCK_WAIT_MS = 60_000;

async function timed(work: Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work;
  return performance.now() - startMs;
}

test("a lock on one user holds back that user only, and in order", async (t) => {
  const url = await newDatabase();
  // With one connection for commits: a group that waited for the lock would hold back all of them.
  const store = await openStore(url, { poolMax: 4, statementTimeoutMs: LOCK_WAIT_MS });
  await Promise.all(["locked", ...names].map((name) => store.write(write(name, [[0, "before"]]))));
  const letGo = await lockUser(t, url, "locked");

  // In one group with the others, and alone; other changes of the locked user take up connections too.
  const held = [1, 2, 3].map((i) => store.write(write("locked", [[0, `held ${i}`]])));
  const forgetting = store.forgetUser("acme", "locked", "elsewhere");
  const groupMs = await timed(Promise.all(names.map((name) => store.write(write(name, [[0, "beside"]])))));
  const laterMs: number[] = [];
  for (let i = 0; i < 20; i++) laterMs.push(await timed(store.write(write(`user ${i}`, [[1, "after"]]))));
  // Who waits for the lock waits longer.
  const limitMs = LOCK_WAIT_MS / 2;
  assert.ok(groupMs < limitMs, `beside the locked user: ${groupMs.toFixed()} ms`);
  assert.ok(Math.max(...laterMs) < limitMs, `after it: ${laterMs.map((ms) => ms.toFixed()).join(" ")} ms`);

  await letGo();
  await Promise.all([...held, forgetting]);
  assert.equal((await store.readFact(viewOf("locked"), "USER.name"))?.value, "held 3");
  await store.close();
});

test("a user whose lock stays is refused as not stored after five seconds, and is free with the lock", async (t) => {
  const url = await newDatabase();
  const store = await openStore(url, { statementTimeoutMs: SERVICE_LOCK_MS });
  await store.write(write("locked", [[0, "before"]]));
  const letGo = await lockUser(t, url, "locked");
  const waitedMs = await timed(
    assert.rejects(
      store.write(write("locked", [[0, "never"]])),
      (error) => codeOf(error) === "store_unavailable",
    ),
  );
  assert.ok(waitedMs >= 5_000 && waitedMs < 30_000, `${waitedMs.toFixed()} ms`);
  await letGo();
  await store.write(write("locked", [[0, "free again"]]));
  assert.equal((await store.readFact(viewOf("locked"), "USER.name"))?.value, "free again");
  await store.close();
});

test("a server that takes no more connections still answers on the open ones", async () => {
  const server = await PostgresServer.start(["max_connections=10", "superuser_reserved_connections=0"]);
  try {
    const url = await server.createDatabase("facts");
    const store = await openStore(url, { poolMax: 8 });
    await store.write(write("ada", [[0, "Ada"]]));
    // Every place that is left is taken.
    const others: postgres.Sql[] = [];
    for (let full = false; !full; ) {
      const sql = postgres(url, { max: 1, fetch_types: false });
      await sql`SELECT 1`.then(
        () => others.push(sql),
        () => {
          full = true;
        },
      );
    }
    const reads = Array.from({ length: 200 }, () => store.readFact(viewOf("ada"), "USER.name"));
    const values = new Set((await Promise.all(reads)).map((fact) => fact?.value));
    assert.deepEqual(values, new Set(["Ada"]));
    await Promise.all(names.map((name) => store.write(write(name, [[0, "stored"]]))));
    await Promise.all(others.map((sql) => sql.end()));
    await store.close();
  } finally {
    await server.remove();
  }
});

async function isReady(store: PostgresStore): Promise<boolean> {
  return store.probe().then(
    () => true,
    () => false,
  );
}

test("ready is what can really be written to: a probe writes, and failed writes count", async () => {
  const url = await newDatabase();
  let nowMs = 0;
  const store = await openStore(url, { monotonic: { now: () => nowMs } });
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const [{ before }] = await sql`SELECT pg_current_wal_insert_lsn() AS before`;
  assert.equal(await isReady(store), true);
  const [{ written }] = await sql`SELECT count(*)::int AS written FROM sideband.probes`;
  assert.equal(written, 1);
  assert.ok((await sql`SELECT pg_current_wal_flush_lsn() > ${before}::pg_lsn AS yes`)[0].yes);

  // The server answers and reads, but has no room for rows: as with a full disk.
  await sql.unsafe(`
    CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON sideband.probes EXECUTE FUNCTION no_room();
    CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON sideband.facts EXECUTE FUNCTION no_room();`);
  assert.equal(await isReady(store), false);
  await assert.rejects(
    store.write(write("ada", [[0, "Ada"]])),
    (error) => codeOf(error) === "store_unavailable",
  );

  // There is room for the row of the probe only: a write that failed counts, for five seconds.
  await sql.unsafe("DROP TRIGGER no_room ON sideband.probes");
  nowMs += 4_999;
  assert.equal(await isReady(store), false);
  await sql.unsafe("DROP TRIGGER no_room ON sideband.facts");
  await store.write(write("ada", [[0, "Ada"]]));
  assert.equal(await isReady(store), true);

  // A write that was really made stands for a probe, for a second.
  await sql.unsafe(
    "CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON sideband.probes EXECUTE FUNCTION no_room()",
  );
  await store.write(write("ada", [[0, "Ada again"]]));
  nowMs += 999;
  assert.equal(await isReady(store), true);
  nowMs += 1;
  assert.equal(await isReady(store), false);
  await sql.end();
  await store.close();
});
