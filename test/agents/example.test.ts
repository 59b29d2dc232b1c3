/** The examples run without preparation, one also against a service, and print what the documentation says. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { endAfter } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";
import { builtSideband, packageFolder } from "./built.ts";
import { makeHost } from "./host.ts";

const EXAMPLE = `"${process.execPath}" "${join(packageFolder, "examples", "forgetful-agent.mjs")}"`;

test("the example starts its own service, shows an agent with and without memory, and leaves nothing behind", async (t) => {
  builtSideband();
  const host = makeHost(t);
  const { status, stdout, stderr } = await host.program(EXAMPLE, { env: { TMPDIR: host.home } });
  assert.deepEqual([status, stderr], [0, ""]);
  assert.equal(stdout.split("── compaction").length, 5);
  assert.match(
    stdout,
    /\nagent {2}"Ada; lmdb, because reads never wait; 2026-12-01\." +│ "I do not know; I do not know; I do not know\."\n$/,
  );
  const readme = readFileSync(join(packageFolder, "README.md"), "utf8");
  assert.ok(readme.includes(stdout.trim()), `README.md has another transcript than:\n${stdout}`);
  assert.deepEqual(
    readdirSync(host.home).filter((name) => name.startsWith("sideband-")),
    [],
  );
});

test("with a key the example uses that service, and forgets its facts at the end", async (t) => {
  builtSideband();
  const running = endAfter(t, await startRunning());
  const env = { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: running.key };
  const { status, stdout, stderr } = await makeHost(t).program(EXAMPLE, { env });
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /\nagent {2}"Ada; /);
  const { json } = await running.call("GET", "/usage");
  assert.ok(json.used > 0, "the facts were written to this service");
  assert.equal((await running.call("GET", "/facts?user_id=forgetful-agent-example")).json.channel_count, 0);
});

/** What each example with a block of its own prints. */
const BLOCK_EXAMPLES: Readonly<Record<string, RegExp>> = {
  "stateless-support-bot.mjs":
    /^after 50 turns and 3 compactions, with [1-9]\d* words mended on the way:\n {2}USER\.name=Ada Okafor\n {2}USER\.language=Dutch\n {2}ORDER\.calls=50\n {2}ORDER\.number=4711-94\n {2}ORDER\.problem=with a broken lid\n$/,
  "hand-over.mjs":
    /^[1-9]\d* words were missing or wrong; the second agent knows:\n {2}USER\.name=Ada Okafor\n[\s\S]* {2}CASE\.promised=EUR 1,250\.00 within ten days\n$/,
  "unseen-order-number.mjs":
    /^the order's number is in the prompt: false, in the call: false\nrefunded order 4711-93-X\nrefused: all words are in place, [^\n]+\n$/,
};

for (const [name, expected] of Object.entries(BLOCK_EXAMPLES)) {
  test(`${name} carries its facts in text alone`, async (t) => {
    builtSideband();
    const script = join(packageFolder, "examples", name);
    const { status, stdout, stderr } = await makeHost(t).shell(`"${process.execPath}" "${script}"`, {});
    assert.deepEqual([status, stderr], [0, ""]);
    assert.match(stdout, expected);
  });
}
