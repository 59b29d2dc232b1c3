/** GET /users/events and subscriptions of MCP on two nodes of one database. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fieldsOf, rowsOf } from "../fixtures/fields.ts";
import { soon, until } from "../fixtures/waiting.ts";
import { type Listener, listenTo } from "../http/event-stream.ts";
import { type Answer, type Running, startRunning } from "../http/running-service.ts";
import { newDatabase } from "./server.ts";

const nodes: Running[] = [];
let one: Running;
let other: Running;
before(async () => {
  const settings = {
    SIDEBAND_DATABASE_URL: await newDatabase(),
    SIDEBAND_DATABASE_POOL: "4",
    SIDEBAND_MASTER_KEY: "ab".repeat(32),
    SIDEBAND_DEMO: "0",
  };
  for (let i = 0; i < 2; i++) nodes.push(await startRunning(settings, undefined, { warm: false }));
  [one, other] = nodes;
});
after(async () => {
  for (const node of nodes) await node.end();
});

function ok(answer: Answer): Answer["json"] {
  assert.ok(answer.status < 300, answer.text);
  return answer.json;
}
const encode = async (node: Running, user_id: string, label: string, value: string, more: object = {}) =>
  ok(await node.call("POST", "/encode", { key: one.key, body: { user_id, label, value, ...more } }));
const listen = (node: Running, query: string, headers: Record<string, string> = {}, key = one.key) =>
  listenTo(node.url, query, key, headers);
const briefly = (events: Awaited<ReturnType<Listener["until"]>>) =>
  events.map(({ user_id, project, label, kind }) => [user_id, project, label, kind]);

test("what one node writes is heard on the other, of one user and of the whole account, and not by others", async () => {
  const bound = (await one.service.core.keys.create({ account: "acme", tier: "unlimited", user: "ada" })).key;
  const listeners = [
    await listen(other, "?user_id=ada"),
    await listen(other, ""),
    await listen(other, "", {}, bound),
    await listen(one, "?user_id=ada"),
    await listen(other, "", {}, await one.newKey("globex")),
  ];
  const [ofAda, ofAll, byBound, here, stranger] = listeners;
  await encode(one, "ada", "USER.name", "a value that nobody hears", { written_by: "codex" });
  await encode(one, "bob", "TASK.next", "x", { project: "loom/w" });
  await encode(other, "ada", "USER.os", "Debian");
  ok(await one.call("DELETE", "/facts?user_id=ada&label=USER.name"));
  // An erasure takes with it what a listener has not been told yet: all of them hear of the rest first.
  await ofAll.until(4);
  for (const listener of [ofAda, byBound, here]) await listener.until(3);
  ok(await one.call("DELETE", "/users?user_id=ada"));
  const all = [
    ["ada", null, "USER.name", "written"],
    ["bob", "loom/w", "TASK.next", "written"],
    ["ada", null, "USER.os", "written"],
    ["ada", null, "USER.name", "forgotten"],
    ["ada", null, null, "forgotten"],
  ];
  const ada = all.filter(([user]) => user === "ada");
  assert.deepEqual(briefly(await ofAll.until(5)), all);
  for (const listener of [ofAda, byBound, here]) assert.deepEqual(briefly(await listener.until(4)), ada);
  assert.deepEqual(stranger.heard(), []);
  assert.ok(!ofAll.text().includes("nobody hears"));
  assert.deepEqual(
    rowsOf(here.heard(), "id", "written_by"),
    ofAda.heard().map(({ id, written_by }) => [id, written_by]),
  );
  // Who comes back is told nothing of what was forgotten.
  const again = await listen(other, "", { "last-event-id": ofAll.heard()[0].id });
  await encode(one, "bob", "TASK.current", "x");
  assert.deepEqual(briefly(await again.until(3)), [all[1], all[4], ["bob", null, "TASK.current", "written"]]);
  for (const listener of [...listeners, again]) await listener.end();
});

test("a change is heard on the other node within a second", async () => {
  const listener = await listen(other, "?user_id=quick");
  await soon("a change", 1_000, async (round) => {
    await encode(one, "quick", "TASK.current", `step ${round}`);
    return () => listener.until(round + 1);
  });
  await listener.end();
});

test("a listener on the other node ends within a second of its key's end", async () => {
  await soon("the end of a listener", 1_000, async () => {
    const { key, record } = await one.service.core.keys.create({ account: "acme", tier: "unlimited" });
    const listener = await listen(other, "", {}, key);
    await one.service.core.keys.revoke(record.id);
    return () => listener.untilEnded();
  });
});

test("a fact that expires is told of on every node at its moment, and once", async () => {
  const listeners = [await listen(one, "?user_id=ending"), await listen(other, "?user_id=ending")];
  const labels = ["USER.name", "USER.os", "TASK.next"];
  for (const [i, label] of labels.entries())
    await encode(nodes[i % 2], "ending", label, "x", { ttl_s: 1 + (i % 2) });
  for (const listener of listeners) {
    const heard = await listener.until(6);
    const lateMs = Date.now() - Date.parse(heard[5].at);
    // A sweep comes every 30 s.
    assert.ok(lateMs < 20_000, `${lateMs} ms late`);
    for (const label of labels) {
      const [written, expired, ...more] = heard.filter((event) => event.label === label);
      assert.deepEqual([written.kind, expired.kind, more], ["written", "expired", []]);
      const ttlMs = label === "USER.os" ? 2_000 : 1_000;
      assert.equal(Date.parse(expired.at), Date.parse(written.at) + ttlMs);
    }
  }
  // What each node has ended of it is all that is told.
  await Promise.all(nodes.map((node) => node.service.core.store.sweep(Date.now())));
  await encode(one, "ending", "USER.name", "last");
  for (const listener of listeners) {
    const heard = await listener.until(7);
    assert.deepEqual([heard.length, heard[6].kind], [7, "written"]);
    await listener.end();
  }
});

test("whoever comes back to the other node goes on without a gap; what is not known is a reset", async () => {
  const first = await listen(one, "");
  // The other node reads for somebody already, and may be behind.
  const meanwhile = await listen(other, "?user_id=nobody");
  await encode(one, "back", "USER.name", "1");
  const [{ id }] = await first.until(1);
  await first.end();
  for (let i = 2; i <= 4; i++) await encode(i % 2 === 0 ? one : other, "back", "USER.name", `${i}`);
  const again = await listen(other, "?user_id=back", { "last-event-id": id });
  await encode(one, "back", "USER.os", "while it listens");
  assert.deepEqual(fieldsOf(await again.until(4), "label"), [
    "USER.name",
    "USER.name",
    "USER.name",
    "USER.os",
  ]);
  assert.ok(!again.text().includes("event: reset"));
  const stranger = await listen(one, "", {}, await one.newKey("globex"));
  ok(
    await one.call("POST", "/encode", {
      key: await one.newKey("globex"),
      body: { user_id: "back", label: "USER.name", value: "x" },
    }),
  );
  const [{ id: foreign }] = await stranger.until(1);
  await stranger.end();
  for (const unknown of [foreign, `${id}9`, "x"]) {
    const lost = await listen(other, "?user_id=back", { "last-event-id": unknown });
    await encode(one, "back", "USER.os", unknown);
    await lost.until(1);
    assert.match(lost.text(), /event: reset[\s\S]*USER\.os/);
    await lost.end();
  }
  // An hour later what happened is gone.
  await one.service.core.store.sweep(Date.now() + 3_700_000);
  const late = await listen(one, "?user_id=back", { "last-event-id": id });
  assert.match(late.text(), /event: reset/);
  for (const listener of [meanwhile, again, late]) await listener.end();
});

test("many writers of both nodes at once: a listener hears each change once, in the order of each user", async () => {
  const listener = await listen(other, "");
  const users = Array.from({ length: 8 }, (_, i) => `writer-${i}`);
  await Promise.all(
    users.map(async (user, u) => {
      for (let i = 0; i < 15; i++)
        await encode(nodes[(u + i) % 2], user, "TASK.current", `${i}`, { written_by: `${i}` });
    }),
  );
  const heard = await listener.until(users.length * 15);
  assert.equal(heard.length, users.length * 15);
  assert.equal(new Set(heard.map(({ id }) => id)).size, heard.length);
  for (const user of users) {
    assert.deepEqual(
      fieldsOf(
        heard.filter(({ user_id }) => user_id === user),
        "written_by",
      ),
      Array.from({ length: 15 }, (_, i) => `${i}`),
    );
  }
  await listener.end();
});

test("a subscription of MCP on one node hears of a change on the other", async () => {
  const rpc = (method: string, params: object, session?: string) =>
    other.call("POST", "/mcp", {
      key: one.key,
      headers: {
        accept: "application/json, text/event-stream",
        ...(session === undefined ? {} : { "mcp-session-id": session }),
      },
      body: { jsonrpc: "2.0", id: 1, method, params },
    });
  const clientInfo = { name: "test", version: "1.0.0" };
  const begun = await rpc("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  assert.equal(begun.status, 200, begun.text);
  const session = begun.headers.get("mcp-session-id")!;
  const ended = new AbortController();
  const response = await fetch(`${other.url}/mcp`, {
    headers: { authorization: `Bearer ${one.key}`, accept: "text/event-stream", "mcp-session-id": session },
    signal: ended.signal,
  });
  assert.equal(response.status, 200);
  let text = "";
  const reading = (async () => {
    for await (const chunk of response.body!) text += Buffer.from(chunk).toString();
  })().catch(() => {});
  const subscribed = await rpc("resources/subscribe", { uri: "sideband://memory/subscribed" }, session);
  assert.ok(subscribed.status === 200 && !subscribed.text.includes("error"), subscribed.text);
  await encode(one, "somebody-else", "USER.name", "x");
  await encode(one, "subscribed", "USER.name", "x");
  await until(() => text.includes("updated"), 120_000);
  assert.match(text, /resources\/updated.*sideband:\/\/memory\/subscribed/);
  assert.doesNotMatch(text, /somebody-else/);
  ended.abort();
  await reading;
});
