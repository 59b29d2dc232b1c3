/** The client against a scripted server: what it sends, what it retries, how it fails. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isSidebandError, label, Sideband, SidebandError } from "../../../src/sdk/index.ts";
import { closedPort, scriptedServer } from "./scripted-server.ts";

const OK = { status: "ok", label: "USER.name", value: "Ada", channel: 0, channel_count: 1 };
const problem = (status: number, code: string, extra: object = {}) => ({
  status,
  body: {
    type: "about:blank",
    title: "t",
    status,
    detail: `about ${code}`,
    code,
    request_id: "r1",
    ...extra,
  },
});

test("every call is sent as the interface documents it", async (t) => {
  const { url, seen } = await scriptedServer(t, () => ({ body: OK }));
  const client = new Sideband({ apiKey: "sb_live_x", baseUrl: `${url}//` });
  await client.encode("ü/1", "USER.name", "Ada", { sessionId: "s", idempotencyKey: "k" });
  await client.encodeBatch("u", [{ label: "USER.os", value: "Linux" }]);
  await client.context("u");
  await client.decode("ü/1", "USER.name");
  await client.decodeModel("u", "USER.name");
  await client.flush("u", { sessionId: "s" });
  await client.facts("u");
  await client.append("u", "PREF.tools", "vim");
  await client.remove("u", "PREF.tools", "vim");
  await client.history("u", "USER.name");
  await client.restore("u", "USER.name", 17);
  await client.changes("u", { since: new Date(0), limit: 2, cursor: "c&" });
  await client.rollback("u", "2026-11-15T18:00:00Z", { dryRun: true, partial: false });
  await client.moveProject("u", "loom-1", "loom-2");
  await client.users({ prefix: "a", limit: 3 });
  await client.addLabel("FAMILY.wife", { description: "her name", maxBytes: 40, scope: "person" });
  await client.changeLabel("USER.name", { hidden: true, ttlS: null });
  await client.token("u", { access: "read", ttlS: 60 });
  await client.forget("u", "USER.name");
  await client.forgetUser("u");
  await client.read("u", "[MEM]");
  await client.token("u", { access: "read", ttlS: 60 });
  await client.usage();
  await client.channels();
  const lines = seen.map(({ method, path, query, body }) => ({ method, path, query, body }));
  const user = { user_id: "u" };
  const vim = { label: "PREF.tools", item: "vim" };
  assert.deepEqual(lines, [
    {
      method: "POST",
      path: "/encode",
      query: {},
      body: { user_id: "ü/1", label: "USER.name", value: "Ada", session_id: "s", details: true },
    },
    {
      method: "POST",
      path: "/encode/batch",
      query: {},
      body: { ...user, facts: [{ label: "USER.os", value: "Linux" }], details: true },
    },
    { method: "GET", path: "/context", query: { ...user, details: "true" }, body: undefined },
    {
      method: "GET",
      path: "/decode",
      query: { user_id: "ü/1", label: "USER.name", details: "true" },
      body: undefined,
    },
    {
      method: "GET",
      path: "/decode/model",
      query: { ...user, label: "USER.name", details: "true" },
      body: undefined,
    },
    { method: "POST", path: "/flush", query: {}, body: { ...user, session_id: "s" } },
    { method: "GET", path: "/facts", query: user, body: undefined },
    { method: "POST", path: "/facts/append", query: {}, body: { ...user, ...vim, details: true } },
    { method: "POST", path: "/facts/remove", query: {}, body: { ...user, ...vim, details: true } },
    { method: "GET", path: "/facts/history", query: { ...user, label: "USER.name" }, body: undefined },
    {
      method: "POST",
      path: "/facts/restore",
      query: {},
      body: { ...user, label: "USER.name", revision: 17, details: true },
    },
    {
      method: "GET",
      path: "/users/history",
      query: { ...user, since: "1970-01-01T00:00:00.000Z", limit: "2", cursor: "c&" },
      body: undefined,
    },
    {
      method: "POST",
      path: "/users/rollback",
      query: {},
      body: { ...user, to: "2026-11-15T18:00:00Z", dry_run: true, partial: false },
    },
    { method: "POST", path: "/users/move", query: {}, body: { ...user, from: "loom-1", to: "loom-2" } },
    { method: "GET", path: "/users", query: { prefix: "a", limit: "3" }, body: undefined },
    {
      method: "POST",
      path: "/channels",
      query: {},
      body: { label: "FAMILY.wife", description: "her name", max_bytes: 40, scope: "person" },
    },
    { method: "PATCH", path: "/channels/USER.name", query: {}, body: { hidden: true, ttl_s: null } },
    { method: "POST", path: "/tokens", query: {}, body: { ...user, access: "read", ttl_s: 60 } },
    { method: "DELETE", path: "/facts", query: { ...user, label: "USER.name" }, body: undefined },
    { method: "DELETE", path: "/users", query: user, body: undefined },
    { method: "POST", path: "/read", query: {}, body: { ...user, block: "[MEM]" } },
    { method: "POST", path: "/tokens", query: {}, body: { ...user, access: "read", ttl_s: 60 } },
    { method: "GET", path: "/usage", query: {}, body: undefined },
    { method: "GET", path: "/channels", query: {}, body: undefined },
  ]);
  for (const { method, headers } of seen) {
    assert.equal(headers.authorization, "Bearer sb_live_x");
    assert.equal(
      headers["content-type"],
      method === "POST" || method === "PATCH" ? "application/json" : undefined,
    );
  }
  assert.equal(seen[0].headers["idempotency-key"], "k");
  assert.match(String(seen[1].headers["idempotency-key"]), /^[0-9a-f]{32}$/);
});

test("where, until when, by whom and instead of which fact are fields and headers, with the client's as default", async (t) => {
  const { url, seen } = await scriptedServer(t, () => ({ body: OK }));
  const client = new Sideband({ baseUrl: url, project: "loom", writtenBy: "tests" });
  await client.encode("u", "USER.name", "Ada", { ifRevision: 17, ttlS: 60, scope: "project" });
  await client.append("u", "USER.name", "Ada", { ifRevision: 0, writtenBy: "me", project: "mill/x" });
  await client.encodeBatch("u", [
    { label: "USER.os", value: "Linux", ifRevision: 3, expiresAt: new Date(1e12), scope: "person" },
  ]);
  await client.forget("u", "USER.os", { scope: "person", keepHistory: true, ifRevision: 4 });
  await client.context("u", { include: "index" });
  await client.read("u", "[MEM]", { project: "mill" });
  await client.rollback("u", new Date(1e12));
  const expiresAt = "2001-09-09T01:46:40.000Z";
  assert.deepEqual(
    seen.map(({ query, body }) => ({ ...query, ...(body as object) })),
    [
      {
        ...{ user_id: "u", project: "loom", written_by: "tests", label: "USER.name", value: "Ada" },
        ...{ scope: "project", ttl_s: 60, details: true },
      },
      { user_id: "u", project: "mill/x", written_by: "me", label: "USER.name", item: "Ada", details: true },
      {
        ...{ user_id: "u", project: "loom", written_by: "tests", details: true },
        facts: [{ label: "USER.os", value: "Linux", scope: "person", expires_at: expiresAt, if_revision: 3 }],
      },
      { user_id: "u", project: "loom", label: "USER.os", scope: "person", keep_history: "true" },
      { user_id: "u", project: "loom", include: "index", details: "true" },
      { user_id: "u", project: "mill", block: "[MEM]" },
      { user_id: "u", project: "loom", written_by: "tests", to: expiresAt },
    ],
  );
  assert.deepEqual(
    seen.map(({ headers }) => headers["if-match"] ?? headers["if-none-match"]),
    ['"17"', "*", undefined, '"4"', undefined, undefined, undefined],
  );
  const wrong = client.encode("u", "USER.name", "Ada", { expiresAt: new Date(Number.NaN) });
  await assert.rejects(wrong, RangeError);
});

test("a client without a key sends none", async (t) => {
  const { url, seen } = await scriptedServer(t, () => ({ body: { channels: [] } }));
  await new Sideband({ baseUrl: url }).channels();
  assert.equal(seen[0].headers.authorization, undefined);
});

test("demo calls carry no key", async (t) => {
  const { url, seen } = await scriptedServer(t, () => ({ body: OK }));
  const { demo } = new Sideband({ apiKey: "sb_live_x", baseUrl: url });
  await demo.encode("USER.name", "Ada");
  await demo.context();
  await demo.decode("USER.name");
  await demo.flush();
  await demo.reset();
  assert.deepEqual(
    seen.map(({ method, path, query, body }) => [`${method} ${path}`, query, body]),
    [
      ["POST /demo/encode", {}, { label: "USER.name", value: "Ada" }],
      ["GET /demo/context", {}, undefined],
      ["GET /demo/decode", { label: "USER.name" }, undefined],
      ["POST /demo/flush", {}, undefined],
      ["POST /demo/reset", {}, undefined],
    ],
  );
  for (const { headers } of seen) assert.equal(headers.authorization, undefined);
});

test("an error carries what the problem says", async (t) => {
  const extra = { param: "label", hint: "USER.name", upgrade_url: "https://x/up" };
  const { url } = await scriptedServer(t, () => problem(400, "unknown_label", extra));
  const error = await new Sideband({ baseUrl: url }).encode("u", label("name"), "x").catch((e) => e);
  assert.ok(error instanceof SidebandError && isSidebandError(error, "unknown_label"));
  const { message, status, requestId, param, hint, upgradeUrl } = error;
  assert.deepEqual(
    { message, status, requestId, param, hint, upgradeUrl },
    {
      message: "about unknown_label",
      status: 400,
      requestId: "r1",
      param: "label",
      hint: "USER.name",
      upgradeUrl: "https://x/up",
    },
  );
});

test("an answer that is not the service's is said to be so", async (t) => {
  const { url } = await scriptedServer(t, (_, count) =>
    count === 1
      ? { status: 404, headers: { "content-type": "text/html" }, body: "<html>" }
      : { headers: { "content-type": "text/html" }, body: count === 2 ? "<html>" : "null" },
  );
  const client = new Sideband({ baseUrl: url });
  for (const status of [404, 200, 200]) {
    await assert.rejects(client.usage(), { code: "unexpected_answer", status });
  }
});

test("a write is sent again with the same idempotency key after a lost connection and after 503", async (t) => {
  const { url, seen } = await scriptedServer(t, (_, count) =>
    count === 1 ? "drop" : count === 2 ? problem(503, "store_unavailable") : { body: OK },
  );
  const client = new Sideband({ baseUrl: url });
  for (const write of [
    () => client.encode("u", "USER.name", "Ada"),
    () => client.encodeBatch("u", [{ label: "USER.name", value: "Ada" }]),
    () => client.append("u", "USER.name", "Ada"),
    () => client.remove("u", "USER.name", "Ada"),
    () => client.restore("u", "USER.name", 1),
  ]) {
    assert.deepEqual(await write(), OK);
    const [key, ...others] = seen.map(({ headers }) => headers["idempotency-key"]);
    assert.match(String(key), /^[0-9a-f]{32}$/);
    assert.deepEqual(others, [key, key]);
    seen.length = 0;
  }
});

test("what is no replay is not sent again after a lost connection, and is after 503", async (t) => {
  const { url, seen } = await scriptedServer(t, (_, count) =>
    count === 1 ? "drop" : count === 2 ? problem(503, "store_unavailable") : { body: { status: "ok" } },
  );
  const client = new Sideband({ baseUrl: url });
  for (const call of [
    () => client.forgetUser("u"),
    () => client.forget("u", "USER.name"),
    () => client.rollback("u", "2026-11-15T18:00:00Z"),
    () => client.changeLabel("USER.name", { hidden: true }),
  ]) {
    await assert.rejects(call(), { code: "connection_failed" });
    assert.equal(seen.length, 1);
    await call();
    assert.equal(seen.length, 3);
    seen.length = 0;
  }
});

test("what changes nothing the second time is sent again after a lost connection", async (t) => {
  const { url, seen } = await scriptedServer(t, (_, count) => (count === 1 ? "drop" : { body: OK }));
  const client = new Sideband({ baseUrl: url });
  for (const call of [
    () => client.rollback("u", "2026-11-15T18:00:00Z", { dryRun: true }),
    () => client.addLabel("FAMILY.wife", { description: "her name" }),
    () => client.token("u", { access: "read", ttlS: 60 }),
    () => client.history("u", "USER.name"),
  ]) {
    await call();
    assert.equal(seen.length, 2);
    seen.length = 0;
  }
});

test("a read is sent again after what may pass, a delete only where it did nothing, and neither more often than allowed", async (t) => {
  t.mock.method(Math, "random", () => 0);
  for (const [status, code, isRefusal] of [
    [429, "rate_limited", true],
    [503, "overloaded", true],
    [503, "outcome_unknown", false],
    [409, "idempotency_in_flight", false],
    [502, undefined, false],
    [504, undefined, false],
  ] as const) {
    const answer = code === undefined ? { status, body: {} } : problem(status, code);
    let calls = 0;
    const client = new Sideband({
      baseUrl: "http://x",
      retries: 1,
      fetch: async () => {
        calls += 1;
        return new Response(JSON.stringify(answer.body), { status });
      },
    });
    const expected = { code: code ?? "unexpected_answer" };
    await assert.rejects(client.usage(), expected);
    assert.equal(calls, 2, `a read after ${status} ${code}`);
    await assert.rejects(client.forgetUser("u"), expected);
    assert.equal(calls, isRefusal ? 4 : 3, `a delete after ${status} ${code}`);
  }
});

test("a client tries three times unless told otherwise", async (t) => {
  t.mock.method(Math, "random", () => 0);
  const { url, seen } = await scriptedServer(t, () => problem(503, "overloaded"));
  await assert.rejects(new Sideband({ baseUrl: url }).usage(), { code: "overloaded" });
  assert.equal(seen.length, 3);
});

test("the longest pause doubles from 100 ms to 2 s", async (t) => {
  t.mock.method(Math, "random", () => 1);
  const later = setTimeout;
  const pausesMs: number[] = [];
  t.mock.method(globalThis, "setTimeout", (run: () => void, ms: number) => {
    if (ms > 2_000) return later(run, ms);
    pausesMs.push(ms);
    return later(run, 0);
  });
  const fetch = async () => new Response(JSON.stringify(problem(503, "overloaded").body), { status: 503 });
  const client = new Sideband({ baseUrl: "http://x", fetch, retries: 6, timeoutMs: 60_000 });
  await assert.rejects(client.usage(), { code: "overloaded" });
  assert.deepEqual(pausesMs, [100, 200, 400, 800, 1600, 2000]);
});

test("where memory is away the prompt stays as it is, and a flush that was not answered promises nothing", async (t) => {
  const { mock } = t.mock.method(console, "error", () => {});
  const client = new Sideband({ baseUrl: await closedPort(), retries: 0 });
  assert.equal(await client.inject("You are kind.", "u"), "You are kind.");
  const { error, ...compaction } = await client.beforeCompaction("u");
  const nothing = { flushed: false, lossless: false, block: "", section: "", overflow: [] };
  assert.deepEqual(compaction, nothing);
  assert.ok(isSidebandError(error, "connection_failed"));
  assert.match(String(mock.calls[0].arguments[0]), /^sideband: memory was not refreshed: cannot reach/);
});

test("before a compaction the context has no more time than the flush has left", {
  timeout: 10_000,
}, async (t) => {
  const flush = { lossless: true, fdm_block: "[MEM]", overflow: [] };
  const { url, seen } = await scriptedServer(t, ({ path }) => (path === "/flush" ? { body: flush } : "hang"));
  const client = new Sideband({ baseUrl: url, timeoutMs: 60_000, onWarning: () => {} });
  assert.equal((await client.beforeCompaction("u", { timeoutMs: 300 })).flushed, false);
  assert.deepEqual(
    seen.map(({ path }) => path),
    ["/flush", "/context"],
  );
});

test("what the caller got wrong, and a spent monthly limit, are not tried again", async (t) => {
  for (const [status, code] of [
    [400, "invalid_value"],
    [401, "invalid_key"],
    [404, "fact_not_found"],
    [429, "monthly_limit_exceeded"],
  ] as const) {
    const { url, seen } = await scriptedServer(t, () => problem(status, code));
    await assert.rejects(new Sideband({ baseUrl: url }).encode("u", "USER.name", "x"), { code });
    assert.equal(seen.length, 1, code);
  }
});

test("Retry-After is honoured where there is time for it, and ends the call where there is not", async (t) => {
  const { url, seen } = await scriptedServer(t, (_, count) =>
    count === 2 ? { body: OK } : { ...problem(429, "rate_limited"), headers: { "retry-after": "1" } },
  );
  const client = new Sideband({ baseUrl: url });
  const startMs = performance.now();
  await client.encode("u", "USER.name", "Ada");
  assert.ok(performance.now() - startMs >= 990);
  await assert.rejects(client.encode("u", "USER.name", "Ada", { timeoutMs: 500 }), {
    code: "rate_limited",
    retryAfterMs: 1000,
  });
  assert.equal(seen.length, 3);
});

test("a call that is not answered ends after its time-out", async (t) => {
  const { url } = await scriptedServer(t, () => "hang");
  await assert.rejects(new Sideband({ baseUrl: url, timeoutMs: 150 }).context("u"), {
    code: "timeout",
    status: 0,
    message: "no answer within 150 ms",
  });
});

test("a closed port is a failed connection, after the retries", async () => {
  const baseUrl = await closedPort();
  await assert.rejects(new Sideband({ baseUrl, retries: 1 }).usage(), { code: "connection_failed" });
});

test("an aborted call throws the signal's reason, before and while it runs and while it pauses", async (t) => {
  const { url } = await scriptedServer(t, ({ path }) =>
    path === "/context" ? "hang" : { ...problem(503, "overloaded"), headers: { "retry-after": "5" } },
  );
  const client = new Sideband({ baseUrl: url });
  const reason = new Error("enough");
  await assert.rejects(client.context("u", { signal: AbortSignal.abort(reason) }), reason);
  for (const call of [client.context.bind(client), client.facts.bind(client)]) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 50);
    await assert.rejects(call("u", { signal: controller.signal }), reason);
  }
});

test("address and key come from the environment where they are not given, and a given one wins", async (t) => {
  const { url, seen } = await scriptedServer(t, () => ({ body: { channels: [] } }));
  for (const [name, value] of [
    ["SIDEBAND_API_URL", `${url}/`],
    ["SIDEBAND_API_KEY", "sb_live_environment"],
  ]) {
    const before = process.env[name];
    process.env[name] = value;
    t.after(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
  await new Sideband().usage();
  await new Sideband({ apiKey: "sb_live_given" }).usage();
  assert.deepEqual(
    seen.map(({ headers }) => headers.authorization),
    ["Bearer sb_live_environment", "Bearer sb_live_given"],
  );
  process.env.SIDEBAND_API_URL = "";
  await assert.rejects(new Sideband({ retries: 0, timeoutMs: 50 }).usage());
  // A browser has no environment.
  const { process: own } = globalThis;
  t.after(() => Object.assign(globalThis, { process: own }));
  Object.assign(globalThis, { process: undefined });
  assert.ok(new Sideband({ baseUrl: url }));
  Object.assign(globalThis, { process: own });
});
