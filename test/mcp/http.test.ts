/** /mcp on a real service, with the official clients of both generations. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientOfOld } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportOfOld } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { endAfter } from "../fixtures/ends.ts";
import { changesOf, viewOf } from "../fixtures/views.ts";
import { until } from "../fixtures/waiting.ts";
import { type Running, sharedRunning, startRunning } from "../http/running-service.ts";
import { caller, type TourClient, tour } from "./tour.ts";

const running = sharedRunning(() => startRunning({ SIDEBAND_BLOCK_WORKERS: "1" }));

const info = { name: "test", version: "1.0.0" };
/** Generous: a loaded machine is no failure. */
const HEARD_TIMEOUT_MS = 60_000;

async function connect(
  query: string,
  options: { key?: string; modern?: boolean; to?: Running } = {},
): Promise<Client> {
  const { to = running, key = to.key, modern = true } = options;
  const client = new Client(info, modern ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {});
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${to.url}/mcp${query}`), { requestInit: { headers } }),
  );
  return client;
}

test("a client of 2026-07-28, bound to a user", async () => {
  const client = await connect("?user_id=bound%20user&include=both&add_label=true");
  await tour(client as unknown as TourClient, { user: "bound user", listChanged: true, writer: "mcp: test" });
  assert.equal(client.getServerVersion()?.name, "sideband");
  assert.match(client.getInstructions() ?? "", /remember/);
  await client.close();
});

test("a client of 2026-07-28 that names the user in each call", async () => {
  const client = await connect("?include=both");
  await tour(client as unknown as TourClient, {
    user: "free/user",
    unboundUser: "free/user",
    listChanged: true,
    writer: "mcp: test",
  });
  await client.close();
});

test("a client of the 2025 revisions, of both generations of the SDK", async () => {
  const present = await connect("?user_id=present&include=both&add_label=true", { modern: false });
  await tour(present as unknown as TourClient, { user: "present", listChanged: false, writer: "mcp: test" });
  await present.close();
  const old = new ClientOfOld(info);
  const headers = { authorization: `Bearer ${running.key}` };
  const url = new URL(`${running.url}/mcp?user_id=old&include=both&add_label=true`);
  await old.connect(new TransportOfOld(url, { requestInit: { headers } }) as never);
  await tour(old as unknown as TourClient, { user: "old", listChanged: false, writer: "mcp: test" });
  await old.close();
});

test("the facts are those of the HTTP interface, and of the key's account only", async () => {
  const other = await running.newKey("other");
  const ours = await connect("?user_id=shared");
  const theirs = await connect("?user_id=shared", { key: other });
  await caller(ours as unknown as TourClient)("remember", { label: "PROJ.goal", value: "ours" });
  const read = await running.call("GET", "/decode?user_id=shared&label=PROJ.goal");
  assert.equal(read.json.value, "ours");
  const found = await caller(theirs as unknown as TourClient)("recall", { label: "PROJ.goal" });
  assert.equal(found.structuredContent.value, null);
  await Promise.all([ours.close(), theirs.close()]);
});

test("a subscriber hears of a change made over HTTP, and nobody else's subscriber does", async () => {
  const uri = "sideband://memory/watched";
  const heard: string[] = [];
  const listen = async (name: string, key?: string) => {
    const client = await connect("?user_id=watched", key === undefined ? {} : { key });
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void heard.push(`${name} ${params.uri}`),
    );
    await client.listen({ resourceSubscriptions: [uri] });
    return client;
  };
  const ours = await listen("ours");
  const theirs = await listen("theirs", await running.newKey("stranger"));
  await running.call("POST", "/encode", { body: { user_id: "watched", label: "USER.os", value: "Plan 9" } });
  const untilMs = Date.now() + HEARD_TIMEOUT_MS;
  while (heard.length === 0 && Date.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, 50));
  // Theirs watches at the same pace: had it something to say, a further round would show it.
  await running.call("POST", "/encode", { body: { user_id: "watched", label: "USER.os", value: "Inferno" } });
  while (heard.length === 1 && Date.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(heard, [`ours ${uri}`, `ours ${uri}`]);
  await Promise.all([ours.close(), theirs.close()]);
});

test("a subscriber hears of a change that comes at once, and while no block can be made", async (t) => {
  const crowded = endAfter(t, await startRunning({}, undefined, { warm: false }));
  await crowded.call("POST", "/encode", { body: { user_id: "busy", label: "USER.os", value: "Unix" } });
  await crowded.service.core.blockWork.close();
  assert.equal((await crowded.call("GET", "/context?user_id=busy")).json.code, "overloaded");
  const client = await connect("?user_id=busy", { to: crowded });
  const heard = new Promise((resolve) => {
    client.setNotificationHandler("notifications/resources/updated", resolve);
  });
  await client.listen({ resourceSubscriptions: ["sideband://memory/busy"] });
  await crowded.call("POST", "/encode", { body: { user_id: "busy", label: "USER.os", value: "Plan 9" } });
  const late = sleep(HEARD_TIMEOUT_MS, undefined, { ref: false });
  await Promise.race([heard, late.then(() => assert.fail("nothing was heard in time"))]);
  await client.close();
});

test("without a key, with a wrong one and with a bad user there is a problem answer, not a server", async () => {
  const post = (path: string, key: string | null) =>
    running.call("POST", path, { key, body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
  assert.equal((await post("/mcp", null)).json.code, "missing_key");
  assert.equal((await post("/mcp", "sb_live_wrong")).json.code, "invalid_key");
  assert.equal((await post(`/mcp?user_id=${"x".repeat(129)}`, running.key)).json.code, "invalid_request");
  for (const query of ["project=a/b/c", "project=", "include=all"])
    assert.equal((await post(`/mcp?${query}`, running.key)).json.code, "invalid_request", query);
  assert.equal((await post("/mcp?api_key=x", null)).json.code, "missing_key");
  assert.equal((await post("/v1/mcp", null)).json.code, "missing_key");
  const put = await running.call("PUT", "/mcp", { body: {} });
  assert.deepEqual([put.status, put.headers.get("allow")], [405, "GET, HEAD, POST, DELETE, OPTIONS"]);
});

test("odd requests are refused with 4xx, and the server goes on", async () => {
  const bodies = [
    "[]",
    "null",
    "0",
    '"text"',
    "{}",
    "[1,[],{}]",
    '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":1,"method":7}',
    '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":[1,null,"sideband://memory/%"]}}}',
    '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":"x"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__","arguments":{"__proto__":1}}}',
    '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"sideband://memory/%zz"}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}',
    "not json",
    "",
    "x".repeat(70_000),
  ];
  const versions = ["2026-07-28", "2025-06-18", "1999-01-01", "é"];
  for (const raw of bodies) {
    for (const version of versions) {
      for (const accept of ["application/json, text/event-stream", "text/html"]) {
        const headers = { "content-type": "application/json", "mcp-protocol-version": version, accept };
        const { status, text } = await running.call("POST", "/mcp?user_id=u", { raw, headers });
        // JSON-RPC answers an error of a well-formed request with 200.
        assert.ok(
          status < 500 && (status >= 400 || status === 202 || text.includes("jsonrpc")),
          `${status} ${raw} ${text}`,
        );
      }
    }
  }
  for (const method of ["GET", "DELETE"]) {
    assert.equal((await running.call(method, "/mcp?user_id=u")).status, 405);
  }
});

test("the monthly limit of the key holds for tools too, and the model is told", async () => {
  const key = await running.newKey("small", "free");
  const client = await connect("?user_id=u", { key });
  const facts = Array.from({ length: 40 }, (_, i) => ({ label: i, value: "x" }));
  const { json } = await running.call("GET", "/channels");
  const batch = facts.map(({ label, value }) => ({ label: json.channels[label].label, value }));
  for (let round = 0; round < 25; round++) {
    const answer = await running.call("POST", "/encode/batch", { key, body: { user_id: "u", facts: batch } });
    assert.equal(answer.status, 200);
  }
  const refused = await caller(client as unknown as TourClient)("remember", { label: "USER.os", value: "x" });
  assert.equal(refused.isError, true);
  assert.match(refused.content[0].text, /monthly_limit_exceeded: .*1000/);
  await client.close();
});

test("a client that hangs up leaves no block work behind", async () => {
  const { store, metrics } = running.service.core;
  const values = Array.from(
    { length: 12 },
    (_, channel) => [channel, `fact number ${channel} of a user who does not wait`] as const,
  );
  await store.write({ ...viewOf("hasty", "acme", { nowMs: Date.now() }), changes: changesOf(values) });
  const cancelled = () => metrics.value("sideband_block_tasks_total", 'kind="code",result="cancelled"');
  const waiting = () => metrics.value("sideband_block_queue_depth", 'kind="code"');
  const before = cancelled();
  const gone = new AbortController();
  const answer = fetch(`${running.url}/mcp?user_id=hasty&include=both`, {
    method: "POST",
    signal: gone.signal,
    headers: {
      authorization: `Bearer ${running.key}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2025-06-18",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "flush", arguments: {} },
    }),
  }).then((response) => response.text());
  await until(() => waiting() > 0);
  gone.abort();
  await assert.rejects(answer);
  await until(() => waiting() === 0);
  assert.ok(cancelled() > before);
});

