/**
 * More than one PostgreSQL: Citus spreads the slots over the machines of a cluster. All tables are distributed by
 * `slot` and colocated, so the rows of a user stay on one machine, and the functions that change a user run there
 * (their first argument is the slot). All other statements are the same as on a single PostgreSQL.
 */

import type { Query, Sql } from "./database.ts";
import { SLOT_COUNT } from "./placement.ts";

export class DistributionError extends Error {
  override name = "DistributionError";
}

/** The others are colocated with the first one. */
export const TABLES = [
  "users",
  "facts",
  "month_counters",
  "day_counters",
  "replays",
  "probes",
  "accounts",
  "api_keys",
  "key_requests",
  "settings",
] as const;

export const FUNCTIONS = ["write_facts", "save_codes", "forget_facts"] as const;

export const SHARDS_DEFAULT = 64;

/** The statements for a cluster, in order. `signatures` are the functions' names with their argument types. */
export function distributionStatements(shardCount: number, signatures: readonly string[]): string[] {
  const [first, ...others] = TABLES.map((table) => `sideband.${table}`);
  return [
    `SELECT create_distributed_table('${first}', 'slot', shard_count => ${shardCount})`,
    ...others.map(
      (table) => `SELECT create_distributed_table('${table}', 'slot', colocate_with => '${first}')`,
    ),
    ...signatures.map(
      (signature) =>
        `SELECT create_distributed_function('${signature}', distribution_arg_name => 'p_slot', ` +
        `colocate_with => '${first}')`,
    ),
  ];
}

/** The version of the Citus extension, if it is there, and whether our tables are distributed. */
export function readCluster(): Query<{ extension: string | undefined; distributed: boolean }> {
  return async (sql) => {
    const [citus] = await sql<{ version: string }[]>`
      SELECT extversion AS version FROM pg_extension WHERE extname = 'citus'`;
    if (citus === undefined) return { extension: undefined, distributed: false };
    const rows = await sql`SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'sideband.users'::regclass`;
    return { extension: citus.version, distributed: rows.length > 0 };
  };
}

/** Distributes the tables and functions; resolves to the statements it ran. */
export async function distribute(sql: Sql, shardCount: number): Promise<string[]> {
  const { extension, distributed } = await readCluster()(sql);
  if (extension === undefined) {
    throw new DistributionError(
      "this database has no Citus: create the extension on every machine of the cluster (CREATE EXTENSION citus) " +
        "and add them to the coordinator (citus_add_node) first; a single PostgreSQL needs no distributing",
    );
  }
  if (distributed) throw new DistributionError("the tables are distributed already");
  const statements = distributionStatements(shardCount, await readSignatures(sql));
  await sql.begin(async (transaction) => {
    for (const statement of statements) await transaction.unsafe(statement);
  });
  return statements;
}

/** In the form that create_distributed_function takes: sideband.write_facts(integer,integer[],…). */
export async function readSignatures(sql: Sql): Promise<string[]> {
  const rows = await sql<{ signature: string }[]>`
    SELECT format('sideband.%I(%s)', p.proname,
      (SELECT string_agg(format_type(t, NULL), ',' ORDER BY i) FROM unnest(p.proargtypes) WITH ORDINALITY AS u (t, i))
    ) AS signature
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname = 'sideband' AND p.proname = ANY(${[...FUNCTIONS]}::text[]) ORDER BY p.proname`;
  return rows.map(({ signature }) => signature);
}

/** The shard of each slot; undefined if the tables are not distributed. */
export function readShardMap(): Query<number[] | undefined> {
  return async (sql) => {
    if (!(await readCluster()(sql)).distributed) return undefined;
    const rows = await sql<{ shard: number }[]>`
      SELECT get_shard_id_for_distribution_column('sideband.users', slot) AS shard
      FROM generate_series(0, ${SLOT_COUNT - 1}::integer) AS slot ORDER BY slot`;
    return rows.map(({ shard }) => shard);
  };
}
