/** The cache of blocks, and coding in the background. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { BoundedCache } from "../../../src/base/bounded-cache.ts";
import { ASKED_FOR_MS, QUIET_MS } from "../../../src/memory/blocks.ts";
import { forgetUser } from "../../../src/memory/facts.ts";
import { flushUser } from "../../../src/memory/flush.ts";
import { changesOf, viewOf } from "../../fixtures/views.ts";
import { until } from "../../fixtures/waiting.ts";
import { settled } from "../blockwork/fake-workers.ts";
import { ACCOUNT, memoryServices, requester } from "./memory-services.ts";

test("a block is built once for a stamp, and anew after a write", async (context) => {
  const { blocks, workers, write } = await memoryServices(context);
  await write("ada", "Ada");
  const first = await blocks.of(requester, viewOf("ada"));
  assert.equal(await blocks.of(requester, viewOf("ada")), first);
  assert.equal(workers.countOf("assemble"), 1);
  await write("ada", "Grace");
  const second = await blocks.of(requester, viewOf("ada"));
  assert.notEqual(second?.text, first?.text);
  assert.equal(workers.countOf("assemble"), 2);
});

test("a block names its labels and its room, and one with a fact that has ended is built anew", async (context) => {
  const { store, blocks } = await memoryServices(context);
  const changes = [
    { place: "", label: "USER.name", value: "Ada" },
    { place: "", label: "USER.project", value: "Engine", expiresAtMs: 1000 },
  ];
  await store.write({ ...viewOf("ada"), changes });
  const at = async (nowMs: number) => (await blocks.of(requester, viewOf("ada", ACCOUNT, { nowMs })))!;
  const first = await at(0);
  assert.deepEqual([first.channels, first.overflow, first.carriers.max], [[0, 1], [], 480]);
  assert.ok(first.carriers.used > 0 && first.carriers.used <= 480);
  assert.equal(await at(999), first);
  assert.deepEqual((await at(1000)).channels, [0]);
});

test("a request after a change does not get the block that was begun before it", async (context) => {
  const { blocks, workers, write } = await memoryServices(context);
  await write("ada", "Ada");
  const openGate = workers.hold();
  const before = blocks.of(requester, viewOf("ada"));
  await settled();
  await write("ada", "Grace");
  const after = blocks.of(requester, viewOf("ada"));
  await settled();
  openGate();
  assert.equal((await before)?.facts[0].value, "Ada");
  assert.equal((await after)?.facts[0].value, "Grace");
});

test("two callers at the same time share one build", async (context) => {
  const { blocks, workers, write } = await memoryServices(context);
  await write("ada", "Ada");
  const [one, other] = await Promise.all([
    blocks.of(requester, viewOf("ada")),
    blocks.of(requester, viewOf("ada")),
  ]);
  assert.equal(one, other);
  assert.equal(workers.countOf("assemble"), 1);
});

test("a build ends with the last of those who wait for it", async (context) => {
  const { blocks, workers, write } = await memoryServices(context);
  await write("ada", "Ada");
  const openGate = workers.hold();
  const leaving = new AbortController();
  const block = blocks.of({ ...requester, signal: leaving.signal }, viewOf("ada"));
  await settled();
  leaving.abort(new Error("gone"));
  await assert.rejects(async () => block, /gone/);
  openGate();
  for (let i = 0; i < 10; i++) await settled();
  assert.deepEqual([workers.countOf("code"), workers.countOf("assemble")], [1, 0]);
});

test("users of two accounts with the same id are cached apart", async (context) => {
  const { blocks, store, write } = await memoryServices(context);
  await write("ada", "Ada");
  await store.write({ ...viewOf("ada", "globex"), changes: changesOf([[0, "Eve"]]) });
  const first = await blocks.of(requester, viewOf("ada"));
  await blocks.of({ ...requester, account: "globex" }, viewOf("ada", "globex"));
  assert.equal(await blocks.of(requester, viewOf("ada")), first);
});

test("a user weighs in the cache twice what the blocks and the values of all places have in characters", async (context) => {
  const { blocks, write } = await memoryServices(context);
  const { mock } = context.mock.method(BoundedCache.prototype, "set");
  await write("ada", "Ada", "London");
  const person = await blocks.of(requester, viewOf("ada"));
  const project = await blocks.of(requester, viewOf("ada", ACCOUNT, { places: ["", "loom"] }));
  assert.notEqual(project?.text, person?.text);
  const weights = mock.calls.flatMap(({ arguments: [slot, , weight] }) =>
    slot === `${ACCOUNT}\0ada` && weight !== undefined ? weight : [],
  );
  const values = "Ada".length + "London".length;
  const first = 2 * (person!.text.length + values);
  assert.deepEqual(weights, [first, first + 2 * (project!.text.length + values)]);
});

test("a user without facts has no block, and none in the cache", async (context) => {
  const { blocks, store, write } = await memoryServices(context);
  await write("ada", "Ada");
  await blocks.of(requester, viewOf("ada"));
  await store.forgetUser(ACCOUNT, "ada");
  assert.equal(await blocks.of(requester, viewOf("ada")), undefined);
  assert.equal(blocks.cachedCount, 0);
});

/** Services of which a block of ada's has been asked for, and how many values were coded since. */
async function afterBlockOf(context: TestContext) {
  const found = await memoryServices(context);
  await found.write("ada", "first");
  await found.blocks.of(requester, viewOf("ada"));
  await until(() => found.factsOf("ada").every(({ code }) => code !== undefined));
  const before = found.workers.countOf("code");
  return { ...found, codedSince: () => found.workers.countOf("code") - before };
}

