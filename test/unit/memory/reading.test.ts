/** Who can read a block that is presented, and what a block that was just built must hold. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { buildBlock } from "../../../src/codec/block.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { KeyRing } from "../../../src/memory/key-ring.ts";
import { findReadBackFault, readPresentedBlock } from "../../../src/memory/reading.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import { viewOf } from "../../fixtures/views.ts";
import { memoryServices, requester } from "./memory-services.ts";

/** The fixture's master key, and a newer one. */
const older = { id: 1, material: new Uint8Array(32) };
const newer = { id: 2, material: new Uint8Array(32).fill(2) };

const FACTS = [
  { label: "USER.name", channel: 0, value: "Ada", mark: "current" },
  { label: "USER.project", channel: 1, value: "Sideband", mark: "current" },
];
const unreadable = {
  code: "block_unreadable",
  message: "This block cannot be read for this user.",
  extra: { param: "block" },
};

async function setUp(context: TestContext) {
  const memory = await memoryServices(context);
  await memory.write("ada", "Ada", "Sideband");
  const { text } = (await memory.blocks.of(requester, viewOf("ada")))!;
  const read = (block: string, by = requester, userId = "ada", services: MemoryServices = memory.services) =>
    readPresentedBlock(services, by, { userId, block });
  const fault = (expected: { channel: number; value: string }[], channels?: number[]) =>
    findReadBackFault(memory.services, memory.services.blockWork.begin(requester), "ada", {
      text,
      expected,
      ...(channels === undefined ? {} : { channels }),
    });
  return { ...memory, text, read, fault };
}

test("a block is read by its own account and user", async (context) => {
  const { text, read } = await setUp(context);
  const { facts, missing, wrong } = await read(text);
  assert.deepEqual([facts, missing, wrong], [FACTS, 0, 0]);
});

test("a block is read inside other text", async (context) => {
  const { text, read } = await setUp(context);
  assert.deepEqual((await read(`Remember this: ${text} That was it.`)).facts, FACTS);
});

test("a damaged block is read whole, and its damage is told", async (context) => {
  const { text, read } = await setUp(context);
  const words = text.split(" ");
  const { facts, missing } = await read([...words.slice(0, 100), ...words.slice(101)].join(" "));
  assert.deepEqual([facts, missing > 0], [FACTS, true]);
});

test("another account, another user and a text without a block get the same refusal", async (context) => {
  const { text, read } = await setUp(context);
  await assert.rejects(read(text, { ...requester, account: "globex" } as never), unreadable);
  await assert.rejects(read(text, requester, "eve"), unreadable);
  await assert.rejects(read("There is no block here."), unreadable);
});

test("a block of another format version is refused with its version, whoever it belongs to", async (context) => {
  const { read } = await setUp(context);
  const key = { id: 1, material: new Uint8Array(64).fill(9) };
  const codebook = { ...PLAIN_CODEBOOK, version: 9 };
  const { text } = buildBlock(
    FACTS.map((fact, order) => ({ ...fact, order })),
    { key, userId: "eve", codebook },
  );
  await assert.rejects(read(text), {
    code: "block_unreadable",
    message:
      "This block cannot be read: the block has format version 9; this reader knows 1, 17. " +
      "Get a new one with GET /context or POST /flush.",
  });
});

test("a block from before a rotation of the master key is read after it", async (context) => {
  const { services, text, read } = await setUp(context);
  const rotated = { ...services, keyRing: new KeyRing([older, newer]) };
  assert.deepEqual((await read(text, requester, "ada", rotated)).facts, FACTS);
});

test("a block whose master key was taken away is not read", async (context) => {
  const { services, text, read } = await setUp(context);
  const without = { ...services, keyRing: new KeyRing([newer]) };
  await assert.rejects(read(text, requester, "ada", without), unreadable);
});

test("a bad user_id is refused before the block is read", async (context) => {
  const { text, read, workers } = await setUp(context);
  await assert.rejects(read(text, requester, ""), { code: "invalid_request", extra: { param: "user_id" } });
  assert.equal(workers.countOf("open"), 0);
});

test("a block that holds exactly the expected facts has no fault", async (context) => {
  const { fault } = await setUp(context);
  assert.equal(await fault(FACTS), undefined);
});

test("a block that holds another value, a fact more or a fact less than expected has a fault", async (context) => {
  const { fault } = await setUp(context);
  const differs = "what is read back differs from the state";
  assert.equal(await fault([FACTS[0], { channel: 1, value: "other" }]), differs);
  assert.equal(await fault([FACTS[0]]), differs);
  assert.equal(await fault([...FACTS, { channel: 2, value: "more" }]), differs);
});

test("only the named channels are read and compared", async (context) => {
  const { fault, workers } = await setUp(context);
  assert.equal(await fault([FACTS[1]], [1]), undefined);
  assert.equal(workers.countOf("value"), 1);
});
