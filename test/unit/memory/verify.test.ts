/** verify names what is wrong with a user's facts, codes or block, and nothing where all is right. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { codeOf } from "../../../src/blockwork/fact-code.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { verifyAll } from "../../../src/memory/verify.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { changesOf, numberOf, viewOf } from "../../fixtures/views.ts";
import { forgedCode, memoryServices, valueTooLargeForABlock } from "./memory-services.ts";

async function setUp(context: TestContext) {
  const memory = await memoryServices(context);
  await memory.write("ada", "Ada", "London");
  await memory.write("eve", "Eve");
  const verify = () =>
    verifyAll(memory.services, { deep: true, progress: () => {}, signal: new AbortController().signal });
  const faults = async () => (await verify()).findings.map(({ userId, fault }) => `${userId}: ${fault}`);
  return { ...memory, verify, faults };
}

test("a sound store has no findings, with and without code bits", async (context) => {
  const { verify, factsOf, saveCode } = await setUp(context);
  const sound = { users: 2, facts: 3, overflowed: 0, findings: [] };
  assert.deepEqual(await verify(), sound);
  for (const fact of factsOf("ada"))
    await saveCode("ada", fact, codeOf(PLAIN_CODEBOOK, { channel: numberOf(fact.label), value: fact.value }));
  assert.deepEqual(await verify(), sound);
});

test("a fact that does not fit its block is counted, and is no fault", async (context) => {
  const { verify, write } = await setUp(context);
  await write("bob", valueTooLargeForABlock(), "London");
  await write("carl", valueTooLargeForABlock(), "Paris");
  assert.deepEqual(await verify(), { users: 4, facts: 7, overflowed: 2, findings: [] });
});

test("the progress is told with the number of users, where it is known; of one account no other record is looked at", async (context) => {
  const { services, store } = await setUp(context);
  await store.write({ ...viewOf("bob", "globex"), changes: changesOf([[0, "Bob"]]) });
  const damage = async function* () {
    yield "facts 7";
  };
  context.mock.method(store, "findDamage", damage);
  const { signal } = new AbortController();
  const told: number[][] = [];
  const verify = (more: { account?: string } = {}) =>
    verifyAll(services, { deep: true, progress: (...step) => void told.push(step), signal, ...more });
  const fault = "the record facts 7 fails its checksum";
  assert.deepEqual((await verify()).findings, [{ account: "", userId: "", fault }]);
  assert.deepEqual((await verify({ account: "globex" })).findings, []);
  context.mock.method(store, "statistics", () => Promise.reject(new Error("damaged")));
  await verify();
  assert.deepEqual(told, [
    [1, 3],
    [2, 3],
    [3, 3],
    [1, 0],
    [1, 0],
    [2, 0],
    [3, 0],
  ]);
});

test("of more than 1,000 findings the first are told", async (context) => {
  const { verify, store } = await setUp(context);
  context.mock.method(store, "findDamage", async function* () {
    for (let i = 0; i < 1_001; i++) yield `facts ${i}`;
  });
  const { findings } = await verify();
  assert.equal(findings.length, 1_000);
  assert.match(findings[999].fault, /facts 999 /);
});

test("code bits that fail their checksum are found", async (context) => {
  const { faults, factsOf, saveCode } = await setUp(context);
  const [fact] = factsOf("ada");
  await saveCode("ada", fact, codeOf(PLAIN_CODEBOOK, { channel: numberOf(fact.label), value: "Eve" }));
  assert.deepEqual(await faults(), ["ada: the code bits kept on USER.name fail their checksum"]);
});

test("without blocks no thread works, and what fails its checksum is found all the same", async (context) => {
  const { services, store, workers, factsOf, saveCode } = await setUp(context);
  const { signal } = new AbortController();
  const quick = () => verifyAll(services, { deep: false, progress: () => {}, signal });
  assert.deepEqual(await quick(), { users: 2, facts: 3, overflowed: null, findings: [] });
  const [fact] = factsOf("ada");
  await saveCode("ada", fact, codeOf(PLAIN_CODEBOOK, { channel: numberOf(fact.label), value: "Eve" }));
  context.mock.method(store, "findDamage", async function* () {
    yield "facts 7";
  });
  assert.deepEqual(fieldsOf((await quick()).findings, "fault"), [
    "the code bits kept on USER.name fail their checksum",
    "the record facts 7 fails its checksum",
  ]);
  assert.deepEqual(
    [workers.countOf("code"), workers.countOf("assemble"), workers.countOf("open")],
    [0, 0, 0],
  );
});

test("code bits of another value under a right checksum are found", async (context) => {
  const { faults, factsOf, saveCode } = await setUp(context);
  const [fact] = factsOf("ada");
  await saveCode("ada", fact, forgedCode(fact, "Eve"));
  const alone = factsOf("eve")[0];
  await saveCode("eve", alone, forgedCode(alone, "Ada"));
  const fault = "the code bits kept with the facts give another block";
  assert.deepEqual(await faults(), [`ada: ${fault}`, `eve: ${fault}`]);
});

test("facts are counted at their own place, and what has expired has no place", async (context) => {
  const { verify, store, clock } = await setUp(context);
  const changes = [
    { place: "", label: "USER.name", value: valueTooLargeForABlock() },
    { place: "loom", label: "USER.project", value: "weave", expiresAtMs: 1000 },
    { place: "tent", label: "USER.affiliation", value: "sew" },
  ];
  await store.write({ ...viewOf("bob"), changes });
  assert.deepEqual(await verify(), { users: 3, facts: 6, overflowed: 3, findings: [] });
  clock.advance(1000);
  assert.deepEqual(await verify(), { users: 3, facts: 5, overflowed: 2, findings: [] });
});

test("a user that is forgotten during the walk is no fault", async (context) => {
  const { verify, store } = await setUp(context);
  context.mock.method(store, "readUser", () => undefined);
  assert.deepEqual(await verify(), { users: 2, facts: 0, overflowed: 0, findings: [] });
  context.mock.method(store, "readLife", async () => undefined);
  assert.deepEqual(await verify(), { users: 2, facts: 0, overflowed: 0, findings: [] });
});

test("a block that is read back with another value or label is found", async (context) => {
  const { faults, workers } = await setUp(context);
  for (const other of [{ value: "Paris" }, { label: "HOME.city" }]) {
    workers.distort = (message, result) => {
      const fact = result as { value?: string };
      return message.kind === "value" && fact.value === "London" ? { ...fact, ...other } : result;
    };
    assert.deepEqual(await faults(), ["ada: what is read back differs from the state"]);
  }
});

test("a block that cannot be read back is found, with the reason", async (context) => {
  const { faults, workers } = await setUp(context);
  workers.distort = (message, result) =>
    message.kind === "open" && message.userId === "eve" ? { ok: false, reason: "broken" } : result;
  assert.deepEqual(await faults(), ["eve: the block cannot be read back: broken"]);
});

test("a failing user does not end the walk", async (context) => {
  const { verify, workers } = await setUp(context);
  workers.distort = (message, result) => {
    if (message.kind === "assemble" && message.userId === "ada") throw new RangeError();
    return result;
  };
  const { users, findings } = await verify();
  assert.equal(users, 2);
  assert.deepEqual(findings, [{ account: "acme", userId: "ada", fault: "block task failed: RangeError" }]);
});

test("whoever hangs up ends the walk at the next user", async (context) => {
  const { services, store } = await setUp(context);
  const { mock } = context.mock.method(store, "readUser");
  const caller = new AbortController();
  const progress = () => caller.abort(new Error("gone"));
  await assert.rejects(verifyAll(services, { deep: true, progress, signal: caller.signal }), /gone/);
  assert.deepEqual(
    mock.calls.map((call) => call.arguments[0].userId),
    ["ada"],
  );
});
