/** What pages show of a whole user or account: the export, how full the block is, and the operator's lists. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { ANSWER_BYTES_MAX } from "../../src/http/request/long-answers.ts";
import { lineImporter } from "../../src/memory/transfer.ts";
import { rowsOf } from "../fixtures/fields.ts";
import { o200kCounter } from "../fixtures/o200k.ts";
import { problemCode, sharedRunning, startPortless } from "./running-service.ts";

const PAST = { revision: 1, ordinal: 1, updatedAtMs: 1, sinceMs: 1, writtenBy: null, sessionId: null };
const ADMIN_TOKEN = "admin-token-for-tests";
const PROJECT = "loom-3f2a9c81d04e";

const running = sharedRunning(() => startPortless({ SIDEBAND_DEMO: "0" }, undefined, { warm: false }));

async function post(path: string, body: object, key = running.key): Promise<void> {
  const { status, text } = await running.call("POST", path, { body, key });
  assert.ok(status < 300, text);
}
const admin = (path: string) => running.call("GET", path, { key: ADMIN_TOKEN });

test("an export has own labels, the facts of all places and earlier values, and can be imported", async () => {
  await post("/channels", { label: "FAMILY.wife", description: "Her name" });
  const ada = { user_id: "ada", written_by: "claude-code" };
  await post("/encode", { ...ada, label: "FAMILY.wife", value: "Chid" });
  await post("/encode", { ...ada, label: "FAMILY.wife", value: "Chidi" });
  await post("/encode", { ...ada, label: "TASK.next", value: "the gate", project: PROJECT, ttl_s: 3600 });
  await post("/encode", { user_id: "eve", label: "USER.name", value: "Eve" });
  const answer = await running.call("GET", "/users/export?user_id=ada");
  assert.deepEqual(
    [answer.headers.get("content-type"), answer.headers.get("cache-control")],
    ["application/x-ndjson", "no-store"],
  );
  assert.doesNotMatch(answer.text, /Eve|sb_live_/);
  const other = await startPortless({ SIDEBAND_DEMO: "0" }, undefined, { warm: false });
  const importLine = lineImporter(other.service.core.store, { nowMs: Date.now() });
  for (const line of answer.text.trim().split("\n")) await importLine(line);
  const again = await other.call("GET", "/users/export?user_id=ada");
  const { json: history } = await other.call("GET", "/facts/history?user_id=ada&label=FAMILY.wife");
  await other.end();
  assert.equal(history.revisions[1].value, "Chid");
  const factsIn = (text: string) =>
    JSON.parse(text.trim().split("\n").at(-1)!).facts.map(
      ({ revision: _, ...fact }: { revision: number }) => fact,
    );
  assert.deepEqual(factsIn(again.text), factsIn(answer.text));
  assert.equal(factsIn(answer.text).length, 2);
});

test("a bound key exports its own user, and no other; of a user without facts there is no line", async () => {
  const { key } = await running.service.core.keys.create({ account: "acme", user: "bo", access: "read" });
  await post("/encode", { user_id: "bo", label: "USER.name", value: "Bo" });
  assert.match((await running.call("GET", "/users/export", { key })).text, /"user_id":"bo"/);
  const foreign = await running.call("GET", "/users/export?user_id=ada", { key });
  assert.equal(problemCode(foreign), "403 user_not_allowed");
  const nobody = await running.call("GET", "/users/export?user_id=nobody");
  assert.deepEqual([nobody.status, /"kind":"user"/.test(nobody.text)], [200, false]);
  assert.equal(problemCode(await running.call("GET", "/users/export?user_id=")), "400 invalid_request");
});

test("long lists of facts come as they are read, and a text above 4 MiB arrives whole", async () => {
  const key = await running.newKey("wide");
  const { store } = running.service.core;
  for (const place of ["", "loom", "loom/x"]) {
    const lives = Array.from({ length: 900 }, (_, i) => ({
      place,
      label: `WIDE.fact_${place.length}_${i}`,
      free: { make: true },
      values: [{ ...PAST, value: `${i} 👍${'"'.repeat(1000)}` }],
    }));
    const changes = [{ kind: "import", lives } as const];
    await store.write({ account: "wide", userId: "ada", changes, places: [], nowMs: Date.now() });
  }
  const of = (path: string) => running.call("GET", `${path}?user_id=ada&project=loom/x`, { key });
  const { json } = await of("/facts");
  assert.deepEqual([json.channel_count, json.facts.length], [2700, 2700]);
  const labels = new Set(json.facts.map(({ label }: { label: string }) => label));
  assert.equal(labels.size, 2700);
  const context = await running.call("GET", "/context?user_id=ada&project=loom/x&include=index", { key });
  assert.ok(Buffer.byteLength(context.text) > ANSWER_BYTES_MAX);
  for (const { value } of json.facts) assert.ok(context.json.plain_index.includes(value));
});

test("with details a context tells how full its block is, what has no room, and the tokens of what it says", async (context) => {
  const contextOf = async (user: string, more = "") =>
    (await running.call("GET", `/context?user_id=${user}&details=true${more}`)).json;
  const empty = await contextOf("empty");
  assert.deepEqual(
    [empty.carriers, empty.tokens],
    [
      { used: 0, max: 480 },
      { index: 0, block: 0 },
    ],
  );
  const count = o200kCounter();
  await post("/encode", { user_id: "full", label: "USER.name", value: "Ada" });
  const small = await contextOf("full");
  assert.ok(small.carriers.used > 11 && small.carriers.used < 60, JSON.stringify(small.carriers));
  assert.deepEqual(small.overflow, []);
  assert.deepEqual(small.tokens, { index: count("USER.name=Ada"), block: count(small.fdm_block) });
  for (const label of ["USER.os", "USER.gpu", "USER.role", "USER.location"])
    await post("/encode", { user_id: "full", label, value: randomBytes(200).toString("hex") });
  const large = await contextOf("full", "&include=block");
  assert.ok(large.carriers.used > small.carriers.used && large.carriers.used <= 480);
  assert.ok(large.overflow.length > 0);
  assert.deepEqual(large.tokens, { index: 0, block: small.tokens.block });
  const index = await contextOf("full", "&include=index");
  assert.equal("carriers" in index, false);
  assert.deepEqual(index.tokens, { index: count(index.plain_index), block: 0 });
  // They are counted once for each state of the facts.
  const turns = context.mock.method(running.service.core.memory.turns, "next");
  assert.deepEqual(await contextOf("full", "&include=index"), index);
  assert.equal(turns.mock.callCount(), 0);
  await post("/encode", { user_id: "full", label: "USER.name", value: "Augusta Ada" });
  const changed = await contextOf("full", "&include=index");
  assert.deepEqual(changed.tokens, { index: count(changed.plain_index), block: 0 });
  assert.ok(turns.mock.callCount() > 0);
});

test("the operator sees the users of an account page by page, and the labels that it has added", async () => {
  const key = await running.newKey("navy");
  for (const user_id of ["grace", "greta", "hedy"])
    await post("/encode", { user_id, label: "TASK.next", value: "x", project: PROJECT }, key);
  await post("/channels", { label: "SHIP.name", description: "Its name", one_of: ["A", "B"] }, key);
  await running.call("PATCH", "/channels/USER.gpu", { key, body: { hidden: true } });
  const { json: first } = await admin("/admin/users?account=navy&limit=1&prefix=gr");
  assert.deepEqual(first.users[0].projects, [PROJECT]);
  const { json: second } = await admin(
    `/admin/users?account=navy&limit=1&prefix=gr&cursor=${first.next_cursor}`,
  );
  assert.deepEqual([second.users[0].user_id, second.next_cursor], ["greta", null]);
  const { json } = await admin("/admin/labels?account=navy");
  assert.deepEqual(rowsOf(json.labels, "label", "own", "hidden"), [
    ["USER.gpu", false, true],
    ["SHIP.name", true, false],
  ]);
  assert.equal(json.free, 215);
  assert.deepEqual((await admin("/admin/users?account=no-such")).json.users, []);
  for (const path of ["/admin/users?account=navy", "/admin/labels?account=navy"])
    assert.equal((await running.call("GET", path, { key })).status, 401);
  assert.equal(problemCode(await admin("/admin/users")), "400 invalid_request");
  assert.equal(problemCode(await admin("/admin/labels?account=N%20O")), "400 invalid_request");
});

test("the operator makes an account strict, and adds a set of labels to it", async () => {
  const key = await running.newKey("strict-navy");
  const change = (body: object, token = ADMIN_TOKEN) =>
    running.call("PATCH", "/admin/labels", { key: token, body: { account: "strict-navy", ...body } });
  assert.equal((await admin("/admin/labels?account=strict-navy")).json.strict, false);
  assert.equal((await change({ strict: true })).json.strict, true);
  const channels = async () => (await running.call("GET", "/channels", { key })).json;
  assert.equal((await channels()).strict, true);
  const fact = { user_id: "grace", label: "SHIP.name", value: "x", new_label: true };
  const write = () => running.call("POST", "/encode", { key, body: fact });
  assert.equal(problemCode(await write()), "400 unknown_label");
  const { json } = await change({ add_set: "team" });
  assert.deepEqual([json.strict, json.labels.length, json.free], [true, 10, 206]);
  assert.equal((await channels()).free, 206);
  assert.equal((await change({ strict: false })).json.strict, false);
  assert.equal((await write()).status, 200);
  assert.equal((await change({ strict: true }, key)).status, 401);
  assert.equal(problemCode(await change({ add_set: "pets" })), "400 invalid_request");
});
