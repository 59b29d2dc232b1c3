/** A user's facts, and forgetting them. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { forgetFact, forgetUser, listFacts } from "../../../src/memory/facts.ts";
import { rowsOf } from "../../fixtures/fields.ts";
import { changesOf, viewOf } from "../../fixtures/views.ts";
import { ACCOUNT, memoryServices, requester } from "./memory-services.ts";

async function setUp(context: TestContext) {
  const memory = await memoryServices(context);
  await memory.write("ada", "Ada", "Sideband");
  const valuesOf = async (userId: string, account = ACCOUNT) =>
    (await listFacts(memory.services, account, { userId })).map(({ value }) => value);
  const forget = (label: string, userId = "ada", account = ACCOUNT) =>
    forgetFact(memory.services, account, { userId, label });
  return { ...memory, valuesOf, forget };
}

test("facts are listed in the order of channels, wherever and whenever they were written", async (context) => {
  const { services, store, valuesOf } = await setUp(context);
  const changes = changesOf([9, 30, 3].map((number) => [number, `on ${number}`]));
  changes.push({ place: "loom", label: "USER.role", value: "on 6 of loom" });
  await store.write({ ...viewOf("eve", ACCOUNT), changes });
  assert.deepEqual(await valuesOf("eve"), ["on 3", "on 9", "on 30"]);
  const inProject = await listFacts(services, ACCOUNT, { userId: "eve", project: "loom" });
  assert.deepEqual(rowsOf(inProject, "value", "channel"), [
    ["on 3", 3],
    ["on 6 of loom", 6],
    ["on 9", 9],
    ["on 30", 30],
  ]);
});

test("a forgotten fact is in no block, neither a new one nor the cached one", async (context) => {
  const { blocks, forget } = await setUp(context);
  await blocks.of(requester, viewOf("ada"));
  await forget("USER.name");
  assert.equal(blocks.cachedCount, 0);
  assert.deepEqual((await blocks.of(requester, viewOf("ada")))?.channels, [1]);
});

test("the fact that counts is forgotten, or that of the scope, and a user in all projects", async (context) => {
  const { services, store } = await setUp(context);
  const person = { userId: "eve", project: "loom" };
  const changes = ["", "loom", "tent"].map((place) => ({
    place,
    label: "USER.name",
    value: `Eve at ${place}`,
  }));
  await store.write({ ...viewOf("eve"), changes });
  const valuesIn = async (project?: string) =>
    (await listFacts(services, ACCOUNT, { ...person, project })).map(({ value }) => value);
  const forget = (scope?: "person") =>
    forgetFact(services, ACCOUNT, { ...person, label: "USER.name", scope });
  await forget("person");
  assert.deepEqual([await valuesIn(), await valuesIn("loom")], [[], ["Eve at loom"]]);
  await forget();
  assert.deepEqual(await valuesIn("loom"), []);
  await forgetUser(services, ACCOUNT, { userId: "eve" });
  assert.deepEqual(await valuesIn("tent"), []);
});

test("a fact with another revision than the expected one is not forgotten, and the refusal shows it", async (context) => {
  const { services, valuesOf } = await setUp(context);
  const forget = (ifRevision: number) =>
    forgetFact(services, ACCOUNT, { userId: "ada", label: "USER.name", ifRevision });
  const present = { label: "USER.name", value: "Ada", revision: 1, updated_at: "1970-01-01T00:00:00.000Z" };
  await assert.rejects(forget(2), { code: "revision_mismatch", extra: { param: "If-Match", present } });
  assert.deepEqual(await valuesOf("ada"), ["Ada", "Sideband"]);
  await forget(1);
  assert.deepEqual(await valuesOf("ada"), ["Sideband"]);
});

test("a fact that is not there cannot be forgotten", async (context) => {
  const { valuesOf, forget } = await setUp(context);
  const notFound = { code: "fact_not_found", extra: { param: "label" } };
  await assert.rejects(forget("USER.os"), notFound);
  await assert.rejects(forget("USER.name", "eve"), notFound);
  await assert.rejects(forget("USER.name", "ada", "globex"), notFound);
  assert.deepEqual(await valuesOf("ada"), ["Ada", "Sideband"]);
});

test("a forgotten user has no facts and no cached block, and other users stay", async (context) => {
  const { services, blocks, valuesOf, write } = await setUp(context);
  await write("eve", "Eve");
  await blocks.of(requester, viewOf("ada"));
  await forgetUser(services, ACCOUNT, { userId: "ada" });
  assert.deepEqual([await valuesOf("ada"), blocks.cachedCount], [[], 0]);
  assert.deepEqual(await valuesOf("eve"), ["Eve"]);
});

test("a user of whom nothing is stored cannot be forgotten", async (context) => {
  const { services, valuesOf } = await setUp(context);
  const notFound = { code: "not_found", extra: { param: "user_id" } };
  await assert.rejects(forgetUser(services, ACCOUNT, { userId: "eve" }), notFound);
  await assert.rejects(forgetUser(services, "globex", { userId: "ada" }), notFound);
  assert.deepEqual(await valuesOf("ada"), ["Ada", "Sideband"]);
});

test("a bad user_id is refused by every call", async (context) => {
  const { services, forget } = await setUp(context);
  const invalid = { code: "invalid_request", extra: { param: "user_id" } };
  await assert.rejects(listFacts(services, ACCOUNT, { userId: "" }), invalid);
  await assert.rejects(forget("USER.name", "\n"), invalid);
  await assert.rejects(forgetUser(services, ACCOUNT, { userId: "\n" }), invalid);
});
