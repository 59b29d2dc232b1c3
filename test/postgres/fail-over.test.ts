/**
 * A primary and a standby, really replicating: nodes find the primary wherever it is listed, and nothing that was
 * acknowledged is lost or read from a standby. The standby serves what only reads.
 */

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import postgres from "postgres";
import { PostgresServer } from "../../bench/store/postgres-server.ts";
import type { Failure } from "../../src/base/errors.ts";
import { readConfig } from "../../src/config.ts";
import { moveData, readDatabaseStatus } from "../../src/main/database-upkeep.ts";
import { withOwner } from "../../src/main/owner.ts";
import { write } from "../conformance/store-under-test.ts";
import { rowsOf } from "../fixtures/fields.ts";
import { viewOf } from "../fixtures/views.ts";
import { openStore } from "./server.ts";

const PATIENCE_MS = 120_000;

/** The address of a database with several hosts, in this order. */
function addressOf(servers: readonly PostgresServer[], database: string): string {
  return `postgres://sideband@${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${database}`;
}

async function ask<T>(server: PostgresServer, query: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(server.url("facts"), { max: 1, onnotice: () => {} });
  try {
    return await query(sql);
  } finally {
    await sql.end();
  }
}

/** Until the standby has what the primary has. */
async function caughtUp(primary: PostgresServer, standby: PostgresServer): Promise<void> {
  const [{ at }] = await ask(primary, (sql) => sql`SELECT pg_current_wal_lsn() AS at`);
  for (;;) {
    const [{ there }] = await ask(
      standby,
      (sql) => sql`SELECT coalesce(pg_last_wal_replay_lsn() >= ${at}::pg_lsn, false) AS there`,
    );
    if (there) return;
    await setTimeout(50);
  }
}

test("fail-over: nodes go to the promoted standby, and stay there when the old primary is back, listed first", async () => {
  const first = await PostgresServer.start(["wal_keep_size=64MB"]);
  let second: PostgresServer | undefined;
  try {
    await first.createDatabase("facts");
    second = await first.startStandby();
    const store = await openStore(addressOf([first, second], "facts"));
    await store.write(write("ada", [[0, "before"]]));
    await caughtUp(first, second);

    // Listed first, a standby is passed over; alone, it is refused and never read from.
    const other = await openStore(addressOf([second, first], "facts"));
    await other.write(write("bob", [[0, "Bob"]]));
    await other.close();
    await assert.rejects(openStore(second.url("facts")), (error: Failure) => {
      assert.equal(error.code, "store_unavailable");
      return /is a standby, not the primary/.test(String(error.extra.cause));
    });

    // An orderly switch: the standby has everything when the primary is down.
    await caughtUp(first, second);
    await first.pause();
    await assert.rejects(store.write(write("ada", [[0, "nowhere"]])));
    await ask(second, (sql) => sql`SELECT pg_promote()`);
    const promoted = second;
    // A connection that was being opened before is refused: whoever is told so tries again.
    await again(() => store.write(write("ada", [[0, "after"]])));
    assert.equal((await again(() => store.readFact(viewOf("ada"), "USER.name")))?.value, "after");
    assert.equal((await again(() => store.readFact(viewOf("bob"), "USER.name")))?.value, "Bob");

    // The old primary comes back as a standby of the new one, and is still listed first.
    first.follow(promoted);
    await first.resume();
    await caughtUp(promoted, first);
    const restarted = await openStore(addressOf([first, promoted], "facts"));
    for (const node of [store, restarted]) {
      await node.write(write("ada", [[1, "on the new primary"]]));
      assert.equal((await node.readFact(viewOf("ada"), "USER.name"))?.value, "after");
      await node.probe();
    }
    const [{ value }] = await ask(
      promoted,
      (sql) => sql`SELECT value FROM sideband.facts WHERE label = 'USER.project'`,
    );
    assert.equal(value, "on the new primary");
    await Promise.all([store.close(), restarted.close()]);
  } finally {
    await first.remove();
    await second?.remove();
  }
});

/** Tries again what was refused while a connection was being lost. */
async function again<T>(call: () => Promise<T>): Promise<T> {
  for (const endMs = performance.now() + PATIENCE_MS; ; await setTimeout(100)) {
    try {
      return await call();
    } catch (error) {
      if (performance.now() >= endMs) throw error;
    }
  }
}

