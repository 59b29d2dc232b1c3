/** What the operator does to the database itself: bring it to this program's form, look at it, distribute it. */

import { readFileSync } from "node:fs";
import { type Config, ConfigError } from "../config.ts";
import type { StoreStatistics } from "../memory/ports.ts";
import { distribute, readCluster, SHARDS_PER_WORKER } from "../store/postgres/cluster/distribution.ts";
import { DATABASE_DEFAULTS, Database, type Query } from "../store/postgres/connection/database.ts";
import { checkApplied, loadMigrations, migrate, readApplied } from "../store/postgres/migrations.ts";
import { readServer, readStatistics } from "../store/postgres/queries/upkeep.ts";
import { toldToOperator } from "./database-errors.ts";

export { SHARDS_PER_WORKER };

export interface DatabaseStatus {
  readonly server: string;
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
export function readDatabaseStatus(config: Config): Promise<DatabaseStatus> {
  const read: Query<DatabaseStatus> = async (sql) => {
    const known = loadMigrations();
    const applied = await readApplied(sql);
    const { extension, distributed } =
      applied.length === 0 ? { extension: undefined, distributed: false } : await readCluster()(sql);
    const names = [...known.map(({ name }) => name), ...applied.slice(known.length).map(({ name }) => name)];
    return {
      server: await readServer()(sql),
      migrations: names.map((name, i) => ({ name, applied: i < applied.length })),
      refusal: refusalOf(() => checkApplied(applied, known)),
      citus: extension ?? null,
      distributed,
      statistics: applied.length === 0 ? null : await readStatistics()(sql),
    };
  };
  return onDatabase(config, read, true);
}

/** Resolves to the statements that were run. */
export function distributeDatabase(config: Config, shardCount?: number): Promise<string[]> {
  return onDatabase(config, async (sql) => {
    await migrate(sql);
    return distribute(sql, shardCount);
  });
}

/** Where the database is, and the certificates to check it with. */
export function databaseOf({ databaseUrl: url, databaseCa }: Config): { url: string; ca?: string } {
  if (url === undefined) {
    throw new ConfigError(
      "SIDEBAND_DATABASE_URL is not set: there is no database, the embedded store is used",
    );
  }
  if (databaseCa === undefined) return { url };
  let ca: string;
  try {
    ca = readFileSync(databaseCa, "utf8");
  } catch (error) {
    throw new ConfigError(`SIDEBAND_DATABASE_CA cannot be read: ${(error as Error).message}`);
  }
  if (!ca.includes("-----BEGIN CERTIFICATE-----"))
    throw new ConfigError(
      `SIDEBAND_DATABASE_CA takes a file with certificates (PEM): ${databaseCa} has none`,
    );
  return { url, ca };
}

async function onDatabase<T>(config: Config, query: Query<T>, readOnly = false): Promise<T> {
  let database: Database | undefined;
  try {
    database = new Database({ ...DATABASE_DEFAULTS, ...databaseOf(config), readOnly });
    return await database.withoutTimeLimit(query);
  } catch (error) {
    throw toldToOperator(error);
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
