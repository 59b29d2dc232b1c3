/**
 * More than one PostgreSQL: Citus spreads the users over the workers of a cluster (docs/decisions/0013).
 *
 * Users, facts, history and free labels are distributed by `slot`, colocated, so the rows of a user are on one worker. All else is small and
 * stays on the coordinator: on a worker it would be missing to the users of all others when that one stops. Nodes may
 * connect to any machine of the cluster. The statements are those of a single PostgreSQL; only their rows
 * come in another form (queries/statements.ts).
 */

import { OperatorError } from "../../../base/errors.ts";
import type { Query, Sql } from "../connection/database.ts";
import { answerOf, onlyRow, type Ticketed } from "../connection/tickets.ts";
import { SLOT_COUNT } from "./placement.ts";

class DistributionError extends OperatorError {
  override name = "DistributionError";
}

/** Colocated with the first one. */
export const DISTRIBUTED_TABLES = ["users", "facts", "history", "free_labels"] as const;
export const COORDINATOR_TABLES = [
  "month_counters",
  "day_counters",
  "replays",
  "answers",
  "event_logs",
  "events",
  "probes",
  "accounts",
  "api_keys",
  "key_requests",
  "operators",
  "audit",
  "audit_names",
  "labels",
  "projects",
  "settings",
  "migrations",
] as const;

/**
 * Shards for each worker, unless told otherwise. A commit has work for each shard that it touches, so that few are
 * faster than many; a worker that is added later can take over whole shards only.
 */
export const SHARDS_PER_WORKER = 4;

/** The statements for a cluster, in order. Tables that are known to the cluster are left as they are. */
export function distributionStatements(shardCount: number, known: readonly string[] = []): string[] {
  const [first] = DISTRIBUTED_TABLES;
  const isNew = (table: string) => !known.includes(`sideband.${table}`);
  const distributed = DISTRIBUTED_TABLES.filter(isNew).map((table) => {
    const how =
      table === first
        ? `shard_count => ${shardCount}, colocate_with => 'none'`
        : `colocate_with => 'sideband.${first}'`;
    return `SELECT create_distributed_table('sideband.${table}', 'slot', ${how})`;
  });
  const local = COORDINATOR_TABLES.filter(isNew).map(
    (table) => `SELECT citus_add_local_table_to_metadata('sideband.${table}')`,
  );
  return ["SET LOCAL citus.multi_shard_modify_mode TO 'sequential'", ...distributed, ...local];
}

/** The rows that were there before stay in the coordinator's own tables, unseen, until they are removed. */
function removalStatements(): string[] {
  return DISTRIBUTED_TABLES.map(
    (table) => `SELECT truncate_local_data_after_distributing_table('sideband.${table}')`,
  );
}

interface Cluster {
  /** The version of the Citus extension. */
  readonly extension: string | undefined;
  /** Whether our tables are distributed. */
  readonly distributed: boolean;
  /** Whether this machine is one of the workers. */
  readonly isWorker: boolean;
}

export function readCluster(): Query<Cluster> {
  return async (sql) => {
    const [citus] = await answerOf(
      (ticket) => sql<(Ticketed & { version: string | null })[]>`
        SELECT ${ticket}::bigint AS ticket, (SELECT extversion FROM pg_extension WHERE extname = 'citus') AS version`,
    );
    if (citus.version === null) return { extension: undefined, distributed: false, isWorker: false };
    const [{ distributed, isWorker }] = await answerOf(
      (ticket) => sql<(Ticketed & Pick<Cluster, "distributed" | "isWorker">)[]>`
        SELECT ${ticket}::bigint AS ticket,
          EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('sideband.users')) AS distributed,
          EXISTS (SELECT FROM pg_dist_local_group WHERE groupid <> 0) AS "isWorker"`,
    );
    return { extension: citus.version, distributed, isWorker };
  };
}

/** Distributes the tables; resolves to the statements it ran. */
export async function distribute(sql: Sql, shardCount?: number): Promise<string[]> {
  const workers = await checkCluster(sql);
  const statements = distributionStatements(shardCount ?? workers * SHARDS_PER_WORKER);
  await sql.begin((transaction) => runAll(transaction as unknown as Sql, statements));
  const removals = removalStatements();
  for (const statement of removals) await sql.unsafe(statement);
  return [...statements, ...removals];
}

/** In the transaction of a migration: what it has added is made known to the cluster that is there. */
export async function distributeAdded(transaction: Sql): Promise<void> {
  const known = await transaction<{ name: string }[]>`
    SELECT format('%I.%I', n.nspname, c.relname) AS name
    FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid JOIN pg_namespace n ON n.oid = c.relnamespace`;
  const names = known.map(({ name }) => name);
  await runAll(transaction, distributionStatements(0, names));
}

async function runAll(transaction: Sql, statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    await transaction.unsafe(statement).catch((error: Error & { hint?: string }) => {
      const hint = error.hint === undefined ? "" : ` (${error.hint})`;
      throw new DistributionError(`nothing was changed: Citus refuses ${statement}: ${error.message}${hint}`);
    });
  }
}

/** Resolves to the number of workers. */
async function checkCluster(sql: Sql): Promise<number> {
  const { extension, distributed, isWorker } = await readCluster()(sql);
  if (extension === undefined) {
    throw new DistributionError(
      "this database has no Citus: create the extension on every machine of the cluster (CREATE EXTENSION citus) " +
        "and add them to the coordinator (citus_add_node) first; a single PostgreSQL needs no distributing",
    );
  }
  if (isWorker) throw new DistributionError("this is a worker: run it on the coordinator of the cluster");
  if (distributed) throw new DistributionError("the tables are distributed already");
  const { coordinators, workers } = onlyRow(
    await sql<{ coordinators: number; workers: number }[]>`
      SELECT count(*) FILTER (WHERE groupid = 0) AS coordinators,
        count(*) FILTER (WHERE groupid <> 0 AND isactive) AS workers FROM pg_dist_node`,
  );
  if (coordinators === 0) {
    throw new DistributionError(
      "the workers do not know the coordinator: run SELECT citus_set_coordinator_host('NAME', PORT) on it first",
    );
  }
  if (workers === 0) {
    throw new DistributionError(
      "the cluster has no workers: run SELECT citus_add_node('NAME', PORT) for each first",
    );
  }
  return workers;
}

/** The worker of each slot, as a number; undefined if the tables are not distributed. */
export function readWorkers(): Query<number[] | undefined> {
  return async (sql) => {
    if (!(await readCluster()(sql)).distributed) return undefined;
    const rows = await answerOf(
      (ticket) => sql<(Ticketed & { worker: number })[]>`
        SELECT ${ticket}::bigint AS ticket, p.groupid AS worker
        FROM generate_series(0, ${SLOT_COUNT - 1}::integer) AS slot JOIN pg_dist_placement p
          ON p.shardid = get_shard_id_for_distribution_column('sideband.users', slot) ORDER BY slot`,
    );
    return rows.map(({ worker }) => worker);
  };
}