test("codes are computed in the background once the account has not written for a while, and not before", async (context) => {
  const { services, blocks, codedSince, clock, write, factsOf } = await afterBlockOf(context);
  const { mock } = context.mock.method(services.blockWork, "code");
  await write("ada", "Ada", "London");
  blocks.codeInBackground(requester, viewOf("ada"));
  clock.advance(QUIET_MS - 1);
  blocks.codeInBackground(requester, viewOf("ada"));
  clock.advance(QUIET_MS - 1);
  await settled();
  assert.equal(codedSince(), 0);
  clock.advance(1);
  await until(() => factsOf("ada").every(({ code }) => code !== undefined));
  await blocks.of(requester, viewOf("ada"));
  assert.equal(codedSince(), 2);
  assert.deepEqual(mock.calls[0].arguments[0], { ...requester, background: true }, "behind every request");
});

test("nothing is coded for a user whose block nobody has asked for", async (context) => {
  const { blocks, workers, clock, write, factsOf } = await memoryServices(context);
  for (let i = 0; i < 100; i++) {
    await write(`user ${i}`, "Ada");
    blocks.codeInBackground(requester, viewOf(`user ${i}`));
  }
  assert.equal(clock.alarmCount, 0);
  clock.advance(QUIET_MS);
  await settled();
  assert.equal(workers.countOf("code"), 0);
  await blocks.of(requester, viewOf("user 7"));
  await until(() => factsOf("user 7").every(({ code }) => code !== undefined));
  assert.equal(workers.countOf("code"), 1, "a block that is asked for is made then");
});

test("codes are computed ahead for a week after a block was asked for, also by a flush, and no longer", async (context) => {
  const { services, blocks, codedSince, clock, write, factsOf } = await afterBlockOf(context);
  const coded = () => factsOf("ada").every(({ code }) => code !== undefined);
  clock.advance(ASKED_FOR_MS);
  await write("ada", "Ada");
  blocks.codeInBackground(requester, viewOf("ada"));
  clock.advance(QUIET_MS);
  await until(coded);
  assert.equal(codedSince(), 1);
  await write("ada", "Grace");
  blocks.codeInBackground(requester, viewOf("ada"));
  assert.equal(clock.alarmCount, 0, "the week is over");
  await flushUser(services, requester, { userId: "ada" });
  await write("ada", "Edith");
  blocks.codeInBackground(requester, viewOf("ada"));
  clock.advance(QUIET_MS);
  await until(coded);
});

