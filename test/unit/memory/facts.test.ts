/** A user's facts, and forgetting them. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { forgetFact, forgetUser, listFacts } from "../../../src/memory/facts.ts";
import { viewOf } from "../../fixtures/views.ts";
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

test("facts are listed in the order of channels, whenever they were written", async (context) => {
  const { store, valuesOf } = await setUp(context);
  const changes = [9, 3].map((channel) => ({ place: "", channel, value: `on ${channel}` }));
  await store.write({ ...viewOf("eve", ACCOUNT), changes });
  assert.deepEqual(await valuesOf("eve"), ["on 3", "on 9"]);
});

test("an unknown user and another account's user have no facts", async (context) => {
  const { valuesOf } = await setUp(context);
  assert.deepEqual([await valuesOf("eve"), await valuesOf("ada", "globex")], [[], []]);
});

test("a forgotten fact is gone, the others stay and are counted", async (context) => {
  const { valuesOf, forget } = await setUp(context);
  assert.equal(await forget("USER.name"), 1);
  assert.deepEqual(await valuesOf("ada"), ["Sideband"]);
});

test("a forgotten fact is in no block, neither a new one nor the cached one", async (context) => {
  const { blocks, forget } = await setUp(context);
  await blocks.of(requester, viewOf("ada"));
  await forget("USER.name");
  assert.equal(blocks.cachedCount, 0);
  assert.deepEqual((await blocks.of(requester, viewOf("ada")))?.carried, [1]);
});

test("a user whose last fact is forgotten is gone", async (context) => {
  const { store, forget } = await setUp(context);
  await forget("USER.name");
  assert.equal(await forget("USER.project"), 0);
  assert.equal(store.statistics().users, 0);
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
