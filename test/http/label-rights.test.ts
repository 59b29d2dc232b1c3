/**
 * Rights by label: a key or a token may be for writing some labels, and a label may be for the account's own key. Every
 * operation that writes facts is called for labels that its caller may write, and for others: those stay as they are.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Operation } from "../../src/contract/operation.ts";
import { OPERATIONS } from "../../src/contract/operations.ts";
import { fieldsOf } from "../fixtures/fields.ts";
import { problemCode, type Running, startPortless } from "./running-service.ts";

let running: Running;
let customer: { readonly token: string; readonly own: string };
before(async () => {
  running = await startPortless();
  const label = { label: "PLAN.tier", description: "What the customer pays for", writers: "account" };
  for (const body of [label, { label: "LANG.tone", description: "How to speak" }])
    assert.equal((await running.call("POST", "/channels", { body })).status, 201);
  for (const [label, value, project] of [
    ["PLAN.tier", "pro"],
    ["PLAN.tier", "free"],
    ["LANG.tone", "formal"],
    ["USER.name", "Ada"],
    ["LANG.list", "de; en"],
    ["USER.role", "countess"],
    ["PLAN.tier", "team", "loom"],
  ] as const) {
    const scope = project === undefined ? "person" : "project";
    const body = { user_id: "ada", label, value, new_label: true, project, scope };
    assert.equal((await running.call("POST", "/encode", { body })).status, 200);
  }
  const made = async (more: object) =>
    (
      await running.call("POST", "/tokens", {
        body: { user_id: "ada", access: "write", ttl_s: 600, ...more },
      })
    ).json.token;
  customer = { token: await made({ write: ["LANG.*", "PREF.tone"] }), own: await made({}) };
});
after(() => running?.end());

type Step = readonly [method: string, path: string, body?: object];

async function send([method, path, body]: Step, key: string) {
  return running.call(method, path, { key, ...(body === undefined ? {} : { body }) });
}

const facts = async () =>
  (await running.call("GET", "/users/export?user_id=ada")).text.replace(/"updated_at":"[^"]*"/g, "");

const of = (label: string, more: object = {}) => ({ user_id: "ada", label, ...more });

/** One of each operation that writes facts, all of a label that is not among those of the token. */
const REFUSED: Readonly<Record<string, readonly Step[]>> = {
  encode: [
    ["POST", "/encode", of("USER.name", { value: "x" })],
    ["POST", "/encode", of("PETS.dog", { value: "x", new_label: true })],
    ["POST", "/encode", of("USER.name", { value: "Ada", pinned: true })],
    ["POST", "/encode", of("USER.name", { value: "Ada", origin: "said" })],
  ],
  encodeBatch: [
    [
      "POST",
      "/encode/batch",
      {
        user_id: "ada",
        facts: [
          { label: "LANG.tone", value: "x" },
          { label: "USER.name", value: "x" },
        ],
      },
    ],
  ],
  append: [["POST", "/facts/append", of("USER.name", { item: "x" })]],
  remove: [["POST", "/facts/remove", of("USER.name", { item: "Ada" })]],
  restore: [["POST", "/facts/restore", of("PLAN.tier", { revision: 1 })]],
  rename: [
    ["POST", "/facts/rename", of("USER.name", { to: "LANG.name" })],
    ["POST", "/facts/rename", of("LANG.tone", { to: "PLAN.tone" })],
  ],
  forgetFact: [["DELETE", "/facts?user_id=ada&label=USER.name"]],
  forgetUser: [["DELETE", "/users?user_id=ada"]],
  rollback: [["POST", "/users/rollback", { user_id: "ada", to: "2020-01-01", partial: true }]],
  moveProject: [["POST", "/users/move", { user_id: "ada", from: "loom", to: "loom-2" }]],
};

test("every operation that writes facts refuses a label that its token may not write, and changes nothing", async () => {
  const writing = Object.entries(OPERATIONS as Record<string, Operation>)
    .filter(([, { writes, about }]) => writes && about === "user")
    .map(([id]) => id);
  assert.deepEqual(Object.keys(REFUSED).sort(), writing.sort());
  const before = await facts();
  for (const [id, steps] of Object.entries(REFUSED))
    for (const step of steps)
      assert.equal(problemCode(await send(step, customer.token)), "403 label_not_allowed", `${id} ${step}`);
  assert.equal(await facts(), before);
});

