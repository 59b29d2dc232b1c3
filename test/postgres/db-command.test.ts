/** sideband db: what the operator sees of the database, and the exit statuses. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadMigrations } from "../../src/store/postgres/migrations.ts";
import { write } from "../conformance/store.ts";
import { newDatabase, openStore } from "./server.ts";

const PROGRAM = `
import { main } from ${JSON.stringify(new URL("../../src/cli/main.ts", import.meta.url).href)};
process.exitCode = await main(process.argv.slice(1));`;

function sideband(
  args: string[],
  databaseUrl?: string,
): Promise<{ status: number; out: string; error: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ["--import", "tsx", "--input-type=module", "-e", PROGRAM, "--", ...args],
      {
        cwd: fileURLToPath(new URL("../..", import.meta.url)),
        env: {
          PATH: process.env.PATH,
          ...(databaseUrl === undefined ? {} : { SIDEBAND_DATABASE_URL: databaseUrl }),
        },
      },
      (_, out, error) => resolve({ status: child.exitCode ?? -1, out, error }),
    );
  });
}

test("db: migrate, status and a refused distribute on a plain PostgreSQL", async () => {
  const url = await newDatabase();
  const before = await sideband(["db", "status", "--json"], url);
  assert.equal(before.status, 0, before.error);
  assert.ok(JSON.parse(before.out).migrations.every(({ applied }: { applied: boolean }) => !applied));
  const names = loadMigrations().map(({ name }) => name);
  assert.deepEqual(JSON.parse((await sideband(["db", "migrate", "--json"], url)).out), { applied: names });
  const store = await openStore(url);
  await store.write(
    write("ada", [
      [0, "Ada"],
      [1, "Engine"],
    ]),
  );
  await store.close();
  const status = await sideband(["db", "status"], url);
  assert.match(
    status.out,
    /^PostgreSQL \d+.*\nCitus {8}no\n(migration .* applied\n)+facts {8}2\nusers {8}1\nsize /,
  );
  const distribute = await sideband(["db", "distribute", "--shards", "32"], url);
  assert.equal(distribute.status, 1);
  assert.match(distribute.error, /^sideband db: this database has no Citus: /);
});

test("db: without a database, with one that is away, and called wrongly, it says what is the matter", async () => {
  const none = await sideband(["db", "status"]);
  assert.deepEqual([none.status, /SIDEBAND_DATABASE_URL is not set/.test(none.error)], [1, true]);
  const away = await sideband(["db", "status"], "postgres://someone:secret-word@127.0.0.1:9/nothing");
  assert.deepEqual([away.status, /cannot be used: .*ECONNREFUSED/.test(away.error)], [1, true]);
  assert.ok(!`${away.out}${away.error}`.includes("secret-word"), "the password stays unsaid");
  assert.equal((await sideband(["db"], "postgres://127.0.0.1:9/nothing")).status, 2);
  assert.equal((await sideband(["db", "drop"], "postgres://127.0.0.1:9/nothing")).status, 2);
  assert.equal(
    (await sideband(["db", "distribute", "--shards", "0"], "postgres://127.0.0.1:9/nothing")).status,
    2,
  );
});
