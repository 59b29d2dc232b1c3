/** The figures of /metrics are what a client counted: every answer once, by method, route and status, with its time. */

import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "../../src/base/errors.ts";
import { endAfter } from "../fixtures/ends.ts";
import { type Running, sharedRunning, startRunning } from "./running-service.ts";

/** Only what is never sent to its end is too late. */
const HASTY = { headMs: 100, bodyMs: 100, slowBodyMs: 10_000, answerMs: 60_000, checkMs: 50 };
const SETTINGS = { SIDEBAND_CONNECTIONS_PER_ADDRESS: "20" };

const running = sharedRunning(() => startRunning(SETTINGS, undefined, { warm: false }));

/** What the client counted, by the labels of the metric. */
class Tally {
  readonly counts = new Map<string, number>();
  readonly seconds = new Map<string, { count: number; sum: number }>();

  add(method: string, route: string, status: number, seconds?: number): void {
    const labels = `method="${method}",route="${route}",status="${status}"`;
    this.counts.set(labels, (this.counts.get(labels) ?? 0) + 1);
    if (seconds === undefined) return;
    const { count, sum } = this.seconds.get(route) ?? { count: 0, sum: 0 };
    this.seconds.set(route, { count: count + 1, sum: sum + seconds });
  }
}

/** The samples of a metric by their labels. */
function samples(text: string, name: string): Map<string, number> {
  const found = text.matchAll(new RegExp(`^${name}\\{(.*)\\} (.*)$`, "gm"));
  return new Map([...found].map(([, labels, value]) => [labels, Number(value)]));
}

