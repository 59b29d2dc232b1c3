/** What surrounds the memory: other methods, HEAD, CORS, demo, admin, key requests, description, health, figures. */

import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { ERRORS } from "../../src/base/error-codes.ts";
import { readConfig } from "../../src/config.ts";
import { OPERATIONS } from "../../src/contract/operations.ts";
import { endAfter } from "../fixtures/ends.ts";
import { fieldsOf } from "../fixtures/fields.ts";
import { problemCode, type Running, send, sharedRunning, startPortless } from "./running-service.ts";

const running = sharedRunning();

const call: Running["call"] = (...args) => running.call(...args);
const open: Running["call"] = (method, path, options) =>
  running.call(method, path, { key: null, ...options });
const admin: Running["call"] = (method, path, options) =>
  running.call(method, path, { key: "admin-token-for-tests", ...options });

test("an unknown address is 404, another method 405 with Allow, OPTIONS says what is allowed", async () => {
  assert.equal(problemCode(await open("GET", "/nowhere")), "404 not_found");
  assert.equal(problemCode(await open("POST", "/v2/encode")), "404 not_found");
  for (const [method, path, allow] of [
    ["GET", "/encode", "POST, OPTIONS"],
    ["PUT", "/facts", "GET, HEAD, DELETE, OPTIONS"],
    ["PATCH", "/v1/flush", "POST, OPTIONS"],
    ["DELETE", "/context", "GET, HEAD, OPTIONS"],
    ["GET", "/admin/keys/abc/revoke", "POST, OPTIONS"],
  ]) {
    const answer = await open(method, path);
    assert.equal(problemCode(answer), "405 method_not_allowed");
    assert.equal(answer.headers.get("allow"), allow);
  }
  const options = await open("OPTIONS", "/encode");
  assert.equal(options.status, 204);
  assert.equal(options.headers.get("allow"), "POST, OPTIONS");
  assert.equal(options.headers.get("access-control-allow-origin"), null);
});

test("HEAD answers like GET, without the body", async () => {
  const [head, get] = await Promise.all(
    ["HEAD", "GET"].map((method) => send(running.url, method, "/context?user_id=nobody", running)),
  );
  assert.equal(head.status, 200);
  assert.equal(head.text, "");
  assert.equal(head.headers.get("etag"), get.headers.get("etag"));
  assert.equal(head.headers.get("content-length"), get.headers.get("content-length"));
});

test("CORS: open on the demo and what needs no key, closed elsewhere", async () => {
  for (const path of ["/demo/context", "/channels", "/openapi.json", "/healthz"]) {
    assert.equal((await open("GET", path)).headers.get("access-control-allow-origin"), "*", path);
  }
  const preflight = await open("OPTIONS", "/demo/encode", {
    headers: { origin: "https://a.example", "access-control-request-method": "POST" },
  });
  assert.equal(preflight.status, 204);
  assert.match(preflight.headers.get("access-control-allow-methods")!, /POST/);
  assert.match(preflight.headers.get("access-control-allow-headers")!, /Content-Type/);
  assert.equal(
    (await open("POST", "/demo/encode", { body: {} })).headers.get("access-control-allow-origin"),
    "*",
  );
  const headers = { origin: "https://a.example", "access-control-request-method": "GET" };
  for (const path of ["/usage", "/metrics", "/v1/metrics"])
    for (const method of ["GET", "OPTIONS"]) {
      const answer = await call(method, path, { headers });
      assert.ok(answer.status < 300);
      assert.equal(answer.headers.get("access-control-allow-origin"), null, `${method} ${path}`);
    }
});

