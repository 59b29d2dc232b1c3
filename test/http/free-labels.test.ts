/** Labels that a person makes by writing them, over HTTP: making, slips, numbers, and everything that facts do. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { fieldsOf } from "../fixtures/fields.ts";
import { type Fact, memoryService, ok } from "./memory-calls.ts";
import { problemCode } from "./running-service.ts";

const START = Date.UTC(2026, 10, 18, 12);
const memory = memoryService(START);
const { clock, post, get, remove, encode, make, factsOf } = memory;

const channelsOf = async (user_id: string, more: Record<string, string> = {}) =>
  (await factsOf(user_id, more)).map(({ label, channel }) => `${label} ${channel}`);

test("a label is made by writing it, only where that is asked for, and is known from then on", async () => {
  const user = "maker";
  assert.equal(problemCode(await encode(user, "FAMILY.wife", "Grace")), "400 unknown_label");
  for (const new_label of [false, "true", 1, "sure"])
    assert.match(problemCode(await encode(user, "FAMILY.wife", "Grace", { new_label })), /^400 /);
  for (const label of ["family.wife", "wife", "FAMILY.Wife", "FAMILY.", "A B.c", `A.${"x".repeat(49)}`, ""])
    for (const new_label of [true, "certain"])
      assert.equal(problemCode(await encode(user, label, "x", { new_label })), "400 unknown_label", label);
  const made = ok(await make(user, "FAMILY.wife", "Grace"));
  assert.deepEqual(made, {
    status: "ok",
    label: "FAMILY.wife",
    value: "Grace",
    channel: 257,
    channel_count: 1,
  });
  assert.equal(ok(await encode(user, "FAMILY.wife", "Grace Hopper")).channel, 257);
  const decoded = ok(await get("/decode", { user_id: user, label: "FAMILY.wife" }));
  assert.deepEqual(decoded, {
    user_id: user,
    label: "FAMILY.wife",
    value: "Grace Hopper",
    source: "state",
    latency_ms: 0,
  });
  assert.equal(
    problemCode(await encode("another", "FAMILY.wife", "x")),
    "400 unknown_label",
    "of one person",
  );
  assert.equal(ok(await make("another", "FAMILY.wife", "x")).channel, 257, "numbers are the person's");
  assert.equal(
    problemCode(await get("/decode", { user_id: user, label: "FAMILY.son" })),
    "400 unknown_label",
  );
  assert.equal(
    problemCode(await get("/facts/history", { user_id: user, label: "FAMILY.son" })),
    "400 unknown_label",
  );
  for (const path of ["/facts/append", "/facts/remove"])
    assert.equal(
      problemCode(await post(path, { user_id: user, label: "FAMILY.son", item: "x" })),
      "400 unknown_label",
    );
  assert.equal(
    problemCode(await post("/facts/restore", { user_id: user, label: "FAMILY.son", revision: 1 })),
    "400 unknown_label",
  );
  assert.equal(
    problemCode(await remove("/facts", { user_id: user, label: "FAMILY.son" })),
    "400 unknown_label",
  );
});

test("a new label that is a slip away from another is refused with it, unless it is certain", async () => {
  const user = "slips";
  ok(await make(user, "FAMILY.daughter", "Ada"));
  for (const [label, hint] of [
    ["FAMILY.dauhgter", "FAMILY.daughter"],
    ["FAMILY.daughters", "FAMILY.daughter"],
    ["FAMLY.daughter", "FAMILY.daughter"],
    ["FAMILY.d_aughter", "FAMILY.daughter"],
    ["USER.nam", "USER.name"],
    ["USER.tone", "PREF.tone"],
    ["PREF.code_stile", "PREF.code_style"],
  ]) {
    const refused = await make(user, label, "x");
    assert.equal(problemCode(refused), "400 unknown_label", label);
    assert.deepEqual([refused.json.hint, refused.json.param], [hint, "label"]);
    assert.match(refused.json.detail, /new_label: "certain"/);
  }
  const inBatch = await post("/encode/batch", {
    user_id: user,
    new_label: true,
    facts: [
      { label: "PET.name", value: "Rex" },
      { label: "FAMILY.daugther", value: "x" },
    ],
  });
  assert.deepEqual([inBatch.json.hint, inBatch.json.param], ["FAMILY.daughter", "facts[1].label"]);
  const unknown = await encode(user, "FAMILY.daugther", "x");
  assert.deepEqual([unknown.json.hint, unknown.json.param], ["FAMILY.daughter", "label"]);
  const unasked = await get("/decode", { user_id: user, label: "family.daughter" });
  assert.equal(unasked.json.hint, "FAMILY.daughter");
  // Another subject, or another number, is no slip.
  for (const label of ["PET.name", "FAMILY.son", "NOTE.item_1", "NOTE.item_2", "CAR.location"])
    ok(await make(user, label, "x"));
  ok(await encode(user, "FAMILY.daughters", "both", { new_label: "certain" }));
  ok(await make(user, "FAMILY.daughters", "all three"));
});

test("batch and append make labels, and an answer that is repeated has the same channel", async () => {
  const user = "batches";
  const body = {
    user_id: user,
    facts: [
      { label: "HOME.city", value: "Delft", new_label: true },
      { label: "USER.name", value: "Ada" },
      { label: "HOME.street", value: "Canal", new_label: "certain", description: "Where the letters go" },
    ],
  };
  const batch = await post("/encode/batch", body, { "idempotency-key": "batch" });
  assert.deepEqual(fieldsOf(ok(batch).facts, "channel"), [257, 0, 258]);
  const append = (item: string, key: string) =>
    post(
      "/facts/append",
      { user_id: user, label: "SHOP.list", item, new_label: true },
      { "idempotency-key": key },
    );
  const first = ok(await append("milk", "a"));
  assert.deepEqual([first.channel, first.value, first.channel_count], [259, "milk", 4]);
  const take = () =>
    post("/facts/remove", { user_id: user, label: "SHOP.list", item: "milk" }, { "idempotency-key": "take" });
  const emptied = await take();
  assert.deepEqual([ok(emptied).channel, emptied.json.value], [259, ""]);
  assert.equal((await append("milk", "a")).text, JSON.stringify(first));
  assert.equal((await take()).text, emptied.text);
  assert.equal((await post("/encode/batch", body, { "idempotency-key": "batch" })).text, batch.text);
  assert.equal(
    problemCode(await get("/decode", { user_id: user, label: "SHOP.list" })),
    "404 fact_not_found",
    "it has a history",
  );
});

test("free labels come last, by label, in every answer and in the block, and what has no room there is in the state", async () => {
  const user = "order";
  for (const label of ["ZOO.bear", "FAMILY.wife", "AUNT.name"]) ok(await make(user, label, label));
  ok(await encode(user, "PREF.tone", "dry"));
  ok(await encode(user, "USER.name", "Ada"));
  const labels = ["USER.name", "PREF.tone", "AUNT.name", "FAMILY.wife", "ZOO.bear"];
  for (const include of ["index", "both"]) {
    const context = ok(await get("/context", { user_id: user, include, details: "true" }));
    assert.deepEqual(context.channel_labels, labels);
    assert.equal(context.plain_index.split("\n")[2], "AUNT.name=AUNT.name");
    assert.equal(context.channel_count, 5);
    if (include === "both") assert.deepEqual(context.overflow, []);
  }
  assert.deepEqual(await channelsOf(user), [
    "USER.name 0",
    "PREF.tone 14",
    "AUNT.name 259",
    "FAMILY.wife 258",
    "ZOO.bear 257",
  ]);
  const flushed = ok(await post("/flush", { user_id: user }));
  assert.deepEqual([flushed.overflow, flushed.lossless], [[], true]);
  const read = async () =>
    ok(await post("/read", { user_id: user, block: flushed.fdm_block })).facts.map(
      ({ label, channel, value, mark }: Fact & { mark: string }) => [label, channel, value, mark].join(" "),
    );
  assert.deepEqual(await read(), [
    "USER.name 0 Ada current",
    "PREF.tone 14 dry current",
    "AUNT.name 259 AUNT.name current",
    "FAMILY.wife 258 FAMILY.wife current",
    "ZOO.bear 257 ZOO.bear current",
  ]);
  for (const label of ["AUNT.name", "ZOO.bear", "PREF.tone"]) {
    const model = ok(await get("/decode/model", { user_id: user, label }));
    assert.deepEqual([model.source, model.verified], ["model", true], label);
  }
  ok(await encode(user, "ZOO.bear", "Bruno"));
  ok(await remove("/facts", { user_id: user, label: "AUNT.name", keep_history: "true" }));
  ok(await remove("/facts", { user_id: user, label: "FAMILY.wife" }));
  assert.deepEqual((await read()).slice(2), [
    "AUNT.name 256 AUNT.name forgotten",
    "FAMILY.wife 256 FAMILY.wife unknown_here",
    "ZOO.bear 257 ZOO.bear replaced",
  ]);
  const noise = createHash("shake256", { outputLength: 660 }).digest("base64");
  for (const label of ["ZOO.tapes", "ZOO.songs"]) ok(await make(user, label, label + noise));
  const { overflow } = ok(await get("/context", { user_id: user, details: "true" }));
  assert.deepEqual(overflow, ["USER.name", "PREF.tone", "ZOO.bear", "ZOO.tapes"]);
  const model = ok(await get("/decode/model", { user_id: user, label: "ZOO.tapes" }));
  assert.deepEqual([model.source, model.verified], ["state", false]);
});

test("a label keeps its number as long as it has a fact or a history anywhere, and no other gets it", async () => {
  const user = "numbers";
  const numberOf = async (label: string, project = "loom") =>
    (await factsOf(user, { project })).find((fact) => fact.label === label)?.channel;
  ok(await make(user, "HOME.city", "Delft"));
  ok(await make(user, "HOME.street", "Canal"));
  ok(await make(user, "HOME.city", "Rotterdam", { project: "loom", scope: "project" }));
  assert.equal(await numberOf("HOME.city"), 257);
  ok(await remove("/facts", { user_id: user, label: "HOME.city" }));
  assert.equal(await numberOf("HOME.city"), 257, "another place has it");
  ok(await remove("/facts", { user_id: user, label: "HOME.city", project: "loom", keep_history: "true" }));
  ok(await encode(user, "HOME.city", "The Hague"));
  assert.equal(await numberOf("HOME.city"), 257, "it had a history");
  ok(await post("/users/move", { user_id: user, from: "loom", to: "ship" }));
  ok(await remove("/facts", { user_id: user, label: "HOME.city" }));
  const { revisions } = ok(
    await get("/facts/history", { user_id: user, label: "HOME.city", project: "ship" }),
  );
  assert.deepEqual(fieldsOf(revisions, "value"), ["Rotterdam"]);
  const restore = { user_id: user, label: "HOME.city", project: "ship", revision: revisions[0].revision };
  assert.equal(ok(await post("/facts/restore", restore)).channel, 257);
  ok(await remove("/facts", { user_id: user, label: "HOME.city", project: "ship" }));
  assert.equal(problemCode(await encode(user, "HOME.city", "x")), "400 unknown_label", "it is gone");
  assert.equal(ok(await make(user, "HOME.city", "x")).channel, 259, "as a new one");
  ok(await make(user, "HOME.door", "red", { ttl_s: 60 }));
  clock.ms += 61_000;
  assert.equal(
    problemCode(await get("/decode", { user_id: user, label: "HOME.door" })),
    "404 fact_not_found",
  );
  assert.equal(ok(await encode(user, "HOME.door", "blue")).channel, 260);
  ok(await remove("/users", { user_id: user }));
  assert.equal(problemCode(await encode(user, "HOME.street", "x")), "400 unknown_label");
});

test("conditions, changes, a way back and what a person exports have free labels as others", async () => {
  const user = "life";
  const label = "PEOPLE.grace";
  ok(await post("/encode", { user_id: user, label, value: "a", new_label: true }, { "if-none-match": "*" }));
  const again = await post(
    "/encode",
    { user_id: user, label, value: "b", new_label: true },
    { "if-none-match": "*" },
  );
  assert.equal(problemCode(again), "412 revision_mismatch");
  clock.ms += 1000;
  const before = new Date(clock.ms).toISOString();
  clock.ms += 1000;
  ok(await encode(user, label, "b"));
  ok(await make(user, "PEOPLE.alan", "c"));
  const back = ok(await post("/users/rollback", { user_id: user, to: before }));
  assert.deepEqual(back.changes, [
    { label: "PEOPLE.alan", from: "c", to: null },
    { label, from: "b", to: "a" },
  ]);
  const { changes } = ok(await get("/users/history", { user_id: user }));
  assert.deepEqual([...new Set(changes.map((change: Fact) => change.label))].sort(), ["PEOPLE.alan", label]);
  const exported = await get("/users/export", { user_id: user });
  const line = JSON.parse(exported.text.trim().split("\n").at(-1)!);
  assert.deepEqual([line.facts[0].label, line.facts[0].channel, line.earlier[0].channel], [label, 257, 258]);
});

test("facts on a free label are of the declared one from the moment it is declared", async () => {
  const user = "declared";
  ok(await make(user, "BOAT.name", "Argo"));
  ok(await post("/channels", { label: "BOAT.name", description: "What the boat is called", max_bytes: 4 }));
  const [{ channel }] = await factsOf(user);
  assert.ok(channel >= 40 && channel < 256, `${channel}`);
  assert.equal(problemCode(await encode(user, "BOAT.name", "Argonaut")), "400 invalid_value");
  assert.equal(ok(await encode(user, "BOAT.name", "Nina")).channel, channel);
  assert.equal(ok(await encode("sailor", "BOAT.name", "Ida")).channel, channel);
  for (const user_id of [user, "sailor"]) ok(await remove("/facts", { user_id, label: "BOAT.name" }));
  ok(await memory.running.call("DELETE", "/channels/BOAT.name"));
  assert.equal(problemCode(await encode(user, "BOAT.name", "Ida")), "400 unknown_label");
  assert.ok(ok(await make(user, "BOAT.name", "Ida")).channel > 256, "a label that was removed can be made");
});

test("a fact is renamed with its history, to a label that is there or is made, or not at all", async () => {
  const user = "renamer";
  const rename = (label: string, to: string, more: object = {}, headers: Record<string, string> = {}) =>
    post("/facts/rename", { user_id: user, label, to, ...more }, headers);
  const valuesOf = async (label: string, more: Record<string, string> = {}) => {
    const { revisions } = ok(await get("/facts/history", { user_id: user, label, ...more }));
    return revisions
      .filter(({ ended }: Record<string, string>) => ended !== "renamed")
      .map(({ value, updated_at, written_by }: Record<string, string>) => [value, updated_at, written_by]);
  };
  ok(await make(user, "FAMILY.wfie", "Grace", { written_by: "codex", description: "Her name" }));
  clock.ms += 1000;
  ok(await encode(user, "FAMILY.wfie", "Grace H.", { written_by: "claude", ttl_s: 600 }));
  const before = await valuesOf("FAMILY.wfie");
  assert.equal(problemCode(await rename("FAMILY.none", "FAMILY.wife")), "400 unknown_label");
  assert.equal(problemCode(await rename("USER.gpu", "FAMILY.wife")), "404 fact_not_found");
  for (const [to, code] of [
    ["FAMILY.wfie", "400 invalid_request"],
    ["family.wife", "400 unknown_label"],
  ]) {
    const refused = await rename("FAMILY.wfie", to);
    assert.deepEqual([problemCode(refused), refused.json.param], [code, "to"]);
  }
  const revision = ok(
    await get("/decode", { user_id: user, label: "FAMILY.wfie", details: "true" }),
  ).revision;
  const stale = await rename("FAMILY.wfie", "FAMILY.wife", {}, { "if-match": `"${revision - 1}"` });
  assert.equal(problemCode(stale), "412 revision_mismatch");
  const condition = { "if-match": `"${revision}"`, "idempotency-key": "rename" };
  const renamed = await rename("FAMILY.wfie", "FAMILY.wife", {}, condition);
  assert.deepEqual(ok(renamed), {
    status: "ok",
    label: "FAMILY.wife",
    value: "Grace H.",
    channel: 258,
    channel_count: 1,
  });
  const repeated = await rename("FAMILY.wfie", "FAMILY.wife", {}, condition);
  assert.deepEqual([repeated.text, repeated.headers.get("idempotency-replayed")], [renamed.text, "true"]);
  assert.deepEqual(await valuesOf("FAMILY.wife"), before);
  assert.equal(problemCode(await encode(user, "FAMILY.wfie", "x")), "400 unknown_label", "nothing is left");
  const [fact] = ok(await get("/facts", { user_id: user, details: "true" })).facts;
  assert.deepEqual([fact.description, fact.written_by], ["Her name", "claude"]);
  assert.equal(Date.parse(fact.expires_at) - Date.parse(fact.updated_at), 600_000, "it ends when it did");

  ok(await make(user, "FAMILY.spouse", "Alan"));
  assert.equal(problemCode(await rename("FAMILY.wife", "FAMILY.spouse")), "409 fact_exists");
  assert.equal(
    problemCode(await rename("FAMILY.wife", "FAMILY.spouse", { merge: "over" })),
    "400 invalid_request",
  );
  const merged = ok(await rename("FAMILY.wife", "FAMILY.spouse", { merge: "append", written_by: "cli" }));
  assert.deepEqual([merged.value, merged.channel], ["Alan; Grace H.", 259]);
  assert.deepEqual(fieldsOf(await factsOf(user), "label"), ["FAMILY.spouse"]);
  assert.deepEqual(await valuesOf("FAMILY.wife"), before, "the history of each stays");
  assert.deepEqual(
    (await valuesOf("FAMILY.spouse")).map(([value]: string[]) => value),
    ["Alan; Grace H.", "Alan"],
  );
  ok(await rename("FAMILY.spouse", "FAMILY.wife", { merge: "append" }));
  assert.deepEqual(
    (await valuesOf("FAMILY.wife")).map(([value]: string[]) => value),
    ["Alan; Grace H.", "Grace H.", "Grace"],
    "a label that has a history keeps it",
  );
});

test("a rename obeys the terms of the other label, stays at its place, and does not count", async () => {
  const user = "renamer-2";
  ok(await post("/channels", { label: "TEAM.size", description: "Shirt", one_of: ["S", "M"] }));
  ok(await make(user, "SHIRT.size", "XL", { project: "loom", scope: "project" }));
  ok(await make(user, "SHIRT.size", "M"));
  const rename = (body: object) => post("/facts/rename", { user_id: user, label: "SHIRT.size", ...body });
  const wrong = await rename({ to: "TEAM.size", project: "loom" });
  assert.deepEqual([problemCode(wrong), wrong.json.param], ["400 invalid_value", "value"]);
  const { used } = ok(await memory.running.call("GET", "/usage"));
  const moved = ok(await rename({ to: "TEAM.size", details: true }));
  assert.equal(moved.previous, null, "nothing was there");
  assert.deepEqual([moved.value, moved.place, moved.channel < 256], ["M", "person", true]);
  assert.equal(ok(await memory.running.call("GET", "/usage")).used, used);
  const inLoom = ok(await rename({ to: "PROJ.goal", project: "loom", details: true }));
  assert.deepEqual([inLoom.value, inLoom.place], ["XL", "project"]);
  const [last] = ok(await get("/users/history", { user_id: user })).changes;
  assert.deepEqual([last.label, last.kind, last.renamed_from], ["PROJ.goal", "renamed", "SHIRT.size"]);
});