const ENCODE = { user_id: "ada", label: "USER.name", value: "Ada" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
const MCP = { accept: "application/json, text/event-stream" };

/** Method, path, route, expected status, and what else the request has. */
const REQUESTS: readonly [string, string, string, number, Parameters<Running["call"]>[2]?][] = [
  ["POST", "/encode", "/encode", 200, { body: ENCODE }],
  ["POST", "/v1/encode", "/encode", 200, { body: ENCODE }],
  ["POST", "/encode", "/encode", 400, { body: { ...ENCODE, label: "nonsense" } }],
  ["POST", "/encode", "/encode", 401, { body: ENCODE, key: null }],
  ["POST", "/encode", "/encode", 413, { body: { ...ENCODE, value: "x".repeat(70_000) } }],
  ["POST", "/encode", "/encode", 415, { raw: "x", headers: { "content-type": "text/plain" } }],
  ["GET", "/encode", "/encode", 405],
  ["OPTIONS", "/encode", "/encode", 204],
  ["GET", "/decode?user_id=ada&label=USER.name", "/decode", 200],
  ["HEAD", "/decode?user_id=ada&label=USER.name", "/decode", 200],
  ["GET", "/decode?user_id=ada&label=USER.os", "/decode", 404],
  ["GET", "/context?user_id=ada", "/context", 200],
  ["DELETE", "/facts?user_id=ada&label=USER.name", "/facts", 200],
  ["GET", "/nowhere", "unknown", 404],
  ["HEAD", "/nowhere", "unknown", 404],
  ["GET", "/nowhere", "unknown", 404, { headers: { accept: "text/html" } }],
  ["GET", "/operator/owner", "/operator/owner", 404],
  ["POST", "/mcp", "/mcp", 200, { body: INITIALIZE, headers: MCP }],
  ["POST", "/mcp", "/mcp", 202, { body: { jsonrpc: "2.0", method: "notifications/x" }, headers: MCP }],
  ["GET", "/mcp", "/mcp", 405, { headers: MCP }],
  ["PUT", "/mcp", "/mcp", 405, { body: {} }],
  ["POST", "/mcp", "/mcp", 403, { body: INITIALIZE, headers: { ...MCP, origin: "https://x.example" } }],
  ["GET", "/demo/context", "/demo/context", 200, { key: null }],
  ["OPTIONS", "/demo/context", "/demo/context", 204, { key: null }],
  ["GET", "/admin/keys", "/admin/keys", 401, { key: null }],
  ["GET", "/healthz", "/healthz", 200],
  ["GET", "/playground", "/playground", 200],
];

/** What has no request: it is answered on the bare socket. */
const BARE: readonly [string, string, number][] = [
  ["nonsense\r\n\r\n", "unknown", 400],
  [`GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`, "unknown", 431],
  ["CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT", 405],
];

test("the figures are what a client counted, by method, route and status", async (t) => {
  const tally = new Tally();
  const send = async ([method, path, route, status, options]: (typeof REQUESTS)[number]) => {
    const startMs = performance.now();
    const answer = await running.call(method, path, options);
    tally.add(method, route, answer.status, (performance.now() - startMs) / 1000);
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text.slice(0, 200)}`);
  };
  for (const request of REQUESTS) await send(request);
  await Promise.all(Array.from({ length: 10 }, () => send(["GET", "/context?user_id=ada", "/context", 200])));

  t.mock.method(running.service.core.store, "probe", async () => {
    await sleep(250);
    throw new Failure("store_unavailable", "The store is away.");
  });
  await send(["GET", "/readyz", "/readyz", 503]);

  for (const [bytes, method, status] of BARE) {
    assert.equal(await statusOf(bytes), status, bytes.slice(0, 20));
    tally.add(method, "unknown", status);
  }

  const { text } = await running.call("GET", "/metrics");
  assert.deepEqual(sorted(samples(text, "sideband_requests_total")), sorted(tally.counts));
  const counts = samples(text, "sideband_request_seconds_count");
  const sums = samples(text, "sideband_request_seconds_sum");
  assert.equal(counts.size, tally.seconds.size);
  for (const [route, { count, sum }] of tally.seconds) {
    const [counted, seconds] = [counts.get(`route="${route}"`), sums.get(`route="${route}"`)!];
    assert.equal(counted, count, route);
    assert.ok(seconds > 0 && seconds <= sum, `${route}: ${seconds} s of the ${sum} s that the client waited`);
  }
  assert.ok(sums.get('route="/readyz"')! >= 0.24, "the time that the answer was waited for is in it");
});

/** The lines in the log of what was answered on the bare socket. */
function bareAnswers({ logs }: Running): unknown[] {
  const lines = logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request");
  return lines
    .filter(({ request_id }) => request_id === undefined)
    .map(({ level, method, route, status, reason }) => [level, method, route, status, reason]);
}

test("an answer on the bare socket has a line in the log, with its reason", () => {
  assert.deepEqual(bareAnswers(running), [
    [30, "unknown", "unknown", 400, "HPE_INVALID_METHOD"],
    [30, "unknown", "unknown", 431, "HPE_HEADER_OVERFLOW"],
    [30, "CONNECT", "unknown", 405, undefined],
  ]);
});

test("a head that does not come in time is counted, and has its line", async (context) => {
  const hasty = endAfter(context, await startRunning(SETTINGS, undefined, { warm: false, timeouts: HASTY }));
  assert.equal(await statusOf("GET /heal", hasty), 408);
  const counted = hasty.service.core.metrics.value(
    "sideband_requests_total",
    'method="unknown",route="unknown",status="408"',
  );
  assert.equal(counted, 1);
  assert.deepEqual(bareAnswers(hasty), [[30, "unknown", "unknown", 408, "ERR_HTTP_REQUEST_TIMEOUT"]]);
});

test("a connection too many is counted", async () => {
  const { hostname, port } = new URL(running.url);
  const sockets = Array.from({ length: 25 }, () => connect(Number(port), hostname));
  const statuses: string[] = [];
  for (const socket of sockets) socket.on("data", (data) => void statuses.push(String(data).slice(9, 12)));
  const counted = () =>
    running.service.core.metrics.value(
      "sideband_requests_total",
      'method="unknown",route="unknown",status="429"',
    );
  const refused = () => statuses.filter((status) => status === "429").length;
  const agree = () => refused() >= 5 && refused() === counted();
  for (const endMs = performance.now() + 30_000; !agree() && performance.now() < endMs; ) await sleep(10);
  assert.ok(refused() >= 5);
  assert.equal(counted(), refused());
  for (const socket of sockets) socket.destroy();
});

const sorted = (counts: ReadonlyMap<string, number>) => [...counts].sort(([a], [b]) => (a < b ? -1 : 1));

async function statusOf(bytes: string, { url } = running): Promise<number> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding("latin1");
  socket.setTimeout(30_000, () => socket.destroy(new Error("no answer")));
  socket.write(bytes);
  let text = "";
  for await (const chunk of socket) text += chunk;
  return Number(text.slice(9, 12));
}
