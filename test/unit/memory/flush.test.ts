/** flush says lossless only for a block that was read back with every fact. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { flushUser } from "../../../src/memory/flush.ts";
import { readPresentedBlock } from "../../../src/memory/reading.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { settled } from "../blockwork/fake-workers.ts";
import { forgedCode, memoryServices, requester, valueTooLargeForABlock } from "./memory-services.ts";

const input = { userId: "ada" };

test("a user without facts has an empty flush, and a bad user_id or session_id is refused", async (context) => {
  const { services } = await memoryServices(context);
  const empty = { channelCount: 0, lossless: true, text: "", overflow: [] };
  assert.deepEqual(await flushUser(services, requester, { ...input, sessionId: "one" }), empty);
  for (const [param, bad] of Object.entries({ user_id: { userId: "" }, session_id: { sessionId: "" } }))
    await assert.rejects(flushUser(services, requester, { ...input, ...bad }), {
      code: "invalid_request",
      extra: { param },
    });
});

test("a block that carries every fact is lossless", async (context) => {
  const { services, write } = await memoryServices(context);
  await write("ada", "Ada", "London");
  const { lossless, channelCount } = await flushUser(services, requester, input);
  assert.deepEqual([lossless, channelCount], [true, 2]);
});

test("wrong code bits under a right checksum are found out, and the block is rebuilt from the values", async (context) => {
  const { services, workers, write, factsOf, saveCode } = await memoryServices(context);
  await write("ada", "Ada", "London");
  const [fact] = factsOf("ada");
  await saveCode("ada", fact, forgedCode(fact, "Eve"));
  const { lossless, text: block } = await flushUser(services, requester, input);
  assert.equal(lossless, true);
  assert.equal(workers.countOf("assemble"), 2);
  const { facts } = await readPresentedBlock(services, requester, { ...input, block });
  assert.deepEqual(fieldsOf(facts, "value"), ["Ada", "London"]);
});

test("a block that is read back with another value is not lossless", async (context) => {
  const { services, workers, write } = await memoryServices(context);
  await write("ada", "Ada", "London");
  workers.distort = (message, result) => (message.kind === "value" ? { channel: 0, value: "Eve" } : result);
  assert.equal((await flushUser(services, requester, input)).lossless, false);
});

test("a block that is read back without one of its facts is not lossless", async (context) => {
  const { services, workers, write } = await memoryServices(context);
  await write("ada", "Ada", "London");
  workers.distort = (message, result) => {
    if (message.kind !== "open") return result;
    const opened = result as { codes: unknown[] };
    return { ...opened, codes: opened.codes.slice(1) };
  };
  assert.equal((await flushUser(services, requester, input)).lossless, false);
});

test("a fact that did not fit makes a flush not lossless, and is named", async (context) => {
  const { services, write } = await memoryServices(context);
  await write("ada", valueTooLargeForABlock(), "London");
  const { lossless, overflow } = await flushUser(services, requester, input);
  assert.equal(lossless, false);
  assert.equal(overflow.length, 1);
});

test("two callers of the same state share one flush", async (context) => {
  const { services, workers, write } = await memoryServices(context);
  await write("ada", "Ada");
  const [one, other] = await Promise.all([
    flushUser(services, requester, input),
    flushUser(services, requester, input),
  ]);
  assert.deepEqual(one, other);
  assert.equal(workers.countOf("assemble"), 1);
});

test("who flushes after a write does not share the flush of the state before it", async (context) => {
  const { services, workers, write } = await memoryServices(context);
  await write("ada", "Ada");
  const open = workers.hold();
  const before = flushUser(services, requester, input);
  await settled();
  assert.equal(workers.began.length, 1);
  await write("ada", "Grace", "London");
  const after = flushUser(services, requester, input);
  await settled();
  open();
  assert.deepEqual([(await before).channelCount, (await after).channelCount], [1, 2]);
});
