/** Nodes whose clocks are wrong: the database's clock counts, and such a node says so or takes no traffic. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { type ServerProcess, startServerProcess } from "../fault/server-process.ts";
import { makeKey } from "./nodes.ts";
import { newDatabase } from "./server.ts";

const DAY_MS = 86_400_000;
const OTHER_CLOCK = fileURLToPath(new URL("../fixtures/other-clock.mjs", import.meta.url));

/** Starts nodes of one database, each with a clock that is wrong by so much. They sweep each second. */
function nodesOf(context: TestContext, databaseUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), "sideband-clocks-"));
  const masterKey = randomBytes(32).toString("hex");
  const nodes: ServerProcess[] = [];
  context.after(async () => {
    for (const node of nodes) node.process.kill("SIGKILL");
    await Promise.all(nodes.map((node) => node.ended));
    rmSync(folder, { recursive: true });
  });
  return async (aheadMs: number) => {
    const node = await startServerProcess({
      NODE_OPTIONS: `--import=${OTHER_CLOCK}`,
      TEST_CLOCK_AHEAD_MS: String(aheadMs),
      SIDEBAND_DATA: folder,
      SIDEBAND_DATABASE_URL: databaseUrl,
      SIDEBAND_MASTER_KEY: masterKey,
      // Rounds of upkeep are no longer than this.
      SIDEBAND_COMPACT_AFTER_S: "1",
      SIDEBAND_LOG_LEVEL: "warn",
    });
    nodes.push(node);
    return node;
  };
}

async function get({ url }: ServerProcess, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(url + path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function logged(node: ServerProcess, line: RegExp): Promise<void> {
  while (!line.test(node.output())) await setTimeout(20);
}

const aheadSeconds = (metrics: string) => Number(/^sideband_clock_ahead_seconds (\S+)$/m.exec(metrics)?.[1]);

test("a node that is 14 days ahead ends nothing, forgets no request, takes no traffic and says why", async (context) => {
  const databaseUrl = await newDatabase();
  const start = nodesOf(context, databaseUrl);
  const sql = postgres(databaseUrl, { max: 1 });
  context.after(() => sql.end());
  const right = await start(0);
  const { key } = await makeKey(databaseUrl, "free");
  const headers = { authorization: `Bearer ${key}` };
  const encode = async (body: object, more: Record<string, string> = {}) => {
    const response = await fetch(`${right.url}/encode`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", ...more },
      body: JSON.stringify({ user_id: "ada", ...body }),
    });
    assert.equal(response.status, 200, await response.clone().text());
    return response.text();
  };
  const lasting = { label: "USER.name", value: "Ada", ttl_s: (10 * DAY_MS) / 1000 };
  const once = { "idempotency-key": "once" };
  const first = await encode(lasting, once);
  right.process.kill("SIGTERM");
  await right.ended;
  const fast = await start(14 * DAY_MS);
  // A fact that has just ended shows that the fast node has swept since its start.
  await sql`
    INSERT INTO sideband.facts (slot, account, user_id, place, label, ordinal, revision, updated_at_ms, since_ms,
      expires_at_ms, value)
    SELECT slot, account, user_id, place, 'USER.location', 1, revision, updated_at_ms, since_ms, updated_at_ms, 'short'
    FROM sideband.facts`;
  const shortFacts = () => sql`SELECT FROM sideband.facts WHERE label = 'USER.location'`;
  while ((await shortFacts()).length > 0) await setTimeout(50);
  const [{ count }] = await sql`SELECT count(*)::integer AS count FROM sideband.facts`;
  assert.equal(count, 1, "the fact of ten days is there");
  assert.equal((await sql`SELECT FROM sideband.replays`).length, 1, "so is the request");

  const refused = await get(fast, "/decode?user_id=ada&label=USER.name", headers);
  assert.equal(refused.status, 503);
  assert.match(refused.text, /This node's clock is 12096\d\d\.\d s ahead of the database's/);
  const ready = await get(fast, "/readyz");
  assert.equal(ready.status, 503);
  assert.match(ready.text, /takes no traffic/);
  assert.equal((await get(fast, "/healthz")).status, 200);
  const saidMs = Date.parse(ready.headers.get("date")!);
  assert.ok(Math.abs(saidMs - Date.now()) < 60_000, "its answers have the database's time");
  assert.ok(Math.abs(aheadSeconds((await get(fast, "/metrics")).text) - (14 * DAY_MS) / 1000) < 60);
  await logged(fast, /"level":50.*This node's clock is .* ahead of the database's/);

  const again = await start(0);
  const replay = await fetch(`${again.url}/encode`, {
    method: "POST",
    headers: { ...headers, ...once, "content-type": "application/json" },
    body: JSON.stringify({ user_id: "ada", ...lasting }),
  });
  assert.equal(await replay.text(), first);
});

test("a node that is 20 s behind answers, and says so in the log, in /readyz and in the metrics", async (context) => {
  const databaseUrl = await newDatabase();
  const start = nodesOf(context, databaseUrl);
  const slow = await start(-20_000);
  const { key } = await makeKey(databaseUrl, "free");
  const headers = { authorization: `Bearer ${key}` };
  assert.equal((await get(slow, "/usage", headers)).status, 200);
  const ready = await get(slow, "/readyz");
  assert.equal(ready.status, 200);
  assert.match(
    JSON.parse(ready.text).note,
    /^This node's clock is [12]\d\.\d s behind the database's: set it right/,
  );
  assert.ok(Math.abs(aheadSeconds((await get(slow, "/metrics")).text) + 20) < 10);
  await logged(slow, /"level":40.*This node's clock is .* behind the database's/);
});

test("a node whose clock is right says nothing of it", async (context) => {
  const right = await nodesOf(context, await newDatabase())(0);
  const { status, note } = JSON.parse((await get(right, "/readyz")).text);
  assert.deepEqual([status, note], ["ready", undefined]);
  assert.doesNotMatch(right.output(), /This node's clock/);
});
