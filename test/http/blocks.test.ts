/** Flush, read, batch, facts and forgetting over real HTTP on a real data folder, as the decisions say. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf } from "../fixtures/fields.ts";
import { type Answer, problemCode, type Running, sharedRunning, startPortless } from "./running-service.ts";

const running = sharedRunning(startPortless);

const call: Running["call"] = (...args) => running.call(...args);
const encode = (user_id: string, label: string, value: string, more = {}) =>
  call("POST", "/encode", { body: { user_id, label, value, ...more } });

/** Values that no code makes shorter: together too much for one block. */
async function overfill(user: string): Promise<void> {
  const facts = (await call("GET", "/channels")).json.channels
    .slice(0, 8)
    .map(({ label }: { label: string }, i: number) => ({
      label,
      value: Array.from({ length: 330 }, (_, j) =>
        String.fromCodePoint(0x4e00 + ((i * 7919 + j * 104_729) % 20_000)),
      ).join(""),
    }));
  assert.equal((await call("POST", "/encode/batch", { body: { user_id: user, facts } })).status, 200);
}

test("facts that do not fit: reported as overflow, read from state, lossless false; context still lists them", async () => {
  await overfill("overflow");
  const flush = await call("POST", "/flush", { body: { user_id: "overflow" } });
  assert.equal(flush.json.status, "ok");
  assert.equal(flush.json.channel_count, 8);
  assert.equal(flush.json.lossless, false);
  assert.ok(flush.json.overflow.length > 0 && flush.json.overflow.length <= 8);
  assert.equal(flush.json.fdm_block.split(" ").length, 514);
  const left = flush.json.overflow[0];
  const decoded = await call("GET", `/decode?user_id=overflow&label=${left}&use_model=true`);
  assert.equal(decoded.json.source, "state");
  assert.equal(decoded.json.verified, false);
  assert.equal(decoded.json.value.length, 330);
  assert.equal((await call("GET", "/context?user_id=overflow")).json.channel_count, 8);
});

test("flush: builds, reads back, compares; empty without facts; session_id is taken", async () => {
  await encode("flush", "USER.name", "Ada");
  const answer = await call("POST", "/flush", { body: { user_id: "flush", session_id: "s-2" } });
  const { fdm_block, ...rest } = answer.json;
  assert.deepEqual(rest, { status: "ok", channel_count: 1, lossless: true, overflow: [] });
  assert.equal(fdm_block, (await call("GET", "/context?user_id=flush")).json.fdm_block);
  const empty = await call("POST", "/flush", { body: { user_id: "nobody" } });
  assert.deepEqual(empty.json, {
    status: "empty",
    channel_count: 0,
    lossless: true,
    fdm_block: "",
    overflow: [],
  });
  assert.equal(problemCode(await call("POST", "/flush", { body: {} })), "400 invalid_request");
});

test("read: a block whole, damaged, inside other text; refused for others", async () => {
  await encode("read", "USER.name", "Ada");
  await encode("read", "USER.gpu", "RTX 5090");
  const { fdm_block } = (await call("GET", "/context?user_id=read")).json;
  const read = (block: string, user_id = "read", key = running.key) =>
    call("POST", "/read", { key, body: { user_id, block } });
  const expected = [
    { label: "USER.name", value: "Ada", channel: 0, mark: "current" },
    { label: "USER.gpu", value: "RTX 5090", channel: 3, mark: "current" },
  ];
  const whole = await read(fdm_block);
  assert.deepEqual(
    { ...whole.json, guard_left: 0 },
    { status: "ok", user_id: "read", facts: expected, missing: 0, wrong: 0, repaired: 0, guard_left: 0 },
  );
  assert.ok(whole.json.guard_left > 0);
  const cut = fdm_block.split(" ").slice(0, 300).join(" ");
  for (const block of [cut, `System prompt.\n\n${fdm_block}\n\nYou are helpful.`])
    assert.deepEqual((await read(block)).json.facts, expected);
  assert.ok((await read(cut)).json.missing > 100);
  const foreign = await running.newKey("other");
  const refusals: Answer[] = [
    await read(fdm_block, "someone-else"),
    await read(fdm_block, "read", foreign),
    await read("no block at all"),
    await read(""),
    await read(fdm_block.split(" ").reverse().join(" ")),
  ];
  for (const answer of refusals) {
    assert.equal(problemCode(answer), "422 block_unreadable");
    assert.equal(answer.json.detail, refusals[0].json.detail);
  }
});

