/**
 * Rotating the master key, and with it the secret of tokens, and the admin token, on two nodes under traffic, in the steps of
 * docs/OPERATIONS.md: no call is refused, nothing that was made under an old secret stops counting before its time, and
 * what an old secret makes counts no more in the end.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { makeKey, Nodes, type TestNode } from "./nodes.ts";
import { newDatabase } from "./server.ts";

const [OLD, NEW] = ["1a".repeat(32), "2b".repeat(32)];
const [OLD_ADMIN, NEW_ADMIN] = ["the-old-admin-token", "the-new-admin-token"];
const ADA = { user_id: "ada" };
/** Before each call of the traffic: without a pause it takes all of the processor while nodes start. */
const CALL_PAUSE_MS = 20;

/** Each is given to one node after the other before the next one begins. */
const STEPS = [
  { SIDEBAND_MASTER_KEY: `2:${NEW},1:${OLD}`, SIDEBAND_ADMIN_TOKEN: `${OLD_ADMIN},${NEW_ADMIN}` },
  { SIDEBAND_MASTER_KEY: `1:${OLD},2:${NEW}`, SIDEBAND_ADMIN_TOKEN: NEW_ADMIN },
];
const LAST = { SIDEBAND_MASTER_KEY: `1:${OLD}:blocks,2:${NEW}`, SIDEBAND_ADMIN_TOKEN: NEW_ADMIN };

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly token: string;
  readonly body?: unknown;
  readonly once?: string;
}

/** As a proxy does it: a node that cannot be reached is passed over. Every answer must be good. */
async function send(nodes: readonly TestNode[], { method, path, token, body, once }: Sent, startAt = 0) {
  for (let i = startAt; ; i++) {
    let response: Response;
    try {
      response = await fetch(nodes[i % nodes.length].url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(once === undefined ? {} : { "idempotency-key": once }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      if (i > startAt + 100) throw error;
      await setTimeout(10);
      continue;
    }
    const text = await response.text();
    assert.ok(response.status < 400, `${method} ${path}: ${response.status} ${text}`);
    return { json: JSON.parse(text), replayed: response.headers.get("idempotency-replayed") === "true" };
  }
}

test("every secret is rotated under traffic on two nodes, and no call is refused", async (t) => {
  const url = await newDatabase();
  const cluster = new Nodes(url);
  t.after(() => cluster.end());
  const { key } = await makeKey(url, "unlimited");
  const start = (settings: NodeJS.ProcessEnv) => cluster.start(undefined, settings);
  const first = { SIDEBAND_MASTER_KEY: `1:${OLD}`, SIDEBAND_ADMIN_TOKEN: OLD_ADMIN };
  const nodes = [await start(first), await start(first)];
  let admin = OLD_ADMIN;

  const encode = (value: string, once: string): Sent => ({
    method: "POST",
    path: "/encode",
    token: key,
    body: { ...ADA, label: "TASK.deadline", value },
    once,
  });
  const newToken = {
    method: "POST",
    path: "/tokens",
    token: key,
    body: { ...ADA, access: "read", ttl_s: 3600 },
  };
  for (const loop of [0, 1]) await send(nodes, encode("before", `first-${loop}`));
  const tokens = [(await send(nodes, newToken)).json.token as string];
  const { fdm_block: block } = (
    await send(nodes, { method: "GET", path: "/context?user_id=ada", token: key })
  ).json;

  let calls = 0;
  const rounds = [0, 0];
  let isOver = false;
  /** What was made under any secret so far is used at both nodes, and more is made. */
  const round = async (startAt: number) => {
    const call = async (sent: Sent) => {
      await setTimeout(CALL_PAUSE_MS);
      calls += 1;
      return send(nodes, sent, startAt);
    };
    for (const token of tokens)
      await call({ method: "GET", path: "/context?user_id=ada&include=index", token });
    await call({ method: "POST", path: "/read", token: key, body: { ...ADA, block } });
    assert.ok((await call(encode("before", `first-${startAt}`))).replayed, "it is known again");
    await call(encode(`${calls}`, `n${startAt}-${calls}`));
    await call({ method: "GET", path: "/admin/keys", token: admin });
    if (tokens.length < 20) tokens.push((await call(newToken)).json.token);
  };
  const traffic = [0, 1].map(async (startAt) => {
    for (; !isOver; rounds[startAt] += 1) await round(startAt);
  });
  const failed = Promise.race(traffic.map((one) => one.then(() => new Promise<never>(() => {}))));
  const roll = async (settings: NodeJS.ProcessEnv) => {
    for (const i of nodes.keys()) {
      const before = nodes[i];
      await before.stop();
      nodes[i] = await Promise.race([start(settings), failed]);
      const done = calls;
      while (calls < done + 30) await Promise.race([setTimeout(10), failed]);
    }
  };

  await roll(STEPS[0]);
  admin = NEW_ADMIN;
  // The rounds that began with the old one have ended.
  const begun = [...rounds];
  while (rounds.some((count, i) => count === begun[i])) await Promise.race([setTimeout(10), failed]);
  await roll(STEPS[1]);
  const [underOld] = tokens;
  const underNew = (await send(nodes, newToken)).json.token as string;
  isOver = true;
  await Promise.all(traffic);
  assert.ok(calls > 100, `${calls} calls`);

  // A day later: the old key opens blocks, and nothing else counts under it.
  for (const i of nodes.keys()) {
    await nodes[i].stop();
    nodes[i] = await start(LAST);
  }
  for (const node of nodes) {
    assert.equal((await node.call("GET", "/context?user_id=ada", underOld)).body.code, "invalid_key");
    assert.equal((await node.call("GET", "/context?user_id=ada", underNew)).status, 200);
    assert.equal((await node.call("POST", "/read", key, { ...ADA, block })).status, 200);
    assert.equal((await node.call("GET", "/admin/keys", OLD_ADMIN)).status, 401);
    assert.equal((await node.call("GET", "/admin/keys", NEW_ADMIN)).status, 200);
  }
});
