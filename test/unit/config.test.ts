/** Reading the settings: which source counts, the ends of a range, and what a message does not tell. */

import assert from "node:assert/strict";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigError, readAgentConfig, readConfig } from "../../src/config.ts";

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
