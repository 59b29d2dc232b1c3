/** Groups of labels on keys, tokens and requests: what they show, what they refuse, and what is told of changes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf } from "../fixtures/fields.ts";
import { listenTo } from "./event-stream.ts";
import { problemCode, type Running, sharedRunning } from "./running-service.ts";

const running = sharedRunning();

const call: Running["call"] = (...args) => running.call(...args);

async function newKey(groups: string, user: string | null = null): Promise<string> {
  const wanted = { account: "acme", tier: "unlimited", groups, user } as const;
  return (await running.service.core.keys.create(wanted)).key;
}

async function encode(user_id: string, label: string, value: string, key = running.key, more: object = {}) {
  const body = { user_id, label, value, new_label: "certain", ...more };
  return call("POST", "/encode", { key, body });
}

async function labelsOf(path: string, key = running.key): Promise<string[]> {
  const { status, json, text } = await call("GET", path, { key });
  assert.equal(status, 200, text);
  return json.channel_labels ?? json.facts.map(({ label }: { label: string }) => label);
}

test("context, facts and find take groups, named or left out, within those of the key", async () => {
  for (const label of ["USER.name", "PREF.tone", "HEALTH.allergy", "HOME.box"])
    await encode("asks", label, "kind");
  const key = await newKey("-HOME");
  for (const [groups, whole, limited] of [
    ["USER,PREF", ["USER.name", "PREF.tone"], ["USER.name", "PREF.tone"]],
    ["-HEALTH,-HOME", ["USER.name", "PREF.tone"], ["USER.name", "PREF.tone"]],
    ["HEALTH, HOME", ["HEALTH.allergy", "HOME.box"], ["HEALTH.allergy"]],
    ["HOME", ["HOME.box"], []],
    ["-USER", ["PREF.tone", "HEALTH.allergy", "HOME.box"], ["PREF.tone", "HEALTH.allergy"]],
  ] as const) {
    for (const path of ["/context", "/facts", "/facts/find"]) {
      const search = new URLSearchParams({
        user_id: "asks",
        groups,
        ...(path.endsWith("find") && { q: "kind" }),
      });
      assert.deepEqual((await labelsOf(`${path}?${search}`)).sort(), [...whole].sort(), `${path} ${groups}`);
      assert.deepEqual((await labelsOf(`${path}?${search}`, key)).sort(), [...limited].sort(), path);
    }
  }
  for (const groups of ["USER,-HEALTH", "", "user", "USER,,PREF", "-", Array(33).fill("A").join(",")]) {
    const refused = await call("GET", `/facts?user_id=asks&groups=${groups}`);
    assert.deepEqual([problemCode(refused), refused.json.param], ["400 invalid_request", "groups"], groups);
  }
});

test("a key for some groups writes in them alone, and nothing that concerns all groups", async () => {
  const key = await newKey("-HEALTH");
  await encode("writes", "HEALTH.allergy", "nuts");
  await encode("writes", "USER.name", "Ada");
  const named = { user_id: "writes", label: "HEALTH.allergy" };
  const refused: [string, string, object?][] = [
    ["POST", "/encode", { ...named, value: "none" }],
    ["POST", "/encode", { ...named, label: "HEALTH.never_written", value: "x", new_label: true }],
    ["POST", "/encode/batch", { user_id: "writes", facts: [{ label: "HEALTH.allergy", value: "none" }] }],
    ["POST", "/facts/append", { ...named, item: "figs" }],
    ["POST", "/facts/remove", { ...named, item: "nuts" }],
    ["POST", "/facts/restore", { ...named, revision: 1 }],
    ["POST", "/facts/rename", { ...named, to: "USER.allergy" }],
    ["POST", "/facts/rename", { user_id: "writes", label: "USER.name", to: "HEALTH.name" }],
    ["DELETE", "/facts?user_id=writes&label=HEALTH.allergy"],
    ["DELETE", "/users?user_id=writes"],
    ["DELETE", "/users?user_id=writes&project=loom"],
    ["POST", "/users/move", { user_id: "writes", from: "a", to: "b" }],
    ["POST", "/channels", { label: "DESK.lamp", description: "x" }],
    ["POST", "/channels/sets", { set: "team" }],
    ["PATCH", "/channels", { strict: true }],
    ["PATCH", "/channels/USER.name", { hidden: true }],
    ["DELETE", "/channels/HEALTH.allergy"],
  ];
  for (const [method, path, body] of refused) {
    const answer = await call(method, path, { key, ...(body === undefined ? {} : { body }) });
    assert.equal(problemCode(answer), "403 group_not_allowed", `${method} ${path}`);
  }
  assert.equal((await encode("writes", "USER.name", "Grace", key)).json.channel_count, 1);
  assert.deepEqual(await labelsOf("/facts?user_id=writes"), ["USER.name", "HEALTH.allergy"]);
});

test("a count that is given again is the one of the first answer, and a token's request is not another's", async () => {
  await encode("repeats", "HEALTH.allergy", "nuts");
  const key = await newKey("-HEALTH");
  const token = async (groups?: string) => {
    const body = { user_id: "repeats", access: "write", ttl_s: 60, ...(groups && { groups }) };
    return (await call("POST", "/tokens", { body })).json.token as string;
  };
  const headers = { "idempotency-key": "once" };
  const send = async (bearer: string) => {
    const body = { user_id: "repeats", label: "USER.name", value: "Ada" };
    const { json, headers: told } = await call("POST", "/encode", { key: bearer, body, headers });
    return [json.channel_count, told.get("idempotency-replayed")];
  };
  assert.deepEqual(await send(key), [1, null]);
  await encode("repeats", "PREF.tone", "dry");
  assert.deepEqual(await send(key), [1, "true"]);
  assert.deepEqual(await send(await token()), [3, null]);
  assert.deepEqual(await send(await token("-HEALTH")), [2, null]);
  assert.deepEqual(await send(await token("USER")), [1, null]);
});

test("a token has the groups that it was made for, of those of its key", async () => {
  for (const label of ["USER.name", "PREF.tone", "HEALTH.allergy"]) await encode("holder", label, "x");
  const key = await newKey("-HEALTH", "holder");
  const body = { user_id: "holder", access: "read", ttl_s: 60 };
  const seen = async (more: object, by = key) => {
    const { token } = (await call("POST", "/tokens", { key: by, body: { ...body, ...more } })).json;
    const { groups } = (await call("GET", "/usage", { key: token })).json;
    return [groups, ...(await labelsOf("/facts", token))];
  };
  assert.deepEqual(await seen({}), ["-HEALTH", "USER.name", "PREF.tone"]);
  assert.deepEqual(await seen({ groups: "HEALTH,PREF" }), ["PREF", "PREF.tone"]);
  assert.deepEqual(await seen({ groups: "HEALTH" }, running.key), ["HEALTH", "HEALTH.allergy"]);
  const wrong = await call("POST", "/tokens", { key, body: { ...body, groups: "health" } });
  assert.equal(problemCode(wrong), "400 invalid_request");
});

test("a rollback by a key for some groups puts back what it sees, and nothing else", async () => {
  await encode("back", "USER.name", "Ada");
  await encode("back", "HEALTH.allergy", "nuts");
  await encode("back", "HEALTH.moved", "hidden");
  const { facts: first } = (await call("GET", "/facts?user_id=back&groups=HEALTH")).json;
  const to = first
    .map(({ updated_at: at }: { updated_at: string }) => at)
    .sort()
    .at(-1);
  await new Promise((resolve) => setTimeout(resolve, 2));
  await encode("back", "USER.name", "Grace");
  await encode("back", "HEALTH.allergy", "none");
  const rename = { user_id: "back", label: "HEALTH.moved", to: "DESK.moved" };
  assert.equal((await call("POST", "/facts/rename", { body: rename })).status, 200);
  const body = { user_id: "back", to };
  const { json } = await call("POST", "/users/rollback", { key: await newKey("-HEALTH"), body });
  const { at, ...answer } = json;
  assert.ok(Date.parse(at) > Date.parse(to));
  assert.deepEqual(answer, {
    status: "ok",
    changes: [
      { label: "USER.name", from: "Grace", to: "Ada" },
      { label: "DESK.moved", from: "hidden", to: null },
    ],
    unreached: [],
  });
  const { facts } = (await call("GET", "/facts?user_id=back")).json;
  const values = facts.map(({ label, value }: { label: string; value: string }) => `${label}=${value}`);
  assert.deepEqual(values, ["USER.name=Ada", "HEALTH.allergy=none"]);
});

test("listeners hear of the groups that they see, of their key and of their request", async () => {
  const key = await newKey("-HEALTH");
  const listeners = await Promise.all([
    listenTo(running.url, "?user_id=heard", running.key),
    listenTo(running.url, "?user_id=heard", key),
    listenTo(running.url, "?user_id=heard&groups=HEALTH", running.key),
  ]);
  for (const label of ["HEALTH.allergy", "USER.name", "HEALTH.blood", "PREF.tone"])
    await encode("heard", label, "x");
  const heard = await Promise.all([4, 2, 2].map(async (count, i) => listeners[i].until(count)));
  assert.deepEqual(
    heard.map((events) => events.map(({ label }) => label)),
    [
      ["HEALTH.allergy", "USER.name", "HEALTH.blood", "PREF.tone"],
      ["USER.name", "PREF.tone"],
      ["HEALTH.allergy", "HEALTH.blood"],
    ],
  );
  // Who comes back goes on with what it sees.
  const again = await listenTo(running.url, "?user_id=heard", key, { "last-event-id": heard[0][0].id });
  assert.deepEqual(fieldsOf(await again.until(2), "label"), ["USER.name", "PREF.tone"]);
  await Promise.all([...listeners, again].map((listener) => listener.end()));
});

test("blocks of one state are made for each that sees other groups, and none gets another's", async () => {
  for (const label of ["USER.name", "HEALTH.allergy"]) await encode("sealed", label, "kind");
  const keys = [running.key, await newKey("-HEALTH"), await newKey("HEALTH")];
  const expected = [["USER.name", "HEALTH.allergy"], ["USER.name"], ["HEALTH.allergy"]];
  const blocks = await Promise.all(
    [0, 1, 2, 0, 1, 2].map(async (i) => {
      const body = { user_id: "sealed" };
      const flushed = (await call("POST", "/flush", { key: keys[i], body })).json;
      const context = await call("GET", "/context?user_id=sealed", { key: keys[i] });
      assert.equal(flushed.channel_count, expected[i].length);
      assert.deepEqual(context.json.channel_labels, expected[i]);
      assert.equal(context.json.fdm_block, flushed.fdm_block);
      const headers = { "if-none-match": context.headers.get("etag")! };
      for (const [j, other] of keys.entries())
        assert.equal(
          (await call("GET", "/context?user_id=sealed", { key: other, headers })).status,
          j === i ? 304 : 200,
        );
      const read = await call("POST", "/read", { body: { user_id: "sealed", block: flushed.fdm_block } });
      assert.deepEqual(fieldsOf(read.json.facts, "label"), expected[i]);
      return flushed.fdm_block as string;
    }),
  );
  assert.deepEqual(blocks.slice(0, 3), blocks.slice(3));
});

test("an MCP client with a key for some groups finds nothing outside in tools and resources", async () => {
  await encode("agent", "USER.name", "Ada");
  await encode("agent", "HEALTH.allergy", "nutshell");
  const ask = async (key: string, method: string, params: object) => {
    const headers = { accept: "application/json, text/event-stream" };
    const body = { jsonrpc: "2.0", id: 1, method, params };
    return (await call("POST", "/mcp?user_id=agent", { key, body, headers })).text;
  };
  const find = { name: "find", arguments: { query: "allergy nutshell" } };
  const calls = [
    ["tools/call", find],
    ["resources/read", { uri: "sideband://memory/agent" }],
    ["resources/list", {}],
    ["prompts/list", {}],
    ["tools/list", {}],
  ] as const;
  assert.match(await ask(running.key, ...calls[0]), /nutshell/);
  const key = await newKey("-HEALTH");
  for (const [method, params] of calls)
    assert.doesNotMatch(await ask(key, method, params), /nutshell|HEALTH|allergy"?=/, method);
});
