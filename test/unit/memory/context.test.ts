/** A user's context: the block and the facts beside it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { readContext } from "../../../src/memory/context.ts";
import { readPresentedBlock } from "../../../src/memory/reading.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { memoryServices, requester } from "./memory-services.ts";

test("a context is the same object as long as the facts stay as they are", async (context) => {
  const { services, write } = await memoryServices(context);
  await write("ada", "Ada");
  assert.equal(
    await readContext(services, requester, { userId: "ada" }),
    await readContext(services, requester, { userId: "ada" }),
  );
});

test("a context after a write is a new one, and holds what was written in its block and beside it", async (context) => {
  const { services, write } = await memoryServices(context);
  await write("ada", "Ada");
  const before = await readContext(services, requester, { userId: "ada" });
  await write("ada", "Grace");
  const after = await readContext(services, requester, { userId: "ada" });
  assert.notEqual(after, before);
  assert.deepEqual(fieldsOf(after.facts, "value"), ["Grace"]);
  const { facts } = await readPresentedBlock(services, requester, { userId: "ada", block: after.text });
  assert.deepEqual(facts, [{ label: "USER.name", channel: 0, value: "Grace", mark: "current" }]);
});

test("a write for another user leaves a context as it is", async (context) => {
  const { services, write } = await memoryServices(context);
  await write("ada", "Ada");
  const before = await readContext(services, requester, { userId: "ada" });
  await write("eve", "Eve");
  assert.equal(await readContext(services, requester, { userId: "ada" }), before);
});

test("the context of a user without facts is empty, also for another account's user", async (context) => {
  const { services, write } = await memoryServices(context);
  await write("ada", "Ada");
  const empty = (userId: string) => ({
    userId,
    text: "",
    facts: [],
    overflow: [],
    carriers: { used: 0, max: 480 },
  });
  assert.deepEqual(await readContext(services, requester, { userId: "eve" }), empty("eve"));
  assert.deepEqual(
    await readContext(services, { ...requester, account: "globex" }, { userId: "ada" }),
    empty("ada"),
  );
});

test("the index alone has the facts with their labels, and no block is built for it", async (context) => {
  const { services, workers, write, factsOf } = await memoryServices(context);
  await write("ada", "Ada", "Engine");
  const none = { text: "", overflow: [], carriers: { used: 0, max: 480 } };
  const indexOf = (userId: string) => readContext(services, requester, { userId }, "index");
  const facts = factsOf("ada");
  assert.deepEqual(fieldsOf(facts, "label"), ["USER.name", "USER.project"]);
  assert.deepEqual(await indexOf("ada"), { ...none, userId: "ada", facts });
  assert.deepEqual(await indexOf("eve"), { ...none, userId: "eve", facts: [] });
  assert.equal(workers.countOf("code"), 0);
});

test("a bad user_id has no context", async (context) => {
  const { services } = await memoryServices(context);
  await assert.rejects(async () => readContext(services, requester, { userId: "" }), {
    code: "invalid_request",
  });
});
