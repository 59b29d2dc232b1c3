/** Upkeep: whether the database can be written to, how much it holds, and removing expired records. */

import { assertInteger } from "../../../base/assert.ts";
import type { MonotonicClock } from "../../../base/clock.ts";
import type { CompactReport, StoreStatistics } from "../../../memory/ports.ts";
import type { EndedFact } from "../../../memory/records.ts";
import { COORDINATOR_TABLES, DISTRIBUTED_TABLES, readCluster } from "../cluster/distribution.ts";
import { SLOT_COUNT } from "../cluster/placement.ts";
import type { Query, Sql } from "../connection/database.ts";
import { answerOf, onlyRow, type Ticketed } from "../connection/tickets.ts";

/** Tables up to this size are counted; for larger ones the planner's estimate is used. */
const COUNTED_BYTES_MAX = 16 * 2 ** 20;

/** A real write: only that shows that the database can be written to. */
export function writeProbe(slot: number, nowMs: number): Query<void> {
  assertInteger(slot, 0, SLOT_COUNT - 1, "slot");
  return async (sql) => {
    await sql`
      INSERT INTO sideband.probes (slot, written_at_ms) VALUES (${slot}, ${nowMs})
      ON CONFLICT (slot) DO UPDATE SET written_at_ms = excluded.written_at_ms`;
  };
}

export function readServer(): Query<string> {
  return async (sql) => {
    const rows = await sql<{ version: string }[]>`SELECT current_setting('server_version') AS version`;
    return `PostgreSQL ${onlyRow(rows).version}`;
  };
}

interface TableSize {
  readonly name: string;
  readonly heapBytes: number;
  readonly sizeBytes: number;
  readonly estimate: number;
}

/** A shard has the name of its table and a number. */
const SIZES = `
  SELECT regexp_replace(c.relname, '_[0-9]+$', '') AS name, sum(pg_relation_size(c.oid))::bigint AS "heapBytes",
    sum(pg_total_relation_size(c.oid))::bigint AS "sizeBytes", sum(greatest(c.reltuples, 0))::bigint AS estimate
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'sideband' AND c.relkind = 'r' GROUP BY 1`;

/** On a cluster, only the machines that answer are counted. */
export function readStatistics(): Query<StoreStatistics> {
  return async (sql) => {
    const { distributed } = await readCluster()(sql);
    const tables = distributed ? await readSizesOfAll(sql) : await sql.unsafe<TableSize[]>(SIZES);
    const totalOf = (column: "heapBytes" | "sizeBytes" | "estimate", name?: string) =>
      tables.reduce((sum, row) => (name === undefined || row.name === name ? sum + row[column] : sum), 0);
    const count = async (name: "facts" | "users") => {
      const estimate = totalOf("estimate", name);
      if (totalOf("heapBytes", name) > COUNTED_BYTES_MAX) return estimate;
      const counting = sql<{ count: number }[]>`SELECT count(*) AS count FROM ${sql(`sideband.${name}`)}`;
      // The count of a cluster fails if one of its machines does not answer; then the estimate is used.
      const rows = distributed ? await counting.catch(() => []) : await counting;
      return rows[0]?.count ?? estimate;
    };
    return { facts: await count("facts"), users: await count("users"), sizeBytes: totalOf("sizeBytes") };
  };
}

async function readSizesOfAll(sql: Sql): Promise<TableSize[]> {
  const machines = await sql<{ result: string }[]>`
    SELECT result FROM run_command_on_all_nodes(${`SELECT coalesce(json_agg(t), '[]') FROM (${SIZES}) t`}) WHERE success`;
  return machines.flatMap(({ result }) => JSON.parse(result) as TableSize[]);
}

/** A record that is just being renewed is locked: the DELETE waits and then sees its new expiry. */
export function sweepReplays(nowMs: number): Query<void> {
  return async (sql) => {
    await sql`DELETE FROM sideband.replays WHERE expires_at_ms <= ${nowMs}`;
    await sql`DELETE FROM sideband.answers WHERE expires_at_ms <= ${nowMs}`;
  };
}

const ENDED_PAGE = 500;