test("a label for the account's own key is written by no token and no bound key, in whatever way, and by that key", async () => {
  const before = await facts();
  const { keys } = running.service.core;
  const bound = (await keys.create({ account: "acme", tier: "unlimited", user: "ada" })).key;
  for (const key of [customer.own, bound])
    for (const step of [
      ["POST", "/encode", of("PLAN.tier", { value: "team" })],
      ["POST", "/encode/batch", { user_id: "ada", facts: [{ label: "PLAN.tier", value: "team" }] }],
      ["POST", "/facts/append", of("PLAN.tier", { item: "team" })],
      ["POST", "/facts/remove", of("PLAN.tier", { item: "free" })],
      ["POST", "/facts/restore", of("PLAN.tier", { revision: 1 })],
      ["POST", "/facts/rename", of("PLAN.tier", { to: "LANG.tier" })],
      ["POST", "/facts/rename", of("LANG.tone", { to: "PLAN.tier", merge: "append" })],
      ["DELETE", "/facts?user_id=ada&label=PLAN.tier"],
      ["DELETE", "/users?user_id=ada"],
      ["POST", "/users/rollback", { user_id: "ada", to: "2020-01-01", partial: true }],
      ["POST", "/users/move", { user_id: "ada", from: "loom", to: "loom-2" }],
    ] as const)
      assert.equal(problemCode(await send(step, key)), "403 label_not_allowed", JSON.stringify(step));
  assert.equal(await facts(), before);
  assert.equal((await send(["GET", "/decode?user_id=ada&label=PLAN.tier"], customer.own)).json.value, "free");
  const set = await send(["POST", "/encode", of("PLAN.tier", { value: "pro" })], running.key);
  assert.equal(set.status, 200);
});

test("an erasure that is refused takes no name out of what is shared, is not noted to be repeated, and is in no audit", async () => {
  const project = "shared-loom";
  const sharing = await running.call("PUT", `/projects/${project}`, {
    body: { shared: true, members: ["eve", "bo"] },
  });
  assert.equal(sharing.status, 200, sharing.text);
  for (const body of [
    { user_id: "eve", label: "PROJ.goal", value: "weave", project, session_id: "s1" },
    { user_id: "eve", label: "USER.name", value: "Eve" },
  ])
    assert.equal((await running.call("POST", "/encode", { body })).status, 200);
  const wanted = { user_id: "eve", access: "write", ttl_s: 600, write: ["PREF.*"] };
  const { token } = (await running.call("POST", "/tokens", { body: wanted })).json;
  const list = join(running.folder, "erasures.list");
  const state = async () => ({
    shared: (await running.call("GET", `/facts?user_id=bo&project=${project}&details=true`)).json.facts,
    own: (await running.call("GET", "/facts?user_id=eve")).text,
    noted: existsSync(list) ? readFileSync(list, "utf8") : "",
    audit: (await running.call("GET", "/audit?operation=forgetUser")).json.entries.length,
  });
  const before = await state();
  assert.deepEqual(fieldsOf(before.shared, "user_id"), ["eve"]);
  const erase = (key: string) => send(["DELETE", "/users?user_id=eve"], key);
  assert.equal(problemCode(await erase(token)), "403 label_not_allowed");
  assert.deepEqual(await state(), before);
  // With the account's own key there is all of it.
  assert.equal((await erase(running.key)).status, 200);
  const after = await state();
  assert.deepEqual(fieldsOf(after.shared, "user_id"), [undefined]);
  assert.ok(after.noted.length > before.noted.length);
  assert.equal(after.audit, before.audit + 1);
});

test("what a token may write it writes, and it reads everything", async () => {
  const { token } = customer;
  for (const step of [
    ["POST", "/encode", of("LANG.tone", { value: "warm" })],
    ["POST", "/encode", of("PREF.tone", { value: "warm" })],
    ["POST", "/encode", of("LANG.new", { value: "x", new_label: true })],
    ["POST", "/facts/append", of("LANG.list", { item: "fr" })],
    ["POST", "/facts/rename", of("LANG.new", { to: "LANG.newer" })],
    ["DELETE", "/facts?user_id=ada&label=LANG.newer"],
  ] as const) {
    const answer = await send(step, token);
    assert.equal(answer.status, 200, `${step} ${answer.text}`);
  }
  const { facts: seen } = (await send(["GET", "/facts?user_id=ada"], token)).json;
  assert.ok(seen.some(({ label }: { label: string }) => label === "USER.name"));
  assert.deepEqual((await send(["GET", "/usage"], token)).json.write, ["LANG.*", "PREF.tone"]);
  const { channels } = (await send(["GET", "/channels"], token)).json;
  const open = channels.filter((one: { read_only?: true }) => one.read_only !== true);
  assert.deepEqual(fieldsOf(open, "label"), ["PREF.tone", "LANG.tone"]);
});

