/** The example runs against a real service, and the transcript in its documentation is what it prints. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startRunning } from "../http/running-service.ts";
import { builtSideband, packageFolder } from "./built.ts";
import { makeHost } from "./host.ts";

test("the forgetful agent is compacted twice and still answers from its facts, as documented", async (t) => {
  builtSideband();
  const running = await startRunning();
  t.after(() => running.end());
  // The example waits 2 seconds for its memory, as agents do: the first block is built before it runs.
  await running.call("POST", "/encode", { body: { user_id: "warm", label: "USER.name", value: "x" } });
  await running.call("POST", "/flush", { body: { user_id: "warm" } });
  const host = makeHost(t);
  const line = `"${process.execPath}" "${join(packageFolder, "examples", "forgetful-agent.mjs")}"`;
  const env = { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: running.key };
  const { status, stdout, stderr } = await host.shell(line, { env });
  assert.deepEqual([status, stderr], [0, ""]);
  const [remembering, forgetful] = stdout.split("The same agent without memory:");
  assert.equal(remembering.split("── compaction").length, 3);
  assert.match(remembering, /\nagent {2}Ada; lmdb, because its commits do not block reads; 2026-12-01\.\n/);
  assert.match(forgetful, /\nagent {2}I do not know; I do not know; I do not know\.\n/);
  const page = readFileSync(join(packageFolder, "docs", "agents", "README.md"), "utf8");
  assert.ok(page.includes(stdout.trim()), `docs/agents/README.md has another transcript than:\n${stdout}`);
  assert.equal((await running.call("GET", "/facts?user_id=forgetful-agent-example")).json.channel_count, 0);

  const without = await host.shell(line);
  assert.equal(without.status, 2);
  assert.match(without.stderr, /Set SIDEBAND_API_KEY/);
});