test("two primaries: nothing is written to either, whichever is listed first, and nodes go on when one is stopped", async () => {
  const first = await PostgresServer.start(["wal_keep_size=64MB"]);
  let second: PostgresServer | undefined;
  try {
    await first.createDatabase("facts");
    second = await first.startStandby();
    const [old, promoted] = [first, second];
    const lines: string[] = [];
    const told = { warn: (line: string) => lines.push(line), inform: (line: string) => lines.push(line) };
    const running = await openStore(addressOf([old, promoted], "facts"), told);
    await running.write(write("ada", [[0, "before"]]));
    assert.deepEqual(running.server, { server: `127.0.0.1:${old.port}`, timeline: 1 });
    await caughtUp(old, promoted);
    await old.pause();
    await ask(promoted, (sql) => sql`SELECT pg_promote()`);
    await again(() => running.write(write("ada", [[0, "on the new primary"]])));
    assert.deepEqual(running.server, { server: `127.0.0.1:${promoted.port}`, timeline: 2 });

    // Nobody has fenced it: it comes back, and takes writes as before.
    await old.resume();
    for (const order of [
      [old, promoted],
      [promoted, old],
    ])
      await assert.rejects(openStore(addressOf(order, "facts")), (error: Failure) => {
        assert.equal(error.code, "store_unavailable");
        assert.match(error.message, /^Two database servers take writes/);
        return /:\d+ \(timeline [12]\) and .* both take writes.*CLUSTER\.md, fencing/.test(
          String(error.extra.cause),
        );
      });
    // A node that loses one connection finds both, and writes nothing more over the others.
    await ask(
      promoted,
      (sql) => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'sideband' AND pid <> pg_backend_pid()`,
    );
    await again(() => assert.rejects(running.probe(), /Two database servers take writes/));
    await assert.rejects(running.write(write("ada", [[0, "nowhere"]])), /Two database servers take writes/);
    await assert.rejects(running.readFact(viewOf("ada"), "USER.name"), /Two database servers take writes/);
    assert.ok(
      lines.some((line) => /both take writes, so neither is used/.test(line)),
      lines.join("\n"),
    );
    assert.equal(running.server, undefined);
    const config = readConfig({ SIDEBAND_DATABASE_URL: addressOf([old, promoted], "facts") });
    const status = await readDatabaseStatus(config);
    assert.deepEqual(rowsOf(status.hosts, "state", "timeline"), [
      ["takes writes", 1],
      ["takes writes", 2],
    ]);
    assert.match(status.refusal ?? "", /both take writes/);

    // The new one away, the old one up: what this node has seen keeps it from going back.
    await promoted.pause();
    await again(() => assert.rejects(running.probe(), /was the primary before a fail-over/));
    await assert.rejects(running.write(write("ada", [[0, "nowhere"]])), /was the primary before a fail-over/);
    await promoted.resume();
    await old.pause();
    await again(() => running.write(write("ada", [[1, "again"]])));
    assert.equal(
      (await again(() => running.readFact(viewOf("ada"), "USER.name")))?.value,
      "on the new primary",
    );
    await running.close();

    // Nothing has reached the old one.
    await promoted.pause();
    await old.resume();
    const rows = await ask(old, (sql) => sql`SELECT label, value FROM sideband.facts`);
    assert.deepEqual([...rows], [{ label: "USER.name", value: "before" }]);
  } finally {
    await first.remove();
    await second?.remove();
  }
});

test("two names of one server are not two primaries, and a primary that is set to read only is none", async () => {
  const server = await PostgresServer.start();
  try {
    await server.createDatabase("facts");
    const url = `postgres://sideband@127.0.0.1:${server.port},localhost:${server.port}/facts`;
    const store = await openStore(url);
    await store.write(write("ada", [[0, "Ada"]]));
    await store.close();
    await ask(server, (sql) => sql`ALTER SYSTEM SET default_transaction_read_only = on`);
    await ask(server, (sql) => sql`SELECT pg_reload_conf()`);
    await again(() => assert.rejects(openStore(url), /cannot be used/));
  } finally {
    await server.remove();
  }
});

test("standby: verify, export and db export read it and change nothing", async () => {
  const primary = await PostgresServer.start();
  const folder = mkdtempSync(join(tmpdir(), "sideband-standby-"));
  let standby: PostgresServer | undefined;
  try {
    await primary.createDatabase("facts");
    standby = await primary.startStandby();
    const settings = { SIDEBAND_MASTER_KEY: "ab".repeat(32), SIDEBAND_ADMIN_TOKEN: "a-token-for-the-tests" };
    const config = (server: PostgresServer) =>
      readConfig({
        ...settings,
        SIDEBAND_DATABASE_URL: server.url("facts"),
        SIDEBAND_DATA: join(folder, "data"),
      });
    // Before the first migration the line says what to do.
    await assert.rejects(
      withOwner(config(standby), { create: false, readOnly: true }, async () => {}),
      /lacks migration 0001-tables: run sideband db migrate on the primary/,
    );
    const store = await openStore(primary.url("facts"));
    await store.write(write("ada", [[0, "Ada"]]));
    await store.agreeOn("master-key-1", "another key");
    await store.close();
    await caughtUp(primary, standby);

    await assert.rejects(
      withOwner(config(standby), { create: false, readOnly: true }, async () => {}),
      /master key 1 is not the one/,
    );
    await ask(primary, (sql) => sql`DELETE FROM sideband.settings WHERE name = 'master-key-1'`);
    await caughtUp(primary, standby);
    const { lines, report } = await withOwner(
      config(standby),
      { create: false, readOnly: true },
      async (owner) => {
        const lines = [];
        for await (const line of owner.lines("GET", "/operator/export")) lines.push(line);
        const report = await owner.work<{ users: number; facts: number; findings: object[] }>(
          "/operator/verify",
          { deep: true },
          () => {},
        );
        return { lines, report };
      },
    );
    assert.match(JSON.stringify(lines), /"Ada"/);
    assert.deepEqual([report.users, report.facts, report.findings], [1, 1, []]);
    const moved = await moveData(config(standby), "out of the database", () => {});
    assert.deepEqual(moved, { keys: 0, users: 1, facts: 1, leftOut: [], differences: [] });
    assert.ok(!readdirSync(join(folder, "data")).includes("master.key"));
  } finally {
    rmSync(folder, { recursive: true });
    await primary.remove();
    await standby?.remove();
  }
});
