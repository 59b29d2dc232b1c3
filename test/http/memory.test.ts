/** The memory endpoints over real HTTP on a real data folder, as specification and decisions say. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf } from "../fixtures/fields.ts";
import { problemCode, type Running, sharedRunning, startPortless } from "./running-service.ts";

const running = sharedRunning(startPortless);

const call: Running["call"] = (...args) => running.call(...args);
const encode = (user_id: string, label: string, value: string, more = {}) =>
  call("POST", "/encode", { body: { user_id, label, value, ...more } });
const param = (name: string) => encodeURIComponent(name);

test("encode stores a fact and answers exactly the fields of the specification", async () => {
  const answer = await encode("encode-1", "USER.gpu", "RTX5090", { session_id: "s-1", colour: "ignored" });
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, {
    status: "ok",
    label: "USER.gpu",
    value: "RTX5090",
    channel: 3,
    channel_count: 1,
  });
  const second = await encode("encode-1", "PROJ.accuracy", "98 %");
  assert.deepEqual(second.json, {
    status: "ok",
    label: "PROJ.accuracy",
    value: "98 %",
    channel: 34,
    channel_count: 2,
  });
});

test("encode overwrites a label and leaves the other facts", async () => {
  await encode("encode-2", "USER.name", "Ada");
  await encode("encode-2", "USER.os", "Debian");
  const again = await encode("encode-2", "USER.name", "Grace");
  assert.equal(again.json.channel_count, 2);
  const facts = await call("GET", "/facts?user_id=encode-2");
  assert.deepEqual(rowsOf(facts.json.facts, "label", "value"), [
    ["USER.name", "Grace"],
    ["USER.os", "Debian"],
  ]);
});

test("values come back exactly: no trimming, no normalisation, all scripts", async () => {
  const values = [
    "  spaces  ",
    "e\u0301 vs \u00e9",
    "\u{1F9E0}\u{1F468}‍\u{1F469}‍\u{1F467}",
    "日本語",
    "العربية",
    "\uFEFFbom",
    "\u00a0",
    "a=b\\n&c",
    '"quoted"',
    "x".repeat(1024),
    "é".repeat(512),
    "\u{1F600}".repeat(256),
  ];
  for (const value of values) {
    const stored = await encode("exact", "USER.name", value);
    assert.equal(stored.json.value, value);
    assert.equal((await call("GET", "/decode?user_id=exact&label=USER.name")).json.value, value);
    assert.equal((await call("GET", "/context?user_id=exact")).json.plain_index, `USER.name=${value}`);
  }
});

test("values outside the rules are 400 invalid_value and name the rule", async () => {
  const bad = [
    "",
    "x".repeat(1025),
    "é".repeat(513),
    "a\nb",
    "\u0000",
    "\u001f",
    "\u007f",
    "\u0085",
    "\u2028",
    "\u2029",
  ];
  for (const value of bad) {
    const answer = await encode("values", "USER.name", value);
    assert.equal(problemCode(answer), "400 invalid_value");
    assert.equal(answer.json.param, "value");
  }
  const surrogate = await call("POST", "/encode", {
    raw: '{"user_id":"values","label":"USER.name","value":"\\ud800"}',
    headers: { "content-type": "application/json" },
  });
  assert.equal(problemCode(surrogate), "400 invalid_value");
  assert.equal((await call("GET", "/facts?user_id=values")).json.channel_count, 0);
});

test("an unknown label is 400, with a hint where one label is really near", async () => {
  for (const [label, hint] of [
    ["USER.nam", "USER.name"],
    ["user.name", "USER.name"],
    ["USER_NAME", "USER.name"],
    ["USER.nmae", "USER.name"],
    ["TASK.deadlin", "TASK.deadline"],
    ["PROJ.Repo", "PROJ.repo"],
    ["name", "USER.name"],
    ["USER.email", undefined],
    ["FAMILY.wife", undefined],
    ["pet", undefined],
  ] as [string, string | undefined][]) {
    const answer = await encode("labels", label, "x");
    assert.equal(problemCode(answer), "400 unknown_label");
    assert.equal(answer.json.hint, hint);
    if (hint === undefined) assert.match(answer.json.detail, /GET \/channels/);
    assert.equal(
      problemCode(await call("GET", `/decode?user_id=labels&label=${param(label)}`)),
      "400 unknown_label",
    );
  }
});

const json = { "content-type": "application/json" };

test("of a field that a body has twice the last counts", async () => {
  const twice =
    '{"user_id":"a","user_id":"dup","label":"USER.os","label":"USER.name","value":"first","value":"last"}';
  assert.equal((await call("POST", "/encode", { raw: twice, headers: json })).json.value, "last");
  assert.equal((await call("GET", "/decode?user_id=dup&label=USER.name")).json.value, "last");
});

test("fields named like those of every object are fields like any other", async () => {
  const proto =
    '{"__proto__":{"user_id":"evil"},"constructor":1,"user_id":"proto","label":"USER.name","value":"fine"}';
  assert.equal((await call("POST", "/encode", { raw: proto, headers: json })).status, 200);
});

test("context: the block, labels and index in channel order, stable until a fact changes, 304 on its ETag", async () => {
  await encode("context", "TASK.current", "parse");
  await encode("context", "USER.name", "Ada");
  const first = await call("GET", "/context?user_id=context");
  assert.deepEqual(Object.keys(first.json), [
    "user_id",
    "fdm_block",
    "channel_count",
    "channel_labels",
    "plain_index",
  ]);
  assert.equal(first.json.user_id, "context");
  assert.deepEqual(first.json.channel_labels, ["USER.name", "TASK.current"]);
  assert.equal(first.json.plain_index, "USER.name=Ada\nTASK.current=parse");
  assert.equal(first.json.channel_count, 2);
  const words = first.json.fdm_block.split(" ");
  assert.equal(words[0], "[MEM]");
  assert.equal(words.at(-1), "[/MEM]");
  assert.equal(words.length, 514);
  const second = await call("GET", "/context?user_id=context");
  assert.equal(second.text, first.text);
  const etag = first.headers.get("etag")!;
  assert.equal(second.headers.get("etag"), etag);
  for (const header of [etag, `"other", ${etag}`, `W/${etag}`, "*"]) {
    const cached = await call("GET", "/context?user_id=context", { headers: { "if-none-match": header } });
    assert.equal(cached.status, 304);
    assert.equal(cached.text, "");
    assert.deepEqual([cached.headers.get("etag"), cached.headers.get("content-length")], [etag, null]);
  }
  await encode("context", "USER.name", "Grace");
  const changed = await call("GET", "/context?user_id=context", { headers: { "if-none-match": etag } });
  assert.equal(changed.status, 200);
  assert.notEqual(changed.json.fdm_block, first.json.fdm_block);
  await encode("context", "USER.name", "Ada");
  assert.equal((await call("GET", "/context?user_id=context")).json.fdm_block, first.json.fdm_block);
});

test("context without facts is 200 and empty", async () => {
  const answer = await call("GET", "/context?user_id=nobody");
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, {
    user_id: "nobody",
    fdm_block: "",
    channel_count: 0,
    channel_labels: [],
    plain_index: "",
  });
});

test("decode: the fast path from state, the model path verified, 404 where there is no fact", async () => {
  await encode("decode", "USER.gpu", "RTX 5090");
  const fast = await call("GET", "/decode?user_id=decode&label=USER.gpu");
  assert.deepEqual(fast.json, {
    user_id: "decode",
    label: "USER.gpu",
    value: "RTX 5090",
    source: "state",
    latency_ms: 0,
  });
  assert.deepEqual(
    (await call("GET", "/decode?user_id=decode&label=USER.gpu&use_model=false")).json,
    fast.json,
  );
  for (const path of [
    "/decode?user_id=decode&label=USER.gpu&use_model=true",
    "/decode?user_id=decode&label=USER.gpu&use_model=True",
    "/decode/model?user_id=decode&label=USER.gpu",
  ]) {
    const { json } = await call("GET", path);
    assert.ok(Number.isInteger(json.latency_ms) && json.latency_ms >= 1);
    assert.deepEqual(
      { ...json, latency_ms: 1 },
      {
        user_id: "decode",
        label: "USER.gpu",
        value: "RTX 5090",
        source: "model",
        latency_ms: 1,
        verified: true,
      },
    );
  }
  for (const path of [
    "/decode?user_id=decode&label=USER.os",
    "/decode?user_id=nobody&label=USER.os",
    "/decode/model?user_id=nobody&label=USER.os",
    "/decode?user_id=decode&label=USER.os&use_model=true",
  ]) {
    assert.equal(problemCode(await call("GET", path)), "404 fact_not_found");
  }
});
