/** Labels of an account's own over HTTP: what they ask, who added them, their removal, and their list. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, rowsOf } from "../fixtures/fields.ts";
import { memoryService, ok } from "./memory-calls.ts";
import { problemCode } from "./running-service.ts";

const START = Date.UTC(2026, 10, 30, 23, 59, 50);
const memory = memoryService(START);
const { clock, post, get, encode } = memory;

const factsOf = async (user_id: string, project?: string) => {
  const { json } = await get("/facts", { user_id, ...(project === undefined ? {} : { project }) });
  return json.facts.map(({ label, value }: { label: string; value: string }) => `${label}=${value}`);
};

test("an account adds labels of its own, and what they ask of values holds", async () => {
  const add = (body: object) => post("/channels", body);
  const wife = { label: "FAMILY.wife", description: "What the user's wife is called" };
  const added = await add(wife);
  assert.deepEqual([added.status, added.json.channel, added.json.own], [201, 40, true]);
  assert.equal((await add(wife)).status, 200);
  assert.equal((await add({ ...wife, scope: "person" })).status, 200, "as it is without a scope");
  assert.equal(problemCode(await add({ ...wife, description: "another" })), "409 label_exists");
  assert.equal(problemCode(await add({ label: "USER.name", description: "x" })), "409 label_exists");
  for (const label of ["family.wife", "FAMILY", "FAMILY.Wife", "1A.b", `A.${"x".repeat(49)}`, "A B.c"])
    assert.equal(problemCode(await add({ label, description: "x" })), "400 invalid_request");
  // In every tool list of the account: what cannot be seen is refused, with one line.
  for (const hidden of ["\u202e", "\u{e0041}", "\u200b", "\u001b[2J"])
    for (const terms of [{ description: hidden }, { example: hidden }, { one_of: ["a", hidden] }]) {
      const answer = await add({ label: "FAMILY.dog", description: "x", ...terms });
      assert.equal(problemCode(answer), "400 invalid_request");
      assert.deepEqual(
        [answer.json.param, /^[ -~]+$/.test(answer.json.detail)],
        [Object.keys(terms)[0], true],
      );
      const changed = await memory.running.call("PATCH", "/channels/FAMILY.wife", { body: terms });
      assert.equal(problemCode(changed), "400 invalid_request");
    }
  const size = {
    label: "USER.size",
    description: "Shirt size",
    one_of: ["S", "M", "L"],
    ttl_s: 60,
    scope: "project",
  };
  assert.equal((await add(size)).status, 201);
  const wrong = await encode("own", "USER.size", "XL");
  assert.equal(problemCode(wrong), "400 invalid_value");
  assert.match(wrong.json.detail, /"S", "M", "L"/);
  const written = ok(await encode("own", "USER.size", "M", { details: true }));
  assert.equal(written.expires_at, new Date(clock.ms + 60_000).toISOString());
  ok(await encode("own", "FAMILY.wife", "Chidi"));
  assert.deepEqual(await factsOf("own"), ["FAMILY.wife=Chidi", "USER.size=M"]);
  const context = ok(await get("/context", { user_id: "own" }));
  assert.equal(context.plain_index, "FAMILY.wife=Chidi\nUSER.size=M");
  const { facts } = ok(await post("/read", { user_id: "own", block: `text ${context.fdm_block} text` }));
  assert.deepEqual(rowsOf(facts, "label", "value", "mark"), [
    ["FAMILY.wife", "Chidi", "current"],
    ["USER.size", "M", "current"],
  ]);
  const other = await memory.running.newKey("stranger");
  const foreign = await memory.running.call("POST", "/encode", {
    key: other,
    body: { user_id: "own", label: "FAMILY.wife", value: "x" },
  });
  assert.equal(problemCode(foreign), "400 unknown_label");
  assert.match(foreign.json.detail, /POST \/channels adds one/);
  const patch = (label: string, body: object) => memory.running.call("PATCH", `/channels/${label}`, { body });
  assert.equal(ok(await patch("USER.size", { one_of: ["S", "XL"], ttl_s: null })).ttl_s, undefined);
  ok(await encode("own", "USER.size", "XL"));
  assert.equal(ok(await patch("USER.gpu", { hidden: true })).hidden, true);
  assert.equal(problemCode(await patch("USER.gpu", { description: "x" })), "400 invalid_request");
  assert.equal(problemCode(await patch("NO.such", { hidden: true })), "400 unknown_label");
  const { channels, free } = ok(await memory.running.call("GET", "/channels"));
  assert.deepEqual([channels.length, free], [42, 214]);
  assert.ok(channels.find(({ label }: { label: string }) => label === "USER.gpu").hidden);
});

test("a label says who added it, to keys of the whole account, and is removed when nothing has it", async () => {
  const label = "GARDEN.tree";
  const tree = { label, description: "What stands there", written_by: "codex" };
  const added = await post("/channels", tree);
  const origin = { created_at: new Date(clock.ms).toISOString(), created_by: "codex" };
  const { created_at, created_by, created_key } = added.json;
  assert.deepEqual({ created_at, created_by }, origin);
  assert.equal(created_key, memory.running.key.slice(0, 12));
  const treeOf = async (key = memory.running.key) =>
    ok(await memory.running.call("GET", "/channels", { key })).channels.find(
      (one: { label: string }) => one.label === label,
    );
  assert.deepEqual(await treeOf(), added.json);
  const { token } = ok(await post("/tokens", { user_id: "own", access: "read", ttl_s: 60 }));
  assert.deepEqual(
    Object.keys(await treeOf(token)).filter((name) => name.startsWith("created_")),
    [],
  );
  const remove = (path = label, key = memory.running.key) =>
    memory.running.call("DELETE", `/channels/${path}`, { key });
  ok(await encode("gardener", label, "a pear"));
  assert.equal(problemCode(await remove()), "409 label_in_use");
  assert.equal(problemCode(await remove(label, token)), "403 read_only_key");
  ok(await memory.running.call("DELETE", `/facts?user_id=gardener&label=${label}`));
  assert.deepEqual(ok(await remove()), { status: "ok" });
  assert.equal(await treeOf(), undefined);
  assert.equal(problemCode(await remove()), "404 not_found");
  assert.equal(problemCode(await remove("USER.name")), "400 invalid_request");
  assert.equal(problemCode(await encode("gardener", label, "a pear")), "400 unknown_label");
  const logged = memory.running.logs.map((line) => JSON.parse(line)).filter((line) => line.label === label);
  assert.deepEqual(rowsOf(logged, "msg", "written_by"), [
    ["label added", "codex"],
    ["label removed", undefined],
  ]);
});

test("a set is listed without a key, and adds the labels that the account does not have", async () => {
  const { sets } = ok(await memory.running.call("GET", "/channels/sets", { key: null }));
  assert.deepEqual(fieldsOf(sets, "set"), ["personal", "support", "team", "research"]);
  const labelsOf = (labels: { label: string }[]) => labels.map(({ label }) => label);
  const [{ labels: personal }] = sets;
  const key = await memory.running.newKey("with-sets");
  const call = (method: string, path: string, body?: object) =>
    memory.running.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  const own = async () =>
    ok(await call("GET", "/channels")).channels.filter((channel: { own: boolean }) => channel.own);
  const diet = { label: "HEALTH.diet", description: "As it was." };
  ok(await call("POST", "/channels", diet));
  ok(await call("POST", "/channels", { label: "HOME.address", description: "Removed before." }));
  ok(await call("DELETE", "/channels/HOME.address"));
  const { added } = ok(await call("POST", "/channels/sets", { set: "personal", written_by: "tests" }));
  const missing = personal.filter(({ label }: { label: string }) => label !== diet.label);
  assert.deepEqual(labelsOf(added), labelsOf(missing));
  const texts = ({ label, description, example, scope }: Record<string, string>) => [
    ...[label, description],
    ...[example, scope],
  ];
  assert.deepEqual(added.map(texts), missing.map(texts));
  assert.deepEqual(new Set(added.map(({ created_by }: Record<string, string>) => created_by)).size, 1);
  const kept = (await own()).find(({ label }: { label: string }) => label === diet.label);
  assert.equal(kept.description, diet.description);
  assert.deepEqual(ok(await call("POST", "/channels/sets", { set: "personal" })).added, []);
  const unknown = await call("POST", "/channels/sets", { set: "pets" });
  assert.deepEqual([problemCode(unknown), unknown.json.param], ["400 invalid_request", "set"]);
  const { token } = ok(await call("POST", "/tokens", { user_id: "ada", access: "write", ttl_s: 60 }));
  const bound = await memory.running.call("POST", "/channels/sets", { key: token, body: { set: "team" } });
  assert.equal(problemCode(bound), "403 user_not_allowed");
  // No room for all: none is added.
  const { free } = ok(await call("GET", "/channels"));
  for (let i = 0; i < free - 3; i++)
    ok(await call("POST", "/channels", { label: `MORE.label_${i}`, description: "x" }));
  const count = (await own()).length;
  assert.equal(problemCode(await call("POST", "/channels/sets", { set: "team" })), "409 labels_full");
  assert.equal((await own()).length, count);
});

test("a label's scope cannot be changed", async () => {
  ok(await post("/channels", { label: "GARDEN.bush", description: "x", scope: "project" }));
  const refused = await memory.running.call("PATCH", "/channels/GARDEN.bush", { body: { scope: "person" } });
  assert.deepEqual([problemCode(refused), refused.json.param], ["400 invalid_request", "scope"]);
  assert.match(refused.json.detail, /scope cannot be changed/);
});

test("the labels of an account are turned into an answer once for each version", async (context) => {
  const listed = async () => ok(await memory.running.call("GET", "/channels"));
  await listed();
  const made = context.mock.method(JSON, "stringify");
  const texts = () =>
    made.mock.calls.filter(
      ({ arguments: [value] }) => (value as { free?: number } | undefined)?.free !== undefined,
    );
  for (let i = 0; i < 5; i++) await listed();
  assert.equal(texts().length, 0);
  ok(await post("/channels", { label: "GARDEN.wall", description: "x" }));
  for (let i = 0; i < 5; i++) await listed();
  assert.equal(texts().length, 1);
});
