/** Sessions at /mcp: subscriptions of clients of the 2025 revisions, and what a session is not needed for. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientOfOld } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportOfOld } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { type Running, startRunning } from "../http/running-service.ts";

/** Stopping for longer than the tests allow, if it waited. */
const SETTINGS = { SIDEBAND_SHUTDOWN_S: "60" };
let running: Running;
before(async () => {
  running = await startRunning(SETTINGS, undefined, { warm: false });
});
after(() => running?.end());

const PATIENCE_MS = 120_000;
const info = { name: "test", version: "1.0.0" };
const uriOf = (user: string) => `sideband://memory/${user}`;
const headersOf = (key: string) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } });

interface Subscriber {
  subscribeResource(params: { uri: string }): Promise<unknown>;
  unsubscribeResource(params: { uri: string }): Promise<unknown>;
  close(): Promise<void>;
}

/** A client of 2025-11-25 of each generation of the SDK; `heard` gets the addresses of changed resources. */
async function presentClient(query: string, key: string, heard: string[]): Promise<Subscriber> {
  const client = new Client(info);
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    heard.push(params.uri);
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${running.url}/mcp${query}`), headersOf(key)),
  );
  assert.equal(client.getServerCapabilities()?.resources?.subscribe, true);
  return client;
}

async function oldClient(query: string, key: string, heard: string[]): Promise<Subscriber> {
  const client = new ClientOfOld(info);
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    heard.push(params.uri);
  });
  const transport = new TransportOfOld(new URL(`${running.url}/mcp${query}`), headersOf(key));
  await client.connect(transport as never);
  assert.equal(client.getServerCapabilities()?.resources?.subscribe, true);
  return client as unknown as Subscriber;
}

let changes = 0;
async function change(user: string): Promise<void> {
  const body = { user_id: user, label: "USER.os", value: `system ${changes++}` };
  assert.equal((await running.call("POST", "/encode", { body })).status, 200);
}

/** Changes a memory until it is heard of: a first change may come before the watch has looked. */
async function changeUntilHeard(user: string, heard: string[]): Promise<void> {
  const earlier = heard.length;
  const isHeard = () => heard.slice(earlier).includes(uriOf(user));
  for (const untilMs = Date.now() + PATIENCE_MS; !isHeard(); await wait(500)) {
    assert.ok(Date.now() < untilMs, `no change of ${user} was heard of`);
    await change(user);
  }
}

for (const [name, connect] of [
  ["the present SDK", presentClient],
  ["the first SDK", oldClient],
] as const) {
  test(`a client of 2025-11-25 of ${name} hears of what it has subscribed to, and of nothing else`, async () => {
    const [first, second, third] = ["a", "b", "c"].map((letter) => `${letter}-${connect.name}`);
    const heard: string[] = [];
    const strangers: string[] = [];
    const ours = await connect("", running.key, heard);
    const theirs = await connect("", await running.newKey("stranger"), strangers);
    for (const client of [ours, theirs])
      for (const user of [first, second]) await client.subscribeResource({ uri: uriOf(user) });
    await changeUntilHeard(first, heard);
    await changeUntilHeard(second, heard);

    await ours.unsubscribeResource({ uri: uriOf(first) });
    heard.length = 0;
    await change(first);
    await change(third);
    // Two changes of what is still subscribed to, each seen by a look at all: the others would have been seen too.
    await changeUntilHeard(second, heard);
    await changeUntilHeard(second, heard);
    assert.deepEqual(new Set(heard), new Set([uriOf(second)]));
    assert.deepEqual(strangers, []);
    await Promise.all([ours.close(), theirs.close()]);
  });
}

/** What `initialize` answers, as a client without an SDK sees it. */
async function newSession(key = running.key): Promise<string> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: info };
  const answer = await post("initialize", params, undefined, key);
  return answer.headers.get("mcp-session-id") ?? "";
}

function post(method: string, params: object, session?: string, key = running.key) {
  const accept = "application/json, text/event-stream";
  const headers = { accept, ...(session === undefined ? {} : { "mcp-session-id": session }) };
  return running.call("POST", "/mcp", { key, headers, body: { jsonrpc: "2.0", id: 1, method, params } });
}

/** Reads a session's stream; `text` grows, and `ended` settles with the stream. */
async function openStream(session: string, key = running.key) {
  const response = await fetch(`${running.url}/mcp`, {
    headers: { authorization: `Bearer ${key}`, accept: "text/event-stream", "mcp-session-id": session },
  });
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const stream = { text: "", ended: Promise.resolve() };
  stream.ended = (async () => {
    for await (const chunk of response.body!) stream.text += Buffer.from(chunk).toString();
  })();
  return stream;
}

test("a stream that is opened again tells of what may have changed, and ends the one before", async () => {
  const session = await newSession();
  await post("resources/subscribe", { uri: uriOf("again") }, session);
  const first = await openStream(session);
  const second = await openStream(session);
  await first.ended;
  const untilMs = Date.now() + PATIENCE_MS;
  while (!second.text.includes(uriOf("again")) && Date.now() < untilMs) await wait(50);
  assert.match(
    second.text,
    /^event: message\ndata: \{"jsonrpc":"2\.0","method":"notifications\/resources\/updated"/,
  );
});

test("a session that is not known has no stream and no subscriptions, and its tools work", async () => {
  const strange = "00000000-0000-4000-8000-000000000000";
  const headers = { "mcp-session-id": strange, accept: "text/event-stream" };
  assert.equal((await running.call("GET", "/mcp", { headers })).status, 404);
  for (const session of [undefined, strange, await newSession(await running.newKey("other"))]) {
    const refused = await post("resources/subscribe", { uri: uriOf("u") }, session);
    assert.match(refused.text, /A subscription needs a session of this node\. Send initialize/);
    const params = { name: "recall", arguments: { user_id: "u", label: "USER.os" } };
    assert.match((await post("tools/call", params, session)).text, /"value":null/);
  }
});

test("a session has at most 16 subscriptions", async () => {
  const session = await newSession();
  const subscribe = async (i: number) =>
    (await post("resources/subscribe", { uri: uriOf(`user${i}`) }, session)).text;
  for (let i = 0; i < 16; i++) assert.match(await subscribe(i), /"result":\{\}/);
  assert.match(await subscribe(16), /at most 16 subscriptions/);
  assert.match(await subscribe(15), /"result":\{\}/);
  await post("resources/unsubscribe", { uri: uriOf("user3") }, session);
  assert.match(await subscribe(16), /"result":\{\}/);
});

test("a stream ends with its key, and with the service", async () => {
  const { key, record } = await running.service.core.keys.create({ account: "acme", tier: "unlimited" });
  const revoked = await openStream(await newSession(key), key);
  await running.service.core.keys.revoke(record.id);
  await revoked.ended;
  const last = await openStream(await newSession());
  const startMs = performance.now();
  await running.end();
  await last.ended;
  assert.ok(performance.now() - startMs < 30_000, `${performance.now() - startMs} ms`);
  running = await startRunning(SETTINGS, undefined, { warm: false });
});