test("that a block was asked for is forgotten with the user", async (context) => {
  const { services, blocks, codedSince, clock, write } = await afterBlockOf(context);
  await forgetUser(services, ACCOUNT, { userId: "ada" });
  await write("ada", "Ada");
  blocks.codeInBackground(requester, viewOf("ada"));
  assert.equal(clock.alarmCount, 0);
  assert.equal(codedSince(), 0);
});

test("coding in the background stops when the account writes again, and goes on when it is quiet again", async (context) => {
  const { blocks, workers, codedSince, clock, write, factsOf } = await afterBlockOf(context);
  await write("eve", "first");
  await blocks.of(requester, viewOf("eve"));
  await write("ada", "Ada", "London", "chess");
  blocks.codeInBackground(requester, viewOf("ada"));
  const open = workers.hold();
  clock.advance(QUIET_MS);
  await settled();
  assert.equal(codedSince(), 2, "eve's block, and the first of ada's");
  blocks.codeInBackground(requester, viewOf("eve"));
  open();
  await until(() => factsOf("ada").some(({ code }) => code !== undefined));
  assert.equal(codedSince(), 2);
  clock.advance(QUIET_MS);
  await until(() => factsOf("ada").every(({ code }) => code !== undefined));
  assert.equal(codedSince(), 4);
});

test("a value written while its user is being coded in the background is coded after it", async (context) => {
  const { blocks, workers, codedSince, clock, write, factsOf } = await afterBlockOf(context);
  await write("ada", "Ada");
  blocks.codeInBackground(requester, viewOf("ada"));
  const open = workers.hold();
  clock.advance(QUIET_MS);
  await settled();
  assert.equal(codedSince(), 1);
  await write("ada", "Grace");
  blocks.codeInBackground(requester, viewOf("ada"));
  clock.advance(QUIET_MS);
  open();
  await until(() => factsOf("ada").every(({ code }) => code !== undefined));
  assert.equal(codedSince(), 2);
});

test("coding in the background ends, leaves no timer behind, and begins again with the next write", async (context) => {
  const { blocks, clock, write, factsOf } = await afterBlockOf(context);
  for (const value of ["Ada", "Grace"]) {
    await write("ada", value);
    blocks.codeInBackground(requester, viewOf("ada"));
    clock.advance(QUIET_MS);
    await until(() => factsOf("ada").every(({ code }) => code !== undefined));
    await settled();
    assert.equal(clock.alarmCount, 0);
  }
});

test("the codes of an account's first 100 users are computed in the background, those of further ones on demand", async (context) => {
  const { blocks, store, workers, clock, write, factsOf } = await memoryServices(context);
  for (let i = 0; i <= 100; i++) {
    await write(`user ${i}`, "first");
    await blocks.of(requester, viewOf(`user ${i}`));
  }
  await settled();
  const { mock } = context.mock.method(store, "readUser");
  for (let i = 0; i <= 100; i++) blocks.codeInBackground(requester, viewOf(`user ${i}`));
  clock.advance(QUIET_MS);
  await until(() => mock.callCount() >= 100);
  await settled();
  assert.deepEqual([mock.callCount(), mock.calls.at(-1)?.arguments[0].userId], [100, "user 99"]);
  const before = workers.countOf("code");
  await write("user 100", "Ada");
  await blocks.of(requester, viewOf("user 100"));
  await until(() => factsOf("user 100").every(({ code }) => code !== undefined));
  assert.equal(workers.countOf("code"), before + 1, "what a request has computed is kept");
});