test("the demo: encode, context, decode, flush, reset, without a key, on a state of its own", async () => {
  await open("POST", "/demo/reset");
  const encoded = await open("POST", "/demo/encode", { body: { label: "USER.gpu", value: "RTX5090" } });
  assert.deepEqual(encoded.json, {
    status: "ok",
    label: "USER.gpu",
    value: "RTX5090",
    channel: 3,
    channel_count: 1,
  });
  const resetsIn = Number(encoded.headers.get("sideband-demo-resets-in"));
  assert.ok(resetsIn >= 1 && resetsIn <= 900);
  const context = await open("GET", "/demo/context");
  assert.equal(context.json.user_id, "demo");
  assert.equal(context.json.plain_index, "USER.gpu=RTX5090");
  assert.equal((await open("GET", "/demo/decode?label=USER.gpu")).json.value, "RTX5090");
  assert.equal(problemCode(await open("GET", "/demo/decode?label=USER.os")), "404 fact_not_found");
  const flush = await open("POST", "/demo/flush");
  assert.equal(flush.json.lossless, true);
  assert.equal(flush.json.fdm_block, context.json.fdm_block);
  assert.equal(
    (await open("POST", "/demo/encode", { body: { label: "USER.os", value: "x".repeat(128) } })).status,
    200,
  );
  assert.equal(
    problemCode(await open("POST", "/demo/encode", { body: { label: "USER.os", value: "x".repeat(129) } })),
    "400 invalid_value",
  );
  assert.deepEqual((await open("POST", "/demo/reset")).json, { status: "ok", channel_count: 0 });
  assert.deepEqual(
    (await open("POST", "/demo/reset", { raw: "", headers: { "content-type": "application/json" } })).json,
    { status: "ok", channel_count: 0 },
  );
  assert.equal((await open("GET", "/demo/context")).json.channel_count, 0);
});

test("the demo is off unless it is switched on: each of its calls is refused with the setting, and nothing is written", async (context) => {
  assert.equal(readConfig({}, {}).demo, false);
  const off = endAfter(context, await startPortless({ SIDEBAND_DEMO: "0" }, undefined, { warm: false }));
  const body = { label: "USER.gpu", value: "RTX5090" };
  for (const [method, path, sent] of [
    ["POST", "/demo/encode", { body }],
    ["GET", "/demo/context", {}],
    ["POST", "/demo/reset", {}],
  ] as const) {
    const refused = await off.call(method, path, { key: null, ...sent });
    assert.equal(problemCode(refused), "404 not_found", path);
    assert.match(refused.json.detail, /SIDEBAND_DEMO=1/);
  }
  assert.equal(((await off.service.core.store.statistics()) as { users: number }).users, 0);
});

test("the demo cannot touch an account's data, nor an account the demo's", async () => {
  const demoKey = await running.newKey("demo");
  await call("POST", "/encode", {
    key: demoKey,
    body: { user_id: "demo", label: "USER.name", value: "an account called demo" },
  });
  await open("POST", "/demo/encode", { body: { label: "USER.name", value: "public" } });
  assert.equal(
    (await call("GET", "/decode?user_id=demo&label=USER.name", { key: demoKey })).json.value,
    "an account called demo",
  );
  await open("POST", "/demo/reset");
  assert.equal((await call("GET", "/facts?user_id=demo", { key: demoKey })).json.channel_count, 1);
  await assert.rejects(running.newKey("@demo"), /account/);
});

test("the demo is limited for each address, then 429 with Retry-After; X-Forwarded-For counts only when trusted", async (context) => {
  const plain = endAfter(context, await startPortless({ SIDEBAND_DEMO_RATE: "5" }));
  const trusting = endAfter(
    context,
    await startPortless({ SIDEBAND_DEMO_RATE: "5", SIDEBAND_TRUST_PROXY: "1" }),
  );
  const get = (from: Running, address: string) =>
    from.call("GET", "/demo/context", { key: null, headers: { "x-forwarded-for": address } });
  for (let i = 0; i < 5; i++) assert.equal((await get(plain, `10.0.0.${i}`)).status, 200);
  const refused = await get(plain, "10.9.9.9");
  assert.equal(problemCode(refused), "429 rate_limited");
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  assert.equal((await plain.call("GET", "/usage")).status, 200);
  for (let i = 0; i < 20; i++) assert.equal((await get(trusting, `10.0.1.${i}`)).status, 200);
  for (let i = 0; i < 5; i++) await get(trusting, `1.1.1.${i}, 10.0.2.1`);
  assert.equal((await get(trusting, "9.9.9.9, 10.0.2.1")).status, 429);
});