test("batch: all or none, a label twice is 400, the fact at fault is named", async () => {
  const batch = (facts: unknown, user_id = "batch") =>
    call("POST", "/encode/batch", { body: { user_id, facts } });
  const answer = await batch([
    { label: "USER.os", value: "Debian" },
    { label: "USER.name", value: "Ada" },
  ]);
  assert.deepEqual(answer.json, {
    status: "ok",
    channel_count: 2,
    facts: [
      { label: "USER.os", value: "Debian", channel: 5 },
      { label: "USER.name", value: "Ada", channel: 0 },
    ],
  });
  const twice = await batch(
    [
      { label: "USER.os", value: "a" },
      { label: "USER.os", value: "b" },
    ],
    "batch-2",
  );
  assert.equal(problemCode(twice), "400 invalid_request");
  assert.equal(twice.json.param, "facts[1].label");
  const bad = await batch(
    [
      { label: "USER.os", value: "a" },
      { label: "USER.name", value: "" },
    ],
    "batch-2",
  );
  assert.equal(problemCode(bad), "400 invalid_value");
  assert.equal(bad.json.param, "facts[1].value");
  for (const facts of [
    [],
    Array.from({ length: 41 }, () => ({ label: "USER.os", value: "a" })),
    "x",
    [{ label: "USER.os" }],
    [1],
  ]) {
    assert.equal(problemCode(await batch(facts, "batch-2")), "400 invalid_request");
  }
  assert.equal((await call("GET", "/facts?user_id=batch-2")).json.channel_count, 0);
});

test("facts: in channel order with revision and time", async () => {
  await encode("facts", "PROJ.goal", "ship");
  await encode("facts", "USER.name", "Ada");
  const { json } = await call("GET", "/facts?user_id=facts");
  assert.equal(json.user_id, "facts");
  assert.equal(json.channel_count, 2);
  assert.deepEqual(fieldsOf(json.facts, "channel"), [0, 38]);
  assert.ok(json.facts[0].revision > json.facts[1].revision);
  assert.ok(Math.abs(Date.parse(json.facts[0].updated_at) - Date.now()) < 60_000);
  assert.deepEqual(Object.keys(json.facts[0]), ["label", "value", "channel", "revision", "updated_at"]);
});

test("forgetting one fact, and a whole user: gone at once everywhere", async () => {
  await encode("forget", "USER.name", "Ada");
  await encode("forget", "USER.os", "Debian");
  await call("GET", "/context?user_id=forget");
  const one = await call("DELETE", "/facts?user_id=forget&label=USER.os");
  assert.deepEqual(one.json, { status: "ok", channel_count: 1 });
  assert.equal(
    problemCode(await call("DELETE", "/facts?user_id=forget&label=USER.os")),
    "404 fact_not_found",
  );
  assert.equal((await call("GET", "/context?user_id=forget")).json.plain_index, "USER.name=Ada");
  assert.deepEqual((await call("DELETE", "/users?user_id=forget")).json, { status: "ok" });
  assert.equal(problemCode(await call("DELETE", "/users?user_id=forget")), "404 not_found");
  assert.equal((await call("GET", "/context?user_id=forget")).json.fdm_block, "");
  assert.equal(
    problemCode(await call("GET", "/decode?user_id=forget&label=USER.name")),
    "404 fact_not_found",
  );
  assert.equal((await call("POST", "/flush", { body: { user_id: "forget" } })).json.status, "empty");
  await encode("forget", "USER.name", "Ada again");
  assert.equal((await call("GET", "/context?user_id=forget")).json.plain_index, "USER.name=Ada again");
});

test("concurrent encodes of one user over many connections all survive", async () => {
  const { channels } = (await call("GET", "/channels")).json;
  const answers = await Promise.all(
    channels.map(({ label }: { label: string }) => encode("crowd", label, `v ${label}`)),
  );
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal(Math.max(...answers.map(({ json }) => json.channel_count)), 40);
  const facts = (await call("GET", "/facts?user_id=crowd")).json.facts;
  assert.deepEqual(
    fieldsOf(facts, "value"),
    channels.map(({ label }: { label: string }) => `v ${label}`),
  );
});

test("every path also exists under /v1", async () => {
  await call("POST", "/v1/encode", { body: { user_id: "v1", label: "USER.name", value: "Ada" } });
  assert.equal((await call("GET", "/v1/decode?user_id=v1&label=USER.name")).json.value, "Ada");
  assert.equal(
    (await call("GET", "/v1/context?user_id=v1")).text,
    (await call("GET", "/context?user_id=v1")).text,
  );
  assert.equal((await call("GET", "/v1/channels", { key: null })).status, 200);
});
