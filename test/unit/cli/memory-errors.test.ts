/** What a person is told where only a key is set, and the service is at another address than the default. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryError } from "../../../src/cli/memory-command.ts";
import { readAgentConfig } from "../../../src/config.ts";
import { SidebandError } from "../../../src/sdk/index.ts";

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