test("a list of labels says what its own caller may write, whoever has asked before", async () => {
  const token = async (write?: readonly string[]) =>
    (
      await running.call("POST", "/tokens", {
        body: { user_id: "ada", access: "write", ttl_s: 600, write },
      })
    ).json.token;
  const lists: readonly [key: string, write: readonly string[] | undefined, count: number][] = [
    [customer.own, undefined, 41],
    [await token(["LANG.*"]), ["LANG.*"], 1],
    [running.key, undefined, 42],
    [await token(["PREF.*", "PLAN.tier"]), ["PLAN.tier", "PREF.*"], 10],
    [customer.own, undefined, 41],
  ];
  for (const [key, write, count] of lists) {
    const { json } = await send(["GET", "/channels"], key);
    assert.deepEqual(json.write, write);
    const open = json.channels.filter((one: { read_only?: true }) => one.read_only !== true);
    assert.equal(open.length, count, String(write));
  }
});

test("a key that may write some labels changes no label of the account, and its tokens may write no more than it", async () => {
  const { keys } = running.service.core;
  const { key } = await keys.create({ account: "acme", tier: "unlimited", write: ["LANG.*", "PREF.tone"] });
  const label = { label: "LANG.other", description: "x" };
  assert.equal(problemCode(await send(["POST", "/channels", label], key)), "403 label_not_allowed");
  const wanted = { user_id: "ada", access: "write", ttl_s: 600, write: ["LANG.tone", "USER.*"] };
  const { token } = (await send(["POST", "/tokens", wanted], key)).json;
  assert.equal((await send(["POST", "/encode", of("LANG.tone", { value: "y" })], token)).status, 200);
  for (const step of [
    ["POST", "/encode", of("USER.name", { value: "y" })],
    ["POST", "/encode", of("PREF.tone", { value: "y" })],
  ] as const)
    assert.equal(problemCode(await send(step, token)), "403 label_not_allowed");
  for (const write of [[], ["LANG"], ["lang.*"], ["*"], ["LANG.*", 7]])
    assert.equal(
      problemCode(await send(["POST", "/tokens", { ...wanted, write }], key)),
      "400 invalid_request",
    );
  // What a token would write that only reads says nothing.
  const reading = await send(["POST", "/tokens", { ...wanted, access: "read" }], key);
  assert.deepEqual([problemCode(reading), reading.json.param], ["400 invalid_request", "write"]);
});

test("what a rollback would change decides, not what the user has", async () => {
  const { token } = customer;
  const to = new Date(Date.now() + 1).toISOString();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await send(["POST", "/encode", of("LANG.tone", { value: "later" })], token);
  const mine = await send(["POST", "/users/rollback", { user_id: "ada", to }], token);
  assert.equal(mine.status, 200, mine.text);
  assert.deepEqual(fieldsOf(mine.json.changes, "label"), ["LANG.tone"]);
});

test("tools over MCP obey the same rights, and offer only what may be written", async () => {
  const { token } = customer;
  const mcp = async (method: string, params: object) => {
    const headers = { accept: "application/json, text/event-stream" };
    const body = { jsonrpc: "2.0", id: 1, method, params };
    const { text, json } = await running.call("POST", "/mcp", { key: token, body, headers });
    return json ?? JSON.parse(/data: (.*)/.exec(text)![1]);
  };
  const { tools } = (await mcp("tools/list", {})).result;
  const { description } = tools.find(({ name }: { name: string }) => name === "remember");
  assert.match(description, /LANG: tone/);
  assert.match(description, /One fact a label: only LANG\.\*, PREF\.tone can be written\. It replaces/);
  assert.doesNotMatch(description, /PLAN|deadline|PEOPLE/);
  const { result } = await mcp("tools/call", {
    name: "remember",
    arguments: { label: "PLAN.tier", value: "team" },
  });
  assert.match(result.content[0].text, /^label_not_allowed: /);
  const slip = await mcp("tools/call", {
    name: "remember",
    arguments: { label: "LANG.tone", value: "x", ttl: 60 },
  });
  assert.match(JSON.stringify(slip), /ttl is not known here: probably ttl_s was meant/);
});