test("every answer of the demo says what is left to its address", async (context) => {
  const few = endAfter(context, await startPortless({ SIDEBAND_DEMO_RATE: "3" }, undefined, { warm: false }));
  const seen: unknown[] = [];
  for (const path of ["/demo/context", "/demo/decode?label=nonsense", "/demo/context", "/demo/context"]) {
    const { status, headers } = await few.call("GET", path, { key: null });
    assert.match(headers.get("ratelimit") ?? "", /^"demo";r=\d;t=\d+$/);
    const reset = Number(headers.get("x-ratelimit-reset")) - Date.now() / 1000;
    assert.ok(reset > 0 && reset <= 61, `resets in ${reset} s`);
    seen.push([
      status,
      headers.get("ratelimit-policy"),
      headers.get("x-ratelimit-limit"),
      headers.get("x-ratelimit-remaining"),
    ]);
  }
  const policy = '"demo";q=3;w=60';
  assert.deepEqual(seen, [
    [200, policy, "3", "2"],
    [400, policy, "3", "1"],
    [200, policy, "3", "0"],
    [429, policy, "3", "0"],
  ]);
});

test("a fact of the demo is verified by the model on request", async () => {
  await open("POST", "/demo/encode", { body: { label: "USER.gpu", value: "RTX5090" } });
  const { json } = await open("GET", "/demo/decode?label=USER.gpu&use_model=true");
  assert.deepEqual([json.value, json.source, json.verified], ["RTX5090", "model", true]);
});

