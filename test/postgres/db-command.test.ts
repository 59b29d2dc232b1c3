/** sideband db: what the operator sees of the database, and the exit statuses. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Metrics } from "../../src/base/metrics.ts";
import { main } from "../../src/cli/main.ts";
import { LmdbStore } from "../../src/store/lmdb/lmdb-store.ts";
import { loadMigrations } from "../../src/store/postgres/migrations.ts";
import { builtSideband } from "../agents/built.ts";
import { keyRequest } from "../conformance/key-requests.ts";
import { write } from "../conformance/store-under-test.ts";
import { newEmptyDatabase, openStore } from "./server.ts";

/** Runs the command in this process, with its own environment and what it prints caught. */
async function sideband(
  args: string[],
  databaseUrl?: string,
  dataFolder?: string,
  masterKey?: string,
): Promise<{ status: number; out: string; error: string }> {
  const [out, error] = [console.log, console.error].map((print) => ({ print, lines: [] as string[] }));
  console.log = (line) => void out.lines.push(line);
  console.error = (line) => void error.lines.push(line);
  const before = { ...process.env };
  if (databaseUrl !== undefined) process.env.SIDEBAND_DATABASE_URL = databaseUrl;
  if (dataFolder !== undefined) process.env.SIDEBAND_DATA = dataFolder;
  if (masterKey !== undefined) process.env.SIDEBAND_MASTER_KEY = masterKey;
  try {
    const status = await main(args);
    return { status, out: out.lines.join("\n"), error: error.lines.join("\n") };
  } finally {
    console.log = out.print;
    console.error = error.print;
    for (const name of ["SIDEBAND_DATABASE_URL", "SIDEBAND_DATA", "SIDEBAND_MASTER_KEY"]) {
      delete process.env[name];
      if (before[name] !== undefined) process.env[name] = before[name];
    }
  }
}

test("db: migrate, status and a refused distribute on a plain PostgreSQL", async () => {
  const url = await newEmptyDatabase();
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
    /^PostgreSQL \d+.*\nserver {7}\S+ takes writes, timeline 1\nCitus {8}no\n(migration .* applied\n)+facts {8}2\nusers {8}1\nsize /,
  );
  const distribute = await sideband(["db", "distribute", "--shards", "32"], url);
  assert.equal(distribute.status, 1);
  assert.match(distribute.error, /^sideband db: this database has no Citus: /);
});

test("db: an import names the requests for keys that it leaves out, and copies the rest", async () => {
  const [url, folder] = [await newEmptyDatabase(), mkdtempSync(join(tmpdir(), "sideband-db-"))];
  try {
    const embedded = await LmdbStore.open({ folder, create: true, queueMax: 10, metrics: new Metrics() });
    await embedded.write(write("ada", [[0, "Ada"]]));
    await embedded.addKeyRequest(keyRequest("good"));
    await embedded.addKeyRequest({ ...keyRequest("bad"), purpose: "no\u0000tes" });
    await embedded.close();
    const { status, out, error } = await sideband(["db", "import"], url, folder, "ab".repeat(32));
    assert.equal(status, 0, error);
    assert.match(
      out,
      /^left out: the request bad for a key: purpose must not contain control characters .*\n0 keys, 1 user, 1 fact: all the same in both\nrevisions are numbered anew: .*$/,
    );
    const database = await openStore(url);
    assert.deepEqual(await database.listKeyRequests(), [keyRequest("good")]);
    await database.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
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

test("db: an export without the master key is refused before anything is made", async () => {
  const [url, parent] = [await newEmptyDatabase(), mkdtempSync(join(tmpdir(), "sideband-db-"))];
  const folder = join(parent, "data");
  try {
    const { status, error } = await sideband(["db", "export"], url, folder);
    assert.equal(status, 1);
    assert.match(error, /^sideband db: there is no master key, .*: set SIDEBAND_MASTER_KEY/);
    assert.ok(!existsSync(folder));
    // Neither does a command of a whole service leave one behind.
    assert.match((await sideband(["keys", "list"], url, folder)).error, /there is no master key/);
    const listed = await sideband(["keys", "list", "--json"], url, folder, "ab".repeat(32));
    assert.deepEqual([listed.status, listed.out, existsSync(folder)], [0, '{"keys":[]}', false]);
  } finally {
    rmSync(parent, { recursive: true });
  }
});

test("serve: beside a database no key is made or printed, and the text names no data folder", async () => {
  const url = await newEmptyDatabase();
  const child = spawn(process.execPath, [builtSideband(), "serve"], {
    env: {
      PATH: process.env.PATH,
      SIDEBAND_PORT: "0",
      SIDEBAND_DATABASE_URL: url,
      SIDEBAND_MASTER_KEY: "ab".repeat(32),
      SIDEBAND_ADMIN_TOKEN: "a-token-for-the-tests",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const ended = once(child, "exit");
  while (!output.includes("keys create") && child.exitCode === null) await setTimeout(20);
  child.kill("SIGTERM");
  await ended;
  assert.match(output, /admin token SIDEBAND_ADMIN_TOKEN; a new key: .* keys create --account default\n/);
  assert.ok(!/sb_live_|first start|\.\/data/.test(output), output);
  const store = await openStore(url);
  assert.deepEqual(await store.listKeys(), []);
  await store.close();
});
