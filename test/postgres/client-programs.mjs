/**
 * createdb and psql as far as docs/CLUSTER.md calls them: the package with the tests' PostgreSQL has the server alone.
 * The statements go to the real server that PGHOST, PGPORT and PGUSER name.
 */

import { parseArgs } from "node:util";
import postgres from "postgres";

const [program, ...args] = process.argv.slice(2);
const {
  values: { encoding, command = [] },
  positionals: [database],
} = parseArgs({
  args,
  allowPositionals: true,
  options: { encoding: { type: "string" }, command: { type: "string", short: "c", multiple: true } },
});
const isNew = program === "createdb";
const statements = isNew ? [`CREATE DATABASE ${database} ENCODING '${encoding}'`] : command;
const sql = postgres({ database: isNew ? "postgres" : database, max: 1, onnotice: () => {} });
try {
  for (const statement of statements) await sql.unsafe(statement);
} catch (error) {
  console.error(`${program}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await sql.end();
}
