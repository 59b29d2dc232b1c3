/** /mcp with a bound key, a reading key and a token: one user, and no tool that writes where the key only reads. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { MEMORY_TOOLS } from "../../src/agent-side/memory-tools.ts";
import { memoryUri } from "../../src/mcp/memory-server.ts";
import type { KeyAccess } from "../../src/memory/records.ts";
import { problemCode, type Running, startRunning } from "../http/running-service.ts";

const REVISION = "2025-11-25";
let running: Running;
before(async () => {
  running = await startRunning({ SIDEBAND_BLOCK_WORKERS: "1" });
  for (const user of ["ada", "bob"])
    await running.call("POST", "/encode", {
      body: { user_id: user, label: "USER.name", value: `secret of ${user}` },
    });
});
after(() => running?.end());

const newKey = async (user: string | null, access: KeyAccess) =>
  (await running.service.core.keys.create({ account: "acme", tier: "unlimited", user, access })).key;

async function newToken(user_id: string, access: KeyAccess): Promise<string> {
  const body = { user_id, access, ttl_s: 60 };
  return (await running.call("POST", "/tokens", { body })).json.token;
}

function post(key: string, method: string, params: object, { session = "", query = "" } = {}) {
  const headers = {
    accept: "application/json, text/event-stream",
    ...(session === "" ? {} : { "mcp-session-id": session }),
  };
  const body = { jsonrpc: "2.0", id: 1, method, params };
  return running.call("POST", `/mcp${query}`, { key, headers, body });
}

async function newSession(key: string): Promise<string> {
  const params = { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: "t", version: "1" } };
  return (await post(key, "initialize", params)).headers.get("mcp-session-id") ?? "";
}

const ARGUMENTS: Readonly<Record<string, object>> = {
  remember: { label: "USER.role", value: "engineer" },
  recall: { label: "USER.name" },
  find: { query: "secret", everywhere: true },
  forget: { label: "USER.name" },
  history: { label: "USER.name" },
  add_label: { label: "USER.shoe_size", description: "The size of shoes." },
  read_block: { block: "[MEM] x [/MEM]" },
};

test("every tool: the user of a bound key is fixed, whatever a call says, and a reading key has no tool that writes", async () => {
  const before = (await running.call("GET", "/facts?user_id=ada")).text;
  for (const access of ["write", "read"] as const)
    for (const key of [await newKey("bob", access), await newToken("bob", access)]) {
      // With the block, so that its tools are offered too.
      const whole = { query: "?include=both" };
      const listed = (await post(key, "tools/list", {}, whole)).text;
      for (const { name, annotations } of MEMORY_TOOLS) {
        const writes = access === "write" && name !== "add_label";
        const isOffered = writes || annotations.readOnlyHint || name === "history";
        assert.equal(listed.includes(`"name":"${name}"`), isOffered, `${name} with a key that may ${access}`);
        const args = { ...ARGUMENTS[name], user_id: "ada" };
        const { text } = await post(key, "tools/call", { name, arguments: args }, whole);
        assert.ok(!text.includes("secret of ada"), name);
        if (!isOffered) assert.match(text, /"error"|"isError":true/, name);
      }
    }
  assert.equal((await running.call("GET", "/facts?user_id=ada")).text, before);
});

test("a reading key lists the history of a fact, and can neither restore nor rename it", async () => {
  const key = await newKey("ada", "read");
  const listed = /^data: (.*)$/m.exec((await post(key, "tools/list", {})).text)!;
  const { tools } = JSON.parse(listed[1]).result;
  const history = tools.find(({ name }: { name: string }) => name === "history");
  assert.deepEqual(Object.keys(history.inputSchema.properties), ["label"]);
  assert.deepEqual(
    [history.annotations.readOnlyHint, /restore|rename/.test(history.description)],
    [true, false],
  );
  const call = async (more?: object) =>
    (await post(key, "tools/call", { name: "history", arguments: { label: "USER.name", ...more } })).text;
  assert.match(await call(), /secret of ada/);
  const before = (await running.call("GET", "/facts?user_id=ada")).text;
  for (const more of [{ restore: 1 }, { rename_to: "PEOPLE.ada" }])
    assert.match(await call(more), /"isError":true|"error"/);
  assert.equal((await running.call("GET", "/facts?user_id=ada")).text, before);
});

test("a reading key that is not bound has no tool that writes", async () => {
  const key = await newKey(null, "read");
  const args = { user_id: "ada", label: "USER.role", value: "engineer" };
  assert.match((await post(key, "tools/call", { name: "remember", arguments: args })).text, /"error"/);
  assert.equal((await running.call("GET", "/decode?user_id=ada&label=USER.role")).status, 404);
  const read = await post(key, "tools/call", {
    name: "recall",
    arguments: { user_id: "ada", label: "USER.name" },
  });
  assert.match(read.text, /secret of ada/);
});

test("/mcp?user_id= of another user is refused, and the resources and the prompt are those of the key's user", async () => {
  for (const key of [await newKey("bob", "write"), await newToken("bob", "read")]) {
    const other = await post(key, "tools/list", {}, { query: "?user_id=ada" });
    assert.equal(problemCode(other), "403 user_not_allowed");
    for (const uri of [memoryUri("ada"), "sideband://memory/%61da", "sideband://memory/bob/../ada"]) {
      const { text } = await post(key, "resources/read", { uri });
      assert.match(text, /"error"/, uri);
      assert.ok(!text.includes("secret of ada"));
    }
    assert.match((await post(key, "resources/read", { uri: memoryUri("bob") })).text, /secret of bob/);
    const prompt = await post(key, "prompts/get", { name: "context", arguments: { user_id: "ada" } });
    assert.ok(!prompt.text.includes("secret of ada"));
  }
});

test("a bound key subscribes to its user's memory alone, and has no part in the session of another key", async () => {
  const key = await newKey("bob", "read");
  const session = await newSession(key);
  assert.match(
    (await post(key, "resources/subscribe", { uri: memoryUri("bob") }, { session })).text,
    /"result"/,
  );
  assert.match(
    (await post(key, "resources/subscribe", { uri: memoryUri("ada") }, { session })).text,
    /the memory of another user/,
  );
  const ofAll = await newSession(running.key);
  assert.match(
    (await post(running.key, "resources/subscribe", { uri: memoryUri("ada") }, { session: ofAll })).text,
    /"result"/,
  );
  const headers = { accept: "text/event-stream", "mcp-session-id": ofAll };
  const stream = await running.call("GET", "/mcp", { key, headers });
  assert.deepEqual([stream.status, /Session not found/.test(stream.text)], [404, true]);
});
