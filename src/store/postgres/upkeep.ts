/** Upkeep: whether the database can be written to, how much it holds, and removing expired records. */

import type { MonotonicClock } from "../../base/clock.ts";
import type { CompactReport, StoreStatistics } from "../../memory/ports.ts";
import type { Query } from "./database.ts";

/** Tables up to this size are counted; for larger ones the planner's estimate is used. */
const COUNTED_BYTES_MAX = 16 * 2 ** 20;

/** A real write: only that shows that the database can be written to. */
export function writeProbe(slot: number, nowMs: number): Query<void> {
  return async (sql) => {
    await sql`
      INSERT INTO sideband.probes (slot, written_at_ms) VALUES (${slot}, ${nowMs})
      ON CONFLICT (slot) DO UPDATE SET written_at_ms = excluded.written_at_ms`;
  };
}

export function readServer(): Query<string> {
  return async (sql) => {
    const [row] = await sql<{ version: string }[]>`SELECT current_setting('server_version') AS version`;
    return `PostgreSQL ${row.version}`;
  };
}

export function readStatistics(): Query<StoreStatistics> {
  return async (sql) => {
    const tables = await sql<{ name: string; heapBytes: number; sizeBytes: number; estimate: number }[]>`
      SELECT c.relname AS name, pg_relation_size(c.oid) AS "heapBytes", pg_total_relation_size(c.oid) AS "sizeBytes",
        greatest(c.reltuples, 0)::bigint AS estimate
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'sideband' AND c.relkind = 'r'`;
    const counts = new Map(tables.map(({ name, estimate }) => [name, estimate]));
    for (const { name, heapBytes } of tables) {
      if ((name !== "facts" && name !== "users") || heapBytes > COUNTED_BYTES_MAX) continue;
      const [row] = await sql<{ count: number }[]>`SELECT count(*) AS count FROM ${sql(`sideband.${name}`)}`;
      counts.set(name, row.count);
    }
    return {
      facts: counts.get("facts") ?? 0,
      users: counts.get("users") ?? 0,
      sizeBytes: tables.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    };
  };
}

/** A record that is just being renewed is locked: the DELETE waits and then sees its new expiry. */
export function sweepReplays(nowMs: number): Query<void> {
  return async (sql) => {
    await sql`DELETE FROM sideband.replays WHERE expires_at_ms <= ${nowMs}`;
  };
}

/** One table after the other: requests wait for one table, not for all. */
export function rewriteTables(monotonic: MonotonicClock): Query<CompactReport> {
  return async (sql) => {
    const startedMs = monotonic.now();
    const before = await readStatistics()(sql);
    for (const table of ["replays", "users", "facts"])
      await sql`VACUUM (FULL, ANALYZE) ${sql(`sideband.${table}`)}`;
    const after = await readStatistics()(sql);
    return {
      beforeBytes: before.sizeBytes,
      afterBytes: after.sizeBytes,
      entries: after.facts + after.users,
      durationMs: Math.round(monotonic.now() - startedMs),
    };
  };
}
