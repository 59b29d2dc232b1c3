/**
 * The samples of docs/CLUSTER.md. The start runs here as it stands there. tls.test.ts runs that of TLS, and
 * poolers.test.ts those of PgBouncer. The steps for Citus need its extension, which npm test has not: here a
 * PostgreSQL without it runs the plain statements and refuses the others for that reason alone, and npm run test:citus runs
 * all of them on a cluster.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SETTINGS } from "../../src/settings.ts";
import { packageFolder } from "../agents/built.ts";
import { GUIDE_SAMPLES, guideSample, guideShell, renamed } from "./cluster-guide.ts";
import { sharedServer } from "./server.ts";

test("docs/CLUSTER.md has the samples that tests run, and no other", () => {
  assert.deepEqual(
    GUIDE_SAMPLES.map(({ language, text }) => [language, text.split(/\s/, 2).join(" ")]),
    [
      ["sh", "createdb --encoding"],
      ["ini", "ignore_startup_parameters ="],
      ["sql", "ALTER ROLE"],
      [
        "sh",
        "export SIDEBAND_DATABASE_URL='postgres://sideband:PASSWORD@db.internal:5432/sideband?sslmode=verify-full'",
      ],
      ["sh", "# on"],
    ],
  );
});

test("docs/CLUSTER.md names settings that exist", () => {
  const guide = readFileSync(join(packageFolder, "docs", "CLUSTER.md"), "utf8");
  const named = new Set(guide.match(/SIDEBAND_[A-Z_]+/g));
  assert.ok(named.size > 5);
  for (const name of named) assert.ok(name in SETTINGS, name);
});

test("the start of docs/CLUSTER.md makes a database, a node that is ready, and a key", async (t) => {
  const server = await sharedServer();
  const sample = renamed(guideSample("sh", "openssl"), "guide_start");
  const address = "postgres://sideband:PASSWORD@db.internal:5432/sideband";
  assert.ok(sample.includes(address));
  const shell = guideShell(t);
  const { status, stdout, stderr } = await shell.run(
    sample.replace(address, server.url("guide_start")),
    server,
  );
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /"status":"ready"[\s\S]*sb_live_/);
});

test("the steps for Citus in docs/CLUSTER.md: plain statements run, the others lack only the extension", async (t) => {
  const server = await sharedServer();
  const shell = guideShell(t);
  const env = { SIDEBAND_DATABASE_URL: server.url("guide_citus") };
  const commands = renamed(guideSample("sh", "citus"), "guide_citus")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#") && line !== "sideband serve");
  const refusals: string[] = [];
  for (const command of commands) {
    const { status, stderr } = await shell.run(command, server, env);
    if (status !== 0) refusals.push(stderr.trim().replace(/: create the extension .*/s, ""));
  }
  assert.equal(commands.length - refusals.length, 2, "the role with its schema, and its time limit");
  const [extension, ...others] = refusals;
  assert.match(extension, /^psql: extension "citus" is not available$/);
  assert.deepEqual(others, [
    "psql: function citus_set_coordinator_host(unknown, integer) does not exist",
    "psql: function citus_add_node(unknown, integer) does not exist",
    "sideband db: this database has no Citus",
  ]);
});
