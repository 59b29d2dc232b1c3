/** Reading the settings: which source counts, the ends of a range, and what a message does not tell. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigError } from "../../src/base/errors.ts";
import { readAgentConfig, readConfig } from "../../src/config.ts";
import { masterKeys } from "../../src/main/secrets.ts";
import { temporaryFolder } from "../fixtures/ends.ts";
import { fieldsOf } from "../fixtures/fields.ts";

test("a command's option takes precedence over the environment", () => {
  process.env.SIDEBAND_PORT = "1111";
  try {
    assert.equal(readConfig().port, 1111);
    assert.equal(readConfig({ SIDEBAND_PORT: "2222" }).port, 2222);
  } finally {
    delete process.env.SIDEBAND_PORT;
  }
});

test("both ends of a range are taken, and one beyond either is refused", () => {
  const shutdownS = (value: string) => readConfig({}, { SIDEBAND_SHUTDOWN_S: value }).shutdownS;
  assert.deepEqual([shutdownS("1"), shutdownS("600")], [1, 600]);
  for (const value of ["0", "601"]) assert.throws(() => shutdownS(value), ConfigError);
});

test("a database address that is refused is not part of the message: it holds a password", () => {
  assert.throws(
    () => readConfig({}, { SIDEBAND_DATABASE_URL: "mysql://ada:hunter2@host/name" }),
    ({ message }: Error) => message.startsWith("SIDEBAND_DATABASE_URL ") && !message.includes("hunter2"),
  );
});

test("the service and agents have one default folder, in the home folder, and `~/` means the home folder", () => {
  const home = join(homedir(), ".sideband", "data");
  assert.deepEqual([readConfig({}, {}).dataFolder, readAgentConfig({}).dataFolder], [home, home]);
  const own = { SIDEBAND_DATA: "~/facts" };
  const expected = join(homedir(), "facts");
  assert.deepEqual([readConfig({}, own).dataFolder, readAgentConfig(own).dataFolder], [expected, expected]);
  assert.equal(readConfig({}, { SIDEBAND_DATA: "./~x" }).dataFolder, "./~x");
  // As a person on Windows types it.
  assert.equal(readConfig({}, { SIDEBAND_DATA: "~\\facts" }).dataFolder, `${homedir()}\\facts`);
  assert.throws(() => readConfig({}, { SIDEBAND_DATA: "" }), /SIDEBAND_DATA must not be empty/);
  assert.throws(() => readConfig({}, { SIDEBAND_HOST: "" }), /SIDEBAND_HOST takes an address or a name/);
});

test("a secret stands in its setting, or in the file that the setting with _FILE names, never in both", (t) => {
  const home = temporaryFolder(t);
  const file = (name: string, text: string) => {
    writeFileSync(join(home, name), text);
    return join(home, name);
  };
  const config = readConfig(
    {},
    {
      SIDEBAND_DATABASE_URL_FILE: file("database", "postgres://ada:hunter2@host/name\n"),
      SIDEBAND_MASTER_KEY_FILE: file("master", `1:${"a".repeat(64)}\n2:${"b".repeat(64)}\n`),
      SIDEBAND_ADMIN_TOKEN_FILE: file("admin", "a-token-of-16-letters\nanother-token-of-16\n"),
      SIDEBAND_EMBEDDINGS_KEY_FILE: file("embeddings", "key"),
    },
  );
  assert.equal(config.databaseUrl, "postgres://ada:hunter2@host/name");
  assert.deepEqual(fieldsOf(masterKeys(config), "id"), [1, 2]);
  assert.deepEqual(config.adminTokens, ["a-token-of-16-letters", "another-token-of-16"]);
  assert.equal(config.embeddingsKey, "key");
  assert.equal(readAgentConfig({ SIDEBAND_API_KEY_FILE: file("key", "sb_live_x\n") }).apiKey, "sb_live_x");
  const both = { SIDEBAND_ADMIN_TOKEN: "a-token-of-16-letters", SIDEBAND_ADMIN_TOKEN_FILE: "/x" };
  assert.throws(
    () => readConfig({}, both),
    /SIDEBAND_ADMIN_TOKEN_FILE is set, and so is SIDEBAND_ADMIN_TOKEN/,
  );
  assert.throws(
    () => readConfig({}, { SIDEBAND_MASTER_KEY_FILE: "/nowhere" }),
    /SIDEBAND_MASTER_KEY_FILE names a file/,
  );
  assert.throws(() => readConfig({}, { SIDEBAND_PORT_FILE: "/x" }), /unknown setting SIDEBAND_PORT_FILE/);
  // A command that takes the embedded store is not led to the database by a file.
  process.env.SIDEBAND_DATABASE_URL_FILE = join(home, "database");
  try {
    assert.equal(readConfig({ SIDEBAND_DATABASE_URL: "" }).databaseUrl, undefined);
  } finally {
    delete process.env.SIDEBAND_DATABASE_URL_FILE;
  }
});