test("the demo state resets by the clock", async (context) => {
  const quick = endAfter(context, await startPortless({ SIDEBAND_DEMO_RESET_S: "1" }));
  await quick.call("POST", "/demo/encode", {
    key: null,
    body: { label: "USER.name", value: "short-lived" },
  });
  const deadline = Date.now() + 30_000;
  for (;;) {
    const { json, headers } = await quick.call("GET", "/demo/context", { key: null });
    assert.equal(headers.get("sideband-demo-resets-in"), "1");
    if (json.channel_count === 0) break;
    assert.ok(Date.now() < deadline, "it was not reset");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

test("a rate for each key holds when the operator sets one", async (context) => {
  const limited = endAfter(context, await startPortless({ SIDEBAND_RATE: "3" }));
  const answers = await Promise.all(Array.from({ length: 12 }, () => limited.call("GET", "/usage")));
  const refused = answers.filter(({ status }) => status === 429);
  assert.ok(refused.length >= 6);
  assert.equal(problemCode(refused[0]), "429 rate_limited");
  assert.equal(refused[0].headers.get("retry-after"), "1");
  const others = await Promise.all([limited.newKey("acme"), limited.newKey("acme")]);
  const fresh = await Promise.all(
    others.flatMap((key) => Array.from({ length: 3 }, () => limited.call("GET", "/usage", { key }))),
  );
  assert.deepEqual(fieldsOf(fresh, "status"), [200, 200, 200, 200, 200, 200]);
});

test("the operator's calls are not to be found on the TCP port, whoever asks", async () => {
  assert.equal(problemCode(await send(running.url, "GET", "/operator/owner", running)), "404 not_found");
  for (const ask of [open, call, admin]) {
    for (const path of ["/operator/owner", "/operator/export", "/v1/operator/export"])
      assert.equal(problemCode(await ask("GET", path)), "404 not_found");
    for (const path of ["import", "verify", "compact", "backup", "end"])
      assert.equal(problemCode(await ask("POST", `/operator/${path}`, { body: {} })), "404 not_found");
  }
});

test("channels: all 40 with description and example, without a key", async () => {
  const { channels } = (await open("GET", "/channels")).json;
  assert.deepEqual(
    fieldsOf(channels, "channel"),
    Array.from({ length: 40 }, (_, i) => i),
  );
  assert.deepEqual(
    [0, 20, 24, 34, 39].map((i) => channels[i].label),
    ["USER.name", "TASK.current", "TASK.priority", "PROJ.accuracy", "PROJ.constraint"],
  );
  for (const { description, example } of channels) assert.ok(description.length > 3 && example.length > 0);
});

test("admin: only with the token", async () => {
  assert.equal(problemCode(await open("GET", "/admin/keys")), "401 missing_key");
  assert.equal(problemCode(await call("GET", "/admin/keys")), "401 invalid_key");
});

test("admin: keys are created, listed and revoked, and their use is counted by day and account", async () => {
  const created = await admin("POST", "/admin/keys", {
    body: { account: "by-admin", tier: "pro", note: "for tests" },
  });
  assert.equal(created.status, 201);
  assert.match(created.json.key, /^sb_live_/);
  assert.equal(created.json.tier, "pro");
  await call("POST", "/encode", {
    key: created.json.key,
    body: { user_id: "u", label: "USER.name", value: "x" },
  });
  const { keys } = (await admin("GET", "/admin/keys?account=by-admin")).json;
  assert.equal(keys.length, 1);
  assert.ok(!JSON.stringify(keys).includes(created.json.key));
  const usage = (await admin("GET", `/admin/usage?key_id=${keys[0].id}`)).json;
  assert.equal(usage.keys[0].used_this_month, 1);
  assert.deepEqual(usage.keys[0].days, [{ day: new Date().toISOString().slice(0, 10), count: 1 }]);
  const later = await admin("POST", `/admin/keys/${keys[0].id}/expire`, {
    body: { expires_at: "2999-01-01T00:00:00Z" },
  });
  assert.equal(later.json.expires_at, "2999-01-01T00:00:00.000Z");
  const wrong = await admin("POST", `/admin/keys/${keys[0].id}/expire`, { body: { expires_at: "soon" } });
  assert.equal(problemCode(wrong), "400 invalid_request");
  assert.match(wrong.json.detail, /YYYY-MM-DD.*RFC 3339/);
  assert.ok((await admin("POST", `/admin/keys/${keys[0].id}/revoke`)).json.revoked_at);
  assert.equal(problemCode(await call("GET", "/usage", { key: created.json.key })), "403 key_revoked");
  assert.equal(problemCode(await admin("POST", "/admin/keys/none/revoke")), "404 not_found");
  const { accounts } = (await admin("GET", "/admin/accounts")).json;
  assert.ok(
    accounts.some(
      ({ account, keys: count }: { account: string; keys: number }) => account === "by-admin" && count === 1,
    ),
  );
});

test("admin: a key that cannot be is 400", async () => {
  for (const body of [
    { account: "Bad Name" },
    { account: "" },
    { account: "a", tier: "gold" },
    { account: "a", expires_at: "2001-01-01T00:00:00Z" },
    { account: "a", expires_at: "2999-02-30" },
    { account: "a", expires_at: "2999-01-31T12:00:00" },
    {},
  ]) {
    assert.equal(problemCode(await admin("POST", "/admin/keys", { body })), "400 invalid_request");
  }
});

test("admin: wrong tokens are slowed down, and the right one with them", async (context) => {
  const fresh = endAfter(context, await startPortless());
  const answers = [];
  for (let i = 0; i < 12; i++)
    answers.push(await fresh.call("GET", "/admin/keys", { key: `wrong-token-number-${i}` }));
  assert.equal(problemCode(answers[0]), "401 invalid_key");
  assert.equal(problemCode(answers[11]), "429 rate_limited");
  assert.equal((await fresh.call("GET", "/admin/keys", { key: "admin-token-for-tests" })).status, 429);
});

test("key requests: anyone asks, the operator approves or declines, once", async () => {
  const request = { name: "Grace", email: "grace@example.org", purpose: "an agent for notes", tier: "pro" };
  assert.deepEqual((await open("POST", "/key-requests", { body: request })).json, { status: "received" });
  assert.equal((await open("POST", "/key-requests", { body: { ...request, name: "Mallory" } })).status, 202);
  assert.equal(
    problemCode(await open("POST", "/key-requests", { body: { ...request, email: "nonsense" } })),
    "400 invalid_request",
  );
  const { requests } = (await admin("GET", "/admin/key-requests")).json;
  const [first, second] = requests;
  assert.equal(first.name, "Grace");
  assert.equal(first.status, "open");
  const approved = await admin("POST", `/admin/key-requests/${first.id}/approve`, {
    body: { account: "grace" },
  });
  assert.equal(approved.status, 201);
  assert.equal(approved.json.tier, "pro");
  assert.equal((await call("GET", "/usage", { key: approved.json.key })).json.account, "grace");
  assert.equal(
    problemCode(
      await admin("POST", `/admin/key-requests/${first.id}/approve`, { body: { account: "grace" } }),
    ),
    "409 conflict",
  );
  assert.equal((await admin("POST", `/admin/key-requests/${second.id}/decline`)).json.status, "declined");
  assert.equal(problemCode(await admin("POST", `/admin/key-requests/${second.id}/decline`)), "409 conflict");
  for (let i = 0; i < 4; i++) await open("POST", "/key-requests", { body: request });
  assert.equal(problemCode(await open("POST", "/key-requests", { body: request })), "429 rate_limited");
});

test("openapi.json is OpenAPI 3.1, describes every operation, and /docs needs no outside host", async () => {
  const document = (await open("GET", "/openapi.json")).json;
  assert.equal(document.openapi, "3.1.0");
  for (const [id, { path, method }] of Object.entries(OPERATIONS)) {
    const described = document.paths[path.replace(/:(\w+)/g, "{$1}")][method.toLowerCase()];
    assert.equal(described.operationId, id);
    assert.ok(Object.keys(described.responses).length >= 1);
  }
  const page = await open("GET", "/docs");
  assert.match(page.headers.get("content-type")!, /text\/html/);
  assert.match(page.headers.get("content-security-policy")!, /default-src 'none'/);
  assert.doesNotMatch(page.text, /src="(?!\/)|https?:\/\/(?!127\.0\.0\.1|localhost)/);
  for (const code of Object.keys(ERRORS)) assert.ok(page.text.includes(`id="error-${code}"`), code);
});

test("health, readiness and figures need no key", async () => {
  assert.deepEqual((await open("GET", "/healthz")).json, { status: "ok" });
  assert.equal((await open("GET", "/readyz")).json.status, "ready");
  await call("POST", "/encode", { body: { user_id: "figures", label: "USER.name", value: "x" } });
  await call("GET", "/context?user_id=figures");
  const { text } = await open("GET", "/metrics");
  for (const name of [
    "sideband_requests_total",
    "sideband_request_seconds_bucket",
    "sideband_commit_size_count",
    "sideband_block_tasks_total",
    "sideband_block_task_seconds_sum",
    "sideband_block_queue_depth",
    "sideband_write_queue_depth",
    "sideband_store_bytes",
    "sideband_store_facts",
    "sideband_heap_bytes",
    "sideband_event_loop_delay_seconds",
  ]) {
    assert.match(text, new RegExp(`^${name}`, "m"));
  }
  assert.match(text, /sideband_requests_total\{method="POST",route="\/encode",status="200"\} \d+/);
});

test("request ids: unique, or the caller's where harmless", async () => {
  const ids = await Promise.all(
    Array.from({ length: 5 }, async () => (await open("GET", "/healthz")).headers.get("x-request-id")),
  );
  assert.equal(new Set(ids).size, 5);
  assert.equal(
    (await open("GET", "/healthz", { headers: { "x-request-id": "trace-1.a_b" } })).headers.get(
      "x-request-id",
    ),
    "trace-1.a_b",
  );
  assert.notEqual(
    (await open("GET", "/healthz", { headers: { "x-request-id": "<script>" } })).headers.get("x-request-id"),
    "<script>",
  );
});

/** Sends bytes as they are; all that comes back. */
function raw(bytes: string | Buffer): Promise<string> {
  const { port } = new URL(running.url);
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(bytes));
    socket.setTimeout(30_000, () => socket.destroy());
    socket.on("data", (chunk) => {
      received += chunk;
      if (/\r\n\r\n/.test(received)) setTimeout(() => socket.destroy(), 50);
    });
    socket.on("close", () => resolve(received));
    socket.on("error", reject);
  });
}

test("what is not well-formed HTTP gets a clean 4xx problem", async () => {
  const cases: [string, number][] = [
    ["GET / HTTP/9.9\r\n\r\n", 400],
    ["nonsense\r\n\r\n", 400],
    ["GET /healthz HTTP/1.1\r\n\r\n", 400],
    [`GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    ["POST /encode HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400],
    [
      "POST /encode HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n",
      400,
    ],
    ["GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["GET /%c0%80 HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 405],
    ["PROPFIND /encode HTTP/1.1\r\nHost: a\r\n\r\n", 405],
    ["GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n", 400],
  ];
  for (const [bytes, status] of cases) {
    const answer = await raw(bytes);
    assert.match(
      answer,
      new RegExp(`^HTTP/1.1 ${status} `),
      `${bytes.slice(0, 60)} → ${answer.slice(0, 60)}`,
    );
    assert.match(answer, /application\/problem\+json/i, bytes.slice(0, 60));
  }
});
