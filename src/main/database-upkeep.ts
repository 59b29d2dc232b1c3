/**
 * What the operator does to the database itself: bring it to this program's form, look at it, distribute it, and copy a data
 * folder's store into it or the other way round.
 */

import { Metrics } from "../base/metrics.ts";
import type { Config } from "../config.ts";
import { type MoveReport, moveStore } from "../memory/move.ts";
import type { StoreStatistics } from "../memory/ports.ts";
import { LmdbStore } from "../store/lmdb/lmdb-store.ts";
import { distribute, readCluster, SHARDS_PER_WORKER } from "../store/postgres/cluster/distribution.ts";
import { DATABASE_DEFAULTS, Database, type Query } from "../store/postgres/connection/database.ts";
import { parseAddress } from "../store/postgres/connection/database-address.ts";
import { askHosts, type HostState, nameOfHost, primaryAmong } from "../store/postgres/connection/primary.ts";
import { checkApplied, loadMigrations, migrate, readApplied } from "../store/postgres/migrations.ts";
import { PostgresStore } from "../store/postgres/postgres-store.ts";
import { readServer, readStatistics } from "../store/postgres/queries/upkeep.ts";
import { databaseError } from "./operator-errors.ts";
import { masterKeys } from "./secrets.ts";
import { agreeOnMasterKeys, databaseOf } from "./stores.ts";

export { SHARDS_PER_WORKER };

export interface DatabaseStatus {
  readonly server: string;
  /** Each host of the address: where it takes writes, the number of its timeline. */
  readonly hosts: readonly {
    readonly host: string;
    readonly state: string;
    readonly timeline: number | null;
  }[];
  readonly migrations: readonly { readonly name: string; readonly applied: boolean }[];
  /** Why this program cannot work on this database; null where it can, or could after migrating. */
  readonly refusal: string | null;
  readonly citus: string | null;
  readonly distributed: boolean;
  /** Null before the first migration. */
  readonly statistics: StoreStatistics | null;
}

/** Resolves to the names of the migrations that were missing. */
export function migrateDatabase(config: Config): Promise<string[]> {
  return onDatabase(config, async (sql) => (await migrate(sql)).map(({ name }) => name));
}

/** A standby may be used. */
export async function readDatabaseStatus(config: Config): Promise<DatabaseStatus> {
  const read: Query<DatabaseStatus> = async (sql) => {
    const known = loadMigrations();
    const applied = await readApplied(sql);
    const { extension, distributed } =
      applied.length === 0 ? { extension: undefined, distributed: false } : await readCluster()(sql);
    const names = [...known.map(({ name }) => name), ...applied.slice(known.length).map(({ name }) => name)];
    return {
      server: await readServer()(sql),
      hosts: [],
      migrations: names.map((name, i) => ({ name, applied: i < applied.length })),
      refusal: refusalOf(() => checkApplied(applied, known)),
      citus: extension ?? null,
      distributed,
      statistics: applied.length === 0 ? null : await readStatistics()(sql),
    };
  };
  const [status, states] = await Promise.all([onDatabase(config, read, true), readHosts(config)]);
  const hosts = states.map(({ host, timeline, fault }) => ({
    host: nameOfHost(host),
    state: fault?.message ?? (timeline === undefined ? "takes no writes" : "takes writes"),
    timeline: timeline ?? null,
  }));
  // Of several hosts one must take writes; a standby alone may be looked at.
  const refusal = states.length > 1 ? refusalOf(() => primaryAmong(states)) : null;
  return { ...status, hosts, refusal: status.refusal ?? refusal };
}

async function readHosts(config: Config): Promise<HostState[]> {
  const { url, ca } = databaseOf(config);
  const options = { ...DATABASE_DEFAULTS, address: parseAddress(url), ca, standby: true, named: false };
  return askHosts(options).catch((error: unknown) => {
    throw databaseError(error);
  });
}

/** Resolves to the statements that were run. */
export function distributeDatabase(config: Config, shardCount?: number): Promise<string[]> {
  return onDatabase(config, async (sql) => {
    await migrate(sql);
    return distribute(sql, shardCount);
  });
}

async function onDatabase<T>(config: Config, query: Query<T>, readOnly = false): Promise<T> {
  let database: Database | undefined;
  try {
    database = new Database({ ...DATABASE_DEFAULTS, ...databaseOf(config), readOnly });
    return await database.withoutTimeLimit(query);
  } catch (error) {
    throw databaseError(error);
  } finally {
    await database?.close();
  }
}

function refusalOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export type { MoveReport } from "../memory/move.ts";

export async function moveData(
  config: Config,
  direction: "into the database" | "out of the database",
  step: (phase: "copied" | "compared") => void,
): Promise<MoveReport> {
  const { dataFolder: folder, queueMax } = config;
  const address = databaseOf(config);
  const metrics = new Metrics();
  const inward = direction === "into the database";
  // Looked for before anything is made. Blocks that agents hold stay readable only under the same master keys.
  const masters = masterKeys(config);
  // A standby is enough where the database is only read.
  const options = { ...address, queueMax, metrics, readOnly: !inward };
  const database = await PostgresStore.open(options).catch((error: unknown) => {
    throw databaseError(error);
  });
  try {
    await agreeOnMasterKeys(masters, (name, value) => database.agreeOn(name, value));
    const embedded = await LmdbStore.open({ folder, create: !inward, queueMax, metrics });
    try {
      const [from, to] = inward ? [embedded, database] : [database, embedded];
      return await moveStore(from, to, { nowMs: database.clock.now(), step });
    } finally {
      await embedded.close();
    }
  } finally {
    await database.close();
  }
}
