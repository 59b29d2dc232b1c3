/**
 * The database schema as numbered SQL files (migrations/). Each is applied once, in order, in one transaction under
 * a lock, so that any number of nodes may start at the same time. The database keeps a checksum of each applied
 * file, and every start compares them. It refuses a file that was changed after it was applied.
 *
 * A migration that only adds says in a line "-- works with: N" that programs which know no more than N migrations go on
 * working beside it, and may start on it: for a rolling upgrade, and one step back. Without that line a program that
 * does not know the migration is refused. (docs/CLUSTER.md, rolling upgrade)
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { OperatorError } from "../../base/errors.ts";
import { MODULES } from "../../base/package-root.ts";
import { distributeAdded, readCluster } from "./cluster/distribution.ts";
import type { Sql } from "./connection/database.ts";
import { answerOf, onlyRow, recordOf, rowsOf, type Ticketed } from "./connection/tickets.ts";

interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  /** The oldest program that works beside it, named by the number of the last migration that it knows. */
  readonly oldest: number;
}

export interface Migration extends AppliedMigration {
  readonly sql: string;
}

class MigrationError extends OperatorError {
  override name = "MigrationError";
}

/** The database is to be migrated by somebody else first. */
class MissingMigrationError extends OperatorError {
  override name = "MissingMigrationError";
}

const FOLDER = new URL("store/postgres/migrations/", MODULES);
/** Any number that nobody else uses is good enough: these are the first bytes of SHA-256("sideband"). */
const LOCK = 0x09deddaa;
const SERVER_VERSION_MIN = 150_000;

export function loadMigrations(folder: URL = FOLDER): Migration[] {
  const names = readdirSync(folder).filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name));
  return names.sort().map((file, i) => {
    const sql = readFileSync(new URL(file, folder), "utf8");
    const version = Number(file.slice(0, 4));
    if (version !== i + 1) throw new MigrationError(`${file} is out of order: number ${i + 1} is missing`);
    const checksum = createHash("sha256").update(sql.replaceAll("\r\n", "\n")).digest("hex");
    const oldest = Number(/^-- works with: (\d+)$/m.exec(sql)?.[1] ?? version);
    return { version, name: file.slice(0, -".sql".length), sql, checksum, oldest };
  });
}

/** Applies the missing migrations and resolves to them. On a worker of a cluster there must be none. */
export function migrate(sql: Sql, migrations: readonly Migration[] = loadMigrations()): Promise<Migration[]> {
  return sql.begin(async (transaction) => {
    const tx = transaction as unknown as Sql;
    // Behind a pooler the role's limit holds, which is meant for requests.
    await tx`SELECT set_config('statement_timeout', '0', true)`;
    await tx`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`;
    await checkServer(tx);
    const { distributed, isWorker } = await readCluster()(tx);
    if (isWorker) {
      await checkSchema(tx, migrations);
      return [];
    }
    if (distributed) await tx`SET LOCAL citus.multi_shard_modify_mode TO 'sequential'`;
    // Checked first: a role that owns the schema may not be allowed to create one.
    const schema = await tx`SELECT to_regnamespace('sideband') AS name`;
    if (onlyRow(schema).name === null) await tx`CREATE SCHEMA sideband`;
    await tx`
      CREATE TABLE IF NOT EXISTS sideband.migrations (
        version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, oldest integer NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now())`;
    const applied = await readApplied(tx);
    checkApplied(applied, migrations);
    const missing = migrations.slice(applied.length);
    for (const { version, name, sql: text, checksum, oldest } of missing) {
      for (const statement of statementsOf(text)) await tx.unsafe(statement);
      await tx`
        INSERT INTO sideband.migrations (version, name, checksum, oldest)
        VALUES (${version}, ${name}, ${checksum}, ${oldest})`;
    }
    if (distributed && missing.length > 0) await distributeAdded(tx);
    return missing;
  }) as Promise<Migration[]>;
}

/**
 * One by one: Citus sends the text of a statement on as it came, and workers refuse more than one. A body stands between
 * $$, a comment on lines of its own.
 */
function statementsOf(text: string): string[] {
  const lines = text.split("\n").filter((line) => !line.trimStart().startsWith("--"));
  const parts = lines.join("\n").split("$$");
  // The semicolons of bodies are out of the way meanwhile.
  const whole = parts.map((part, i) => (i % 2 === 0 ? part : part.replaceAll(";", "\0"))).join("$$");
  const statements = whole.split(";").map((statement) => statement.replaceAll("\0", ";"));
  return statements.filter((statement) => statement.trim() !== "");
}

/** The applied migrations; empty for a database that has never been migrated. */
export async function readApplied(sql: Sql): Promise<AppliedMigration[]> {
  const [table] = await answerOf(
    (ticket) => sql<(Ticketed & { name: string | null })[]>`
      SELECT ${ticket}::bigint AS ticket, to_regclass('sideband.migrations') AS name`,
  );
  if (table.name === null) return [];
  const rows = await rowsOf(
    (ticket) => sql<(Ticketed & AppliedMigration)[]>`
      SELECT ${ticket}::bigint AS ticket, version, name, checksum, oldest FROM sideband.migrations ORDER BY version`,
  );
  return rows.map(recordOf);
}

/** Throws unless this program can work on the database as it is. Nothing is changed. */
export async function checkSchema(sql: Sql, migrations: readonly Migration[]): Promise<void> {
  const applied = await readApplied(sql);
  checkApplied(applied, migrations);
  const [lacking] = migrations.slice(applied.length);
  if (lacking !== undefined) {
    throw new MissingMigrationError(
      `the database lacks migration ${lacking.name}: run sideband db migrate on the primary (of Citus: the coordinator)`,
    );
  }
}

/** Throws unless the applied migrations are the first ones of this program, or later ones that work with it. */
export function checkApplied(applied: readonly AppliedMigration[], migrations: readonly Migration[]): void {
  for (const [i, { version, name, checksum, oldest }] of applied.entries()) {
    const known = migrations[i];
    if (known === undefined) {
      if (oldest <= migrations.length) continue;
      throw new MigrationError(
        `the database has migration ${version} (${name}), this program knows ${migrations.length}: ` +
          "it was written by a newer version of sideband; run that version or a later one",
      );
    }
    if (version !== known.version || checksum !== known.checksum) {
      throw new MigrationError(
        `migration ${version} (${name}) was applied with different content than ${known.name} has now: ` +
          "this database was made by another build of sideband; nothing was changed",
      );
    }
  }
}

async function checkServer(sql: Sql): Promise<void> {
  const server = onlyRow(
    await sql<{ number: number; name: string; encoding: string }[]>`
      SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS name,
        current_setting('server_encoding') AS encoding`,
  );
  if (server.number < SERVER_VERSION_MIN) {
    throw new MigrationError(`PostgreSQL ${server.name} is too old: sideband needs 15 or newer`);
  }
  if (server.encoding !== "UTF8") {
    throw new MigrationError(`the database's encoding is ${server.encoding}: sideband needs UTF8`);
  }
}
