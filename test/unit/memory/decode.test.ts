/** One fact: from the state, and from the block with the state beside it. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DEADLINE_MS } from "../../../src/blockwork/block-scheduler.ts";
import { decodeFact, decodeThroughModel } from "../../../src/memory/decode.ts";
import { ACCOUNT, forgedCode, memoryServices, requester, valueTooLargeForABlock } from "./memory-services.ts";

const NAME = { userId: "ada", label: "USER.name" };

async function setUp(context: TestContext) {
  const memory = await memoryServices(context);
  const throughModel = async (input = NAME) => {
    const { fact, verified } = await decodeThroughModel(memory.services, requester, input);
    return { value: fact.value, verified };
  };
  return { ...memory, throughModel };
}

test("the time that a reading took is told in whole milliseconds", async (context) => {
  const { services, write, workers } = await setUp(context);
  await write("ada", "Ada");
  const openGate = workers.hold();
  const startedMs = performance.now();
  const reading = decodeThroughModel(services, requester, NAME);
  const beganMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 5));
  const heldMs = performance.now() - beganMs;
  openGate();
  const { latencyMs } = await reading;
  const tookMs = performance.now() - startedMs;
  assert.ok(Number.isInteger(latencyMs) && latencyMs >= heldMs && latencyMs <= Math.ceil(tookMs));
});

test("a fact from the state needs no block", async (context) => {
  const { services, write, workers } = await setUp(context);
  await write("ada", "Ada");
  await decodeFact(services, ACCOUNT, NAME);
  assert.deepEqual(workers.began, []);
});

test("a bad user_id and an unknown label are refused, in the state and through the model", async (context) => {
  const { services } = await setUp(context);
  for (const [input, code] of [
    [{ ...NAME, userId: "" }, "invalid_request"],
    [{ ...NAME, label: "name" }, "unknown_label"],
  ] as const) {
    await assert.rejects(async () => decodeFact(services, ACCOUNT, input), { code });
    await assert.rejects(decodeThroughModel(services, requester, input), { code });
  }
});

test("a value that the reader finds in the block is verified", async (context) => {
  const { throughModel, write, workers } = await setUp(context);
  await write("ada", "Ada", "Sideband");
  assert.deepEqual(await throughModel(), { value: "Ada", verified: true });
  assert.equal(workers.countOf("value"), 1, "only the fact's own channel is read");
});

test("the time that its block takes counts towards the deadline of the reading", async (context) => {
  const { services, throughModel, write, clock } = await setUp(context);
  await write("ada", "Ada");
  const blockOf = services.blocks.of.bind(services.blocks);
  services.blocks.of = async (...args) => {
    const block = await blockOf(...args);
    clock.advance(DEADLINE_MS);
    return block;
  };
  await assert.rejects(throughModel(), { code: "overloaded" });
});

test("wrong code bits under a right checksum are not verified, and the value is the state's", async (context) => {
  const { throughModel, write, factsOf, saveCode } = await setUp(context);
  await write("ada", "Ada", "Sideband");
  const [fact] = factsOf("ada");
  await saveCode("ada", fact, forgedCode(fact, "Eve"));
  assert.deepEqual(await throughModel(), { value: "Ada", verified: false });
});

test("wrong code bits of another fact do not matter", async (context) => {
  const { throughModel, write, factsOf, saveCode } = await setUp(context);
  await write("ada", "Ada", "Sideband");
  const [, other] = factsOf("ada");
  await saveCode("ada", other, forgedCode(other, "Eve"));
  assert.deepEqual(await throughModel(), { value: "Ada", verified: true });
});

test("a block that cannot be read is not verified, and the value is the state's", async (context) => {
  const { throughModel, write, workers } = await setUp(context);
  await write("ada", "Ada");
  workers.distort = (message, result) => (message.kind === "open" ? { ok: false, reason: "broken" } : result);
  assert.deepEqual(await throughModel(), { value: "Ada", verified: false });
});

test("a fact that did not fit its block is not looked for in it, and the value is the state's", async (context) => {
  const { throughModel, write, workers } = await setUp(context);
  const value = valueTooLargeForABlock();
  await write("ada", value, "Sideband");
  assert.deepEqual(await throughModel(), { value, verified: false });
  assert.equal(workers.countOf("open"), 0);
});

test("the value through the model is that of the last write", async (context) => {
  const { throughModel, write } = await setUp(context);
  await write("ada", "Ada");
  await throughModel();
  await write("ada", "Grace");
  assert.deepEqual(await throughModel(), { value: "Grace", verified: true });
});