/** The facts that expired first, a page of them; empty if no fact has expired. */
export function readEnded(nowMs: number): Query<EndedFact[]> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<(Ticketed & (EndedFact | { readonly account: null }))[]>`
        SELECT t.ticket, f.account, f.user_id AS "userId", f.place, f.label, f.revision, f.expires_at_ms AS "endedAtMs"
        FROM (SELECT ${ticket}::bigint AS ticket) AS t LEFT JOIN (
          SELECT account, user_id, place, label, revision, expires_at_ms FROM sideband.facts
          WHERE expires_at_ms <= ${nowMs}
          ORDER BY expires_at_ms LIMIT ${ENDED_PAGE}) AS f ON true`,
    );
    return rows.flatMap((row) => {
      if (row.account === null) return [];
      const { ticket: _, ...fact } = row;
      return [fact];
    });
  };
}

/** When the first fact expires, or has; undefined where none does. */
export function readNextEnd(): Query<number | undefined> {
  return async (sql) => {
    const [row] = await answerOf(
      (ticket) => sql<(Ticketed & { next: number | null })[]>`
        SELECT ${ticket}::bigint AS ticket, (SELECT min(expires_at_ms) FROM sideband.facts) AS next`,
    );
    return row.next ?? undefined;
  };
}

/** Nothing of a person is in them, and nothing of them is removed but names of accounts and settings. */
const NEVER_FORGETTING: readonly string[] = [
  "month_counters",
  "day_counters",
  "event_logs",
  "probes",
  "accounts",
  "settings",
  "migrations",
];

/** Tables from which something may have been forgotten: all that are not named above. */
export const FORGETTING_TABLES = [...DISTRIBUTED_TABLES, ...COORDINATOR_TABLES].filter(
  (name) => !NEVER_FORGETTING.includes(name),
);

/** One table after the other: requests wait for one table, not for all. */
export function rewriteTables(monotonic: MonotonicClock): Query<CompactReport> {
  return async (sql) => {
    const startedMs = monotonic.now();
    const before = await readStatistics()(sql);
    const { distributed } = await readCluster()(sql);
    for (const name of FORGETTING_TABLES) {
      const isDone = !distributed && (await isEmpty(sql, name)) && (await renewEmpty(sql, name));
      if (!isDone) await sql`VACUUM (FULL, ANALYZE) ${sql(`sideband.${name}`)}`;
    }
    await rewriteSamples(sql);
    const after = await readStatistics()(sql);
    return {
      beforeBytes: before.sizeBytes,
      afterBytes: after.sizeBytes,
      entries: after.facts + after.users,
      durationMs: Math.round(monotonic.now() - startedMs),
    };
  };
}

/**
 * An empty table gets new files and counts as never measured. A plan that was made for a table that was measured as empty, as by
 * VACUUM FULL, is kept while it grows, and takes seconds for a group of writes. A cluster keeps no plans, and a lock there may not
 * reach all of its machines: what one of them writes meanwhile would be lost. False where somebody has written meanwhile.
 */
async function renewEmpty(sql: Sql, name: string): Promise<boolean> {
  const table = sql(`sideband.${name}`);
  // Takes the pages of removed rows off its end, which others do not wait for: then it is soon seen under the lock that it is empty.
  await sql`VACUUM ${table}`;
  return sql.begin(async (transaction) => {
    const tx = transaction as unknown as Sql;
    await tx`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`;
    if (!(await isEmpty(tx, name))) return false;
    await replaceSamples(tx, name);
    await tx`TRUNCATE ${table}`;
    return true;
  }) as Promise<boolean>;
}

async function isEmpty(sql: Sql, name: string): Promise<boolean> {
  const rows = await sql`SELECT FROM ${sql(`sideband.${name}`)} LIMIT 1`;
  return rows.length === 0;
}

/** The planner keeps samples of a table's values until it finds others: those of a row that says nothing. */
async function replaceSamples(tx: Sql, name: string): Promise<void> {
  const samples = await tx`
    SELECT FROM pg_stats WHERE schemaname = 'sideband' AND tablename = ${name} LIMIT 1`;
  if (samples.length === 0) return;
  const table = tx(`sideband.${name}`);
  await tx`
    INSERT INTO ${table} SELECT r.* FROM jsonb_populate_record(NULL::${table}, (
      SELECT jsonb_object_agg(attname, '0') FROM pg_attribute
      WHERE attrelid = ${`sideband.${name}`}::regclass AND attnum > 0 AND attnotnull)) AS r`;
  await tx`ANALYZE ${table}`;
}

/** The samples before are dead rows of the catalog; only the owner of the database may rewrite it. */
async function rewriteSamples(sql: Sql): Promise<void> {
  const owned = await sql`
    SELECT FROM pg_database WHERE datname = current_database() AND pg_has_role(datdba, 'USAGE')`;
  if (owned.length > 0) await sql`VACUUM (FULL) pg_catalog.pg_statistic`;
}