test("a service that stops does not wait for those who listen", async () => {
  const other = await startRunning({ SIDEBAND_SHUTDOWN_S: "60" });
  const client = new Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const headers = { authorization: `Bearer ${other.key}` };
  const url = new URL(`${other.url}/mcp?user_id=u`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const subscription = await client.listen({ resourceSubscriptions: ["sideband://memory/u"] });
  const startMs = performance.now();
  await other.end();
  assert.ok(performance.now() - startMs < 30_000, `${performance.now() - startMs} ms`);
  assert.ok(["graceful", "remote"].includes(await subscription.closed));
  await client.close().catch(() => {});
});

test("a service that stops answers calls under way and those that come on their connections, and says that these end", async () => {
  const settings = { SIDEBAND_SHUTDOWN_S: "60", SIDEBAND_BLOCK_WORKERS: "1" };
  const stopping = await startRunning(settings, undefined, { warm: false });
  const { store, metrics } = stopping.service.core;
  const values = Array.from({ length: 12 }, (_, channel) => [channel, `fact number ${channel}`] as const);
  await store.write({ ...viewOf("ada", "acme", { nowMs: Date.now() }), changes: changesOf(values) });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = (name: string, given: object) => {
    const headers = {
      authorization: `Bearer ${stopping.key}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2025-06-18",
    };
    const params = { name, arguments: given };
    return new Promise<{ connection: string | undefined; said: string }>((resolve, reject) => {
      request(
        `${stopping.url}/mcp?user_id=ada&include=both`,
        { method: "POST", agent, headers },
        (response) =>
          text(response).then((said) => resolve({ connection: response.headers.connection, said }), reject),
      )
        .on("error", reject)
        .end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
    });
  };
  const underWay = call("flush", {});
  await until(() => metrics.value("sideband_block_queue_depth", 'kind="code"') > 0);
  const closed = stopping.service.close(60_000);
  assert.match((await underWay).said, /"result"/);
  const last = await call("recall", { label: "USER.name" });
  assert.match(last.said, /"result"/);
  assert.equal(last.connection, "close");
  await closed;
  agent.destroy();
  rmSync(stopping.folder, { recursive: true });
});

test("/mcp is closed to pages of other sites and to foreign names, and open to allowed origins", async () => {
  const choosy = await startRunning(
    { SIDEBAND_ALLOWED_ORIGINS: "https://agent.example", SIDEBAND_PUBLIC_URL: "https://memory.example" },
    undefined,
    { warm: false },
  );
  const { host } = new URL(choosy.url);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const ask = (method: string, headers: Record<string, string>) =>
    new Promise<{ status: number | undefined; headers: IncomingHttpHeaders }>((resolve, reject) => {
      const all = {
        authorization: `Bearer ${choosy.key}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...headers,
      };
      request(`${choosy.url}/mcp`, { method, headers: all }, (response) => {
        response.resume();
        resolve({ status: response.statusCode, headers: response.headers });
      })
        .on("error", reject)
        .end(method === "POST" ? body : undefined);
    });
  try {
    for (const [headers, status, allowed] of [
      [{}, 200, undefined],
      [{ origin: `http://${host}` }, 200, `http://${host}`],
      [{ origin: "https://agent.example" }, 200, "https://agent.example"],
      [{ host: "memory.example" }, 200, undefined],
      [{ origin: "https://evil.example" }, 403, undefined],
      [{ origin: "null" }, 403, undefined],
      [{ host: "evil.example" }, 403, undefined],
      [{ host: "evil.example", origin: "http://evil.example" }, 403, undefined],
    ] as [Record<string, string>, number, string | undefined][]) {
      const answer = await ask("POST", headers);
      const what = JSON.stringify(headers);
      assert.deepEqual(
        [answer.status, answer.headers["access-control-allow-origin"]],
        [status, allowed],
        what,
      );
      const preflight = await ask("OPTIONS", headers);
      assert.equal(preflight.status, status === 200 ? 204 : 403, what);
      assert.equal(preflight.headers["access-control-allow-origin"], allowed, what);
    }
  } finally {
    await choosy.end();
  }
});

test("whoever listens hears no more once the key is revoked", async () => {
  const { key, record } = await running.service.core.keys.create({ account: "acme", tier: "unlimited" });
  const client = await connect("?user_id=u", { key });
  const subscription = await client.listen({ resourceSubscriptions: ["sideband://memory/u"] });
  await running.service.core.keys.revoke(record.id);
  await subscription.closed;
  await client.close();
});

test("a batch counts each of its calls against SIDEBAND_RATE", async (t) => {
  const limited = endAfter(t, await startRunning({ SIDEBAND_RATE: "10" }, undefined, { warm: false }));
  const headers = { accept: "application/json, text/event-stream" };
  const batch = (calls: number) =>
    Array.from({ length: calls }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }));
  const large = await limited.call("POST", "/mcp", { body: batch(100), headers });
  assert.equal(large.json.code, "rate_limited");
  const key = await limited.newKey("acme");
  const small = await limited.call("POST", "/mcp", { key, body: batch(9), headers });
  assert.notEqual(small.status, 429);
  assert.equal((await limited.call("POST", "/mcp", { key, body: batch(9), headers })).status, 429);
});
