/** GET /facts/find: facts by words in the places of a call or everywhere, with descriptions of all kinds of labels. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { problemCode, sharedRunning, startPortless } from "./running-service.ts";

const START = Date.UTC(2026, 10, 18, 12);
const clock = { ms: START, now: () => clock.ms };

const running = sharedRunning(() => startPortless({ SIDEBAND_DEMO: "0" }, undefined, { warm: false, clock }));

async function write(user_id: string, label: string, value: string, more: object = {}): Promise<void> {
  const body = { user_id, label, value, new_label: "certain", ...more };
  const { status, text } = await running.call("POST", "/encode", { body });
  assert.equal(status, 200, text);
}

const find = (query: Record<string, string>, key = running.key) =>
  running.call("GET", `/facts/find?${new URLSearchParams(query)}`, { key });

async function found(user_id: string, q: string, more: Record<string, string> = {}): Promise<string[]> {
  const { status, json, text } = await find({ user_id, q, ...more });
  assert.equal(status, 200, text);
  return json.facts.map(({ label, project }: { label: string; project?: string }) =>
    project === undefined ? label : `${label} ${project}`,
  );
}

test("facts are found by words of label, description and value, with a slip, and each says where it is", async () => {
  await write("ada", "FAMILY.wife", "Grace", { written_by: "cli" });
  await write("ada", "FAMILY.wife_birthday", "14 May");
  await write("ada", "HEALTH.allergy", "nuts", { description: "What must never be in a meal" });
  await write("ada", "USER.os", "Debian");
  const { json } = await find({ user_id: "ada", q: "Wife Birthday" });
  assert.deepEqual(json, {
    user_id: "ada",
    query: "Wife Birthday",
    by: "words",
    facts: [
      {
        label: "FAMILY.wife_birthday",
        value: "14 May",
        place: "person",
        updated_at: "2026-11-18T12:00:00.000Z",
        score: 1,
      },
      {
        label: "FAMILY.wife",
        value: "Grace",
        place: "person",
        updated_at: "2026-11-18T12:00:00.000Z",
        written_by: "cli",
        score: json.facts[1].score,
      },
    ],
  });
  assert.deepEqual(await found("ada", "alergy"), ["HEALTH.allergy"]);
  assert.deepEqual(await found("ada", "meals"), ["HEALTH.allergy"], "by what its maker says of a free label");
  assert.deepEqual(await found("ada", "operating system"), ["USER.os"], "by what a standard label is for");
  const label = { label: "TEAM.lead", description: "Whoever is in charge of the crew" };
  await running.call("POST", "/channels", { body: label });
  await write("ada", "TEAM.lead", "Ingrid");
  assert.deepEqual(await found("ada", "the crew's boss"), ["TEAM.lead"], "by what the account says");
  assert.deepEqual(await found("ada", "zebra"), []);
  assert.deepEqual(await found("nobody", "wife"), []);
});

test("without a project only the person's own facts are found, with one also its own, everywhere all", async () => {
  const next = (value: string, project?: string) => write("bo", "TASK.next", value, { project });
  await next("paint the gate");
  await next("paint the fence", "loom");
  await next("paint the shed", "mill");
  await write("bo", "TASK.next", "paint the door", { project: "loom/x" });
  const everywhere = { everywhere: "true" };
  assert.deepEqual(await found("bo", "paint"), ["TASK.next"]);
  assert.deepEqual(await found("bo", "fence"), []);
  assert.deepEqual(
    await found("bo", "paint", { project: "loom" }),
    ["TASK.next loom"],
    "the innermost counts",
  );
  assert.deepEqual(await found("bo", "paint", { project: "mill", ...everywhere }), [
    "TASK.next mill",
    "TASK.next",
    "TASK.next loom",
    "TASK.next loom/x",
  ]);
  assert.deepEqual(await found("bo", "shed", everywhere), ["TASK.next mill"]);
  assert.deepEqual(await found("bo", "paint", { limit: "2", ...everywhere }), [
    "TASK.next",
    "TASK.next loom",
  ]);
});

test("what has ended, was replaced, forgotten or is another's is not found", async () => {
  await write("eve", "NOTE.one", "the umbrella", { ttl_s: 60 });
  await write("eve", "NOTE.two", "the umbrella stand");
  await write("eve", "NOTE.two", "a chair");
  await write("eve", "NOTE.three", "umbrella shop", { project: "loom", scope: "project" });
  const everywhere = { everywhere: "1" };
  assert.deepEqual(await found("eve", "umbrella", everywhere), ["NOTE.one", "NOTE.three loom"]);
  clock.ms += 60_000;
  assert.deepEqual(await found("eve", "umbrella"), []);
  assert.deepEqual(await found("eve", "umbrella", everywhere), ["NOTE.three loom"]);
  await running.call("DELETE", "/facts?user_id=eve&label=NOTE.three&project=loom&keep_history=true");
  assert.deepEqual(await found("eve", "umbrella", everywhere), []);
  assert.deepEqual(await found("ada", "chair", everywhere), []);
});

test("a fact is found as it is after every change: of its value, its description and its label's, and of what it is beside", async () => {
  await write("ida", "NOTE.thing", "a kettle", { description: "Stands in the kitchen" });
  assert.deepEqual(await found("ida", "kitchen kettle"), ["NOTE.thing"]);
  await write("ida", "NOTE.thing", "a kettle", { description: "Stands in the pantry" });
  assert.deepEqual([await found("ida", "pantry"), await found("ida", "kitchen")], [["NOTE.thing"], []]);
  await running.call("POST", "/channels", {
    body: { label: "CREW.cook", description: "Stirs the porridge" },
  });
  await write("ida", "CREW.cook", "Ben");
  assert.deepEqual(await found("ida", "porridge"), ["CREW.cook"]);
  await running.call("PATCH", "/channels/CREW.cook", { body: { description: "Bakes the bread" } });
  assert.deepEqual([await found("ida", "bread"), await found("ida", "porridge")], [["CREW.cook"], []]);
  await running.call("POST", "/facts/rename", {
    body: { user_id: "ida", label: "NOTE.thing", to: "NOTE.boiler" },
  });
  assert.deepEqual([await found("ida", "boiler"), await found("ida", "thing")], [["NOTE.boiler"], []]);
  await running.call("DELETE", "/users?user_id=ida");
  assert.deepEqual([await found("ida", "boiler"), await found("ida", "bread")], [[], []]);
});

test("a guess says that it is one", async () => {
  await write("kim", "HOME.wifi", "Loom");
  const { json } = await find({ user_id: "kim", q: "wife" });
  assert.deepEqual([json.facts[0].label, json.facts[0].guess], ["HOME.wifi", true]);
  assert.equal("guess" in (await find({ user_id: "kim", q: "wifi" })).json.facts[0], false);
});

test("a wrong call is refused with the field that is wrong", async () => {
  const wrong: [Record<string, string>, string][] = [
    [{ user_id: "ada" }, "q"],
    [{ user_id: "ada", q: "" }, "q"],
    [{ user_id: "ada", q: "x".repeat(201) }, "q"],
    [{ user_id: "ada", q: "x", limit: "0" }, "limit"],
    [{ user_id: "ada", q: "x", limit: "51" }, "limit"],
    [{ user_id: "ada", q: "x", everywhere: "yes" }, "everywhere"],
    [{ user_id: "ada", q: "x", project: "a/b/c" }, "project"],
  ];
  for (const [query, param] of wrong) {
    const answer = await find(query);
    assert.deepEqual([problemCode(answer), answer.json.param], ["400 invalid_request", param]);
  }
  const longest = await find({ user_id: "ada", q: "🎂".repeat(200) });
  assert.deepEqual([longest.status, longest.json.facts], [200, []]);
});

test("a bound key finds facts of its own user and no other", async () => {
  const { key } = await running.service.core.keys.create({ account: "acme", user: "bo", access: "read" });
  const own = await find({ q: "gate" }, key);
  assert.deepEqual([own.status, own.json.user_id, own.json.facts.length], [200, "bo", 1]);
  assert.equal(problemCode(await find({ user_id: "ada", q: "wife" }, key)), "403 user_not_allowed");
  const { key: other } = await running.service.core.keys.create({ account: "other" });
  assert.deepEqual((await find({ user_id: "ada", q: "wife", everywhere: "true" }, other)).json.facts, []);
});
