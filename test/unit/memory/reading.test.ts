/** Who can read a block that is presented, and what a block that was just built must hold. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { buildBlock } from "../../../src/codec/block.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { type EncodeInput, encodeFacts, type FactInput } from "../../../src/memory/encode.ts";
import { type ForgetInput, forgetFact, forgetUser } from "../../../src/memory/facts.ts";
import { KeyRing } from "../../../src/memory/key-ring.ts";
import { findReadBackFault, readPresentedBlock } from "../../../src/memory/reading.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import { viewOf } from "../../fixtures/views.ts";
import { ACCOUNT, caller, memoryServices, requester } from "./memory-services.ts";

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
      expected: expected.map((fact) => ({ label: "", ...fact })),
      ...(channels === undefined ? {} : { channels }),
    });
  return { ...memory, text, read, fault };
}

test("each fact of an old block is marked with what has become of it at its places", async (context) => {
  const { services, blocks, clock } = await memoryServices(context);
  const input = { userId: "ada", project: "loom" };
  const write = (label: string, value: string, more: Partial<FactInput & EncodeInput> = {}) => {
    const { project = "loom", ...fact } = more;
    const facts = [{ label, value, ...fact }];
    return encodeFacts(services, caller, { ...input, project, facts, operation: "encode" });
  };
  const forget = (label: string, more: Partial<ForgetInput> = {}) =>
    forgetFact(services, ACCOUNT, { ...input, label, keepHistory: true, ...more });
  const view = viewOf("ada", ACCOUNT, { places: ["", "loom"] });
  await write("USER.name", "Ada");
  await write("USER.role", "poet");
  await write("USER.os", "Plan 9");
  await write("USER.gpu", "none", { ttlS: 1 });
  await write("USER.location", "London");
  await write("PROJ.goal", "weave", { scope: "person" });
  await write("PROJ.goal", "weave", { ttlS: 1 });
  const { text: block } = (await blocks.of(requester, view))!;
  const marks = async () => {
    const { facts } = await readPresentedBlock(services, requester, { ...input, block });
    return facts.map(({ label, value, mark }) => `${label}=${value} ${mark}`);
  };
  await write("USER.role", "engineer");
  // Replaced and forgotten at the same moment: the last of the two is told.
  await write("USER.os", "Linux");
  await forget("USER.os");
  // It has an end at a place that is none of the call's.
  await write("USER.location", "Paris", { project: "tent", scope: "project" });
  await forget("USER.location", { project: "tent", scope: "project" });
  await forget("USER.location", { keepHistory: false });
  // It ends in the project first, and then at the person's own place.
  clock.advance(2000);
  await forget("PROJ.goal", { scope: "person" });
  assert.deepEqual(await marks(), [
    "USER.name=Ada current",
    "USER.gpu=none expired",
    "USER.os=Plan 9 forgotten",
    "USER.role=poet replaced",
    "USER.location=London unknown_here",
    "PROJ.goal=weave forgotten",
  ]);
  // With what is left gone too, the past is still looked at.
  await forget("USER.name");
  await forget("USER.role");
  const endings = (await marks()).map((mark) => mark.slice(mark.lastIndexOf(" ") + 1));
  assert.deepEqual(endings, ["forgotten", "expired", "forgotten", "forgotten", "unknown_here", "forgotten"]);
  await forgetUser(services, ACCOUNT, { userId: "ada" });
  assert.ok((await marks()).every((mark) => mark.endsWith(" unknown_here")));
});

test("a block of another format version is refused with its version, whoever it belongs to", async (context) => {
  const { read } = await setUp(context);
  const key = { id: 1, material: new Uint8Array(64).fill(9) };
  const codebook = { ...PLAIN_CODEBOOK, version: 6 };
  const { text } = buildBlock(
    FACTS.map((fact, order) => ({ ...fact, order })),
    { key, userId: "eve", codebook },
  );
  await assert.rejects(read(text), {
    code: "block_unreadable",
    message:
      "This block cannot be read: the block has format version 6; this reader knows 1, 9, 17. " +
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
