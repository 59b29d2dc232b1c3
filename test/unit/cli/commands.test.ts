/** The table of commands: each is found under its own name. And errors of the memory in the words of a terminal. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS } from "../../../src/cli/main.ts";
import { memoryError } from "../../../src/cli/memory-command.ts";
import { readAgentConfig, readConfig } from "../../../src/config.ts";
import { SidebandError } from "../../../src/sdk/index.ts";

test("each command has the name it is called by, a summary and a help text that begins with its usage", async () => {
  for (const [name, load] of Object.entries(COMMANDS)) {
    const command = await load();
    assert.equal(command.name, name);
    assert.ok(command.summary.length > 0 && command.summary.length < 80, name);
    assert.match(command.help, new RegExp(`^usage: sideband ${name}( |\\n)`), name);
  }
});

test("the service lets the agent's settings pass", () => {
  assert.equal(readConfig({}, { SIDEBAND_API_KEY: "x", SIDEBAND_API_URL: "http://x" }).port, 8787);
});

test("an agent's own settings come before those of the original service's clients", () => {
  const original = {
    SPECTRAL_MEMORY_API_URL: "http://a",
    SPECTRAL_MEMORY_API_KEY: "a",
    SPECTRAL_MEMORY_USER_ID: "a",
  };
  const pick = (environment: Record<string, string>) => {
    const { apiUrl, apiKey, userId } = readAgentConfig(environment);
    return [apiUrl, apiKey, userId];
  };
  assert.deepEqual(pick(original), ["http://a", "a", "a"]);
  assert.deepEqual(
    pick({ ...original, SIDEBAND_API_URL: "http://b", SIDEBAND_API_KEY: "", SIDEBAND_USER_ID: "b" }),
    ["http://b", "a", "b"],
  );
  const { apiUrl, apiKey, dataFolder } = readAgentConfig({});
  assert.deepEqual([apiUrl, apiKey], [undefined, undefined]);
  assert.throws(
    () => readAgentConfig({ SIDEBAND_TIMEOUT_MS: "soon" }),
    /^ConfigError: SIDEBAND_TIMEOUT_MS takes a whole/,
  );
  assert.match(dataFolder, /\.sideband.data$/);
});

test("a default address that nobody answers at is explained by the key; an address that was set is not", () => {
  const error = new SidebandError("cannot reach http://127.0.0.1:8787", {
    code: "connection_failed",
    status: 0,
  });
  const key = { SIDEBAND_API_KEY: "sb_live_x" };
  const explained = memoryError(error, [], readAgentConfig(key)) as Error;
  assert.equal(explained.name, "CommandError");
  assert.match(
    explained.message,
    /^cannot reach http:\/\/127\.0\.0\.1:8787, .*SIDEBAND_API_KEY is set: set SIDEBAND_API_URL/,
  );
  const set = readAgentConfig({ ...key, SIDEBAND_API_URL: "http://127.0.0.1:8787" });
  assert.equal(memoryError(error, [], set), error);
  assert.equal(memoryError(error, [], readAgentConfig({})), error, "the owner of the data folder");
});
