/** Migrates the database whose address it is given, and stays in the transaction at its end until it is killed. */

import postgres from "postgres";
import type { Sql } from "../../src/store/postgres/connection/database.ts";
import { loadMigrations, migrate } from "../../src/store/postgres/migrations.ts";

const all = loadMigrations();
const stay = {
  version: all.length + 1,
  name: "9001-stay",
  sql: "SELECT pg_sleep(600)",
  checksum: "",
  oldest: 1,
};
await migrate(postgres(process.argv[2], { max: 1, onnotice: () => {} }) as unknown as Sql, [...all, stay]);
