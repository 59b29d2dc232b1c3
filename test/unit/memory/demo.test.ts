/** The public demo: the shared state is reset at fixed times of the clock, a sandbox lives from its own start. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DEMO_ACCOUNT, DEMO_REQUESTER, DEMO_USER, Demo } from "../../../src/memory/demo.ts";
import type { UserState, View } from "../../../src/memory/ports.ts";
import { changesOf, viewOf } from "../../fixtures/views.ts";
import { memoryServices } from "./memory-services.ts";

const HOUR_MS = 3_600_000;

async function setUp(context: TestContext, time: string) {
  const memory = await memoryServices(context, time);
  const newDemo = () => new Demo(memory.services, HOUR_MS);
  const values = () =>
    (memory.store.readUser(viewOf(DEMO_USER, DEMO_ACCOUNT)) as UserState | undefined)?.facts.map(
      ({ value }) => value,
    ) ?? [];
  const valuesOf = async (userId: string) => {
    const view = { ...viewOf(userId, DEMO_ACCOUNT), nowMs: memory.clock.now() };
    return (await memory.store.readUser(view))?.facts.map(({ value }) => value) ?? [];
  };
  /** As another process would. */
  const writeElsewhere = (number: number, value: string) =>
    memory.store.write({
      account: DEMO_ACCOUNT,
      userId: DEMO_USER,
      changes: changesOf([[number, value]]),
      places: [""],
      nowMs: memory.clock.now(),
    });
  return { ...memory, demo: newDemo(), newDemo, values, valuesOf, writeElsewhere };
}

test("a fact of the demo is written on the channel of its label", async (context) => {
  const { demo, store } = await setUp(context, "2026-11-15T12:00:00Z");
  await demo.encode("USER.name", "Ada", DEMO_USER);
  const result = await demo.encode("USER.role", "engineer", DEMO_USER);
  assert.deepEqual(result, {
    facts: [{ label: "USER.role", channel: 6, value: "engineer" }],
    channelCount: 2,
  });
  assert.equal(store.readFact(viewOf(DEMO_USER, DEMO_ACCOUNT), "USER.role")?.value, "engineer");
});

test("what was written stays until the interval's last millisecond, and is gone in the next", async (context) => {
  const { demo, clock, values } = await setUp(context, "2026-11-15T12:00:00.000Z");
  await demo.encode("USER.name", "Ada", DEMO_USER);
  clock.advance(HOUR_MS - 1);
  await demo.userOf(undefined);
  assert.deepEqual(values(), ["Ada"]);
  clock.advance(1);
  await demo.userOf(undefined);
  assert.deepEqual(values(), []);
});

test("a fact of an earlier interval is gone when the first fact of the next is written", async (context) => {
  const { demo, clock, values } = await setUp(context, "2026-11-15T12:59:59.999Z");
  await demo.encode("USER.name", "Ada", DEMO_USER);
  clock.advance(1);
  assert.equal((await demo.encode("USER.role", "engineer", await demo.userOf(undefined))).channelCount, 1);
  assert.deepEqual(values(), ["engineer"]);
});

test("a process that starts within an interval keeps its facts, from its first millisecond on", async (context) => {
  const { demo, clock, newDemo, values } = await setUp(context, "2026-11-15T13:00:00.000Z");
  await demo.encode("USER.name", "Ada", DEMO_USER);
  clock.advance(HOUR_MS / 2);
  await newDemo().userOf(undefined);
  assert.deepEqual(values(), ["Ada"]);
});

test("what another process has written in the new interval stays, and what is older is gone", async (context) => {
  const { demo, clock, values, writeElsewhere } = await setUp(context, "2026-11-15T12:30:00Z");
  await demo.encode("USER.name", "old", DEMO_USER);
  clock.advance(HOUR_MS / 2);
  await writeElsewhere(1, "new");
  await demo.userOf(undefined);
  assert.deepEqual(values(), ["new"]);
});

test("what another process writes in place of an old fact during the reset stays", async (context) => {
  const { demo, store, clock, values, writeElsewhere } = await setUp(context, "2026-11-15T12:30:00Z");
  await demo.encode("USER.name", "old", DEMO_USER);
  clock.advance(HOUR_MS / 2);
  const readUser = store.readUser.bind(store);
  const mock = context.mock.method(store, "readUser", async (view: View) => {
    const before = readUser(view);
    await writeElsewhere(0, "new");
    return before;
  });
  await demo.userOf(undefined);
  assert.equal(mock.mock.callCount(), 1);
  mock.mock.restore();
  assert.deepEqual(values(), ["new"]);
});

test("a reset that the store could not make is made by whoever comes next", async (context) => {
  const { demo, store, clock, values } = await setUp(context, "2026-11-15T12:30:00Z");
  await demo.encode("USER.name", "old", DEMO_USER);
  clock.advance(HOUR_MS / 2);
  const { mock } = context.mock.method(store, "write", () => Promise.reject(new Error("away")));
  await assert.rejects(demo.userOf(undefined), /away/);
  mock.restore();
  await demo.userOf(undefined);
  assert.deepEqual(values(), []);
});

test("the store is read for a reset once an interval", async (context) => {
  const { demo, store, clock } = await setUp(context, "2026-11-15T12:30:00Z");
  const { mock } = context.mock.method(store, "readUser");
  for (let i = 0; i < 3; i++) await demo.userOf(undefined);
  assert.equal(mock.callCount(), 1);
  clock.advance(HOUR_MS);
  await demo.userOf(undefined);
  assert.equal(mock.callCount(), 2);
});

test("the operator's reset forgets everything at once, the cached block too", async (context) => {
  const { demo, blocks, values } = await setUp(context, "2026-11-15T12:30:00Z");
  await demo.encode("USER.name", "Ada", DEMO_USER);
  await blocks.of(DEMO_REQUESTER, viewOf(DEMO_USER, DEMO_ACCOUNT));
  await demo.reset(DEMO_USER);
  assert.deepEqual([values(), blocks.cachedCount], [[], 0]);
});

test("the seconds to the next reset are those to the next full interval, rounded up", async (context) => {
  const { demo, clock } = await setUp(context, "2026-11-15T12:00:00.000Z");
  assert.equal(demo.resetsInS, 3600);
  clock.advance(1);
  assert.equal(demo.resetsInS, 3600);
  clock.advance(HOUR_MS - 2);
  assert.deepEqual([demo.resetsInS, await demo.endsInS(undefined)], [1, 1]);
  clock.advance(1);
  assert.equal(demo.resetsInS, 3600);
});

test("a value of the demo has at most 128 bytes, and a longer one is not written", async (context) => {
  const { demo, values } = await setUp(context, "2026-11-15T12:00:00Z");
  const longest = "é".repeat(64);
  await demo.encode("USER.name", longest, DEMO_USER);
  await assert.rejects(demo.encode("USER.role", `a${longest}`, DEMO_USER), { code: "invalid_value" });
  assert.deepEqual(values(), [longest]);
});

test("an unknown label is refused by the demo", async (context) => {
  const { demo } = await setUp(context, "2026-11-15T12:00:00Z");
  await assert.rejects(demo.encode("name", "Ada", DEMO_USER), { code: "unknown_label" });
});

test("a sandbox has facts of its own, which a reset of the shared state leaves alone", async (context) => {
  const { demo, valuesOf } = await setUp(context, "2026-11-15T12:00:00.000Z");
  const sandbox = await demo.userOf("0af");
  await demo.encode("USER.name", "shared", DEMO_USER);
  await demo.encode("USER.name", "mine", sandbox);
  assert.deepEqual([await valuesOf(DEMO_USER), await valuesOf(sandbox)], [["shared"], ["mine"]]);
  await demo.reset(DEMO_USER);
  assert.deepEqual([await valuesOf(DEMO_USER), await valuesOf(sandbox)], [[], ["mine"]]);
  await demo.reset(sandbox);
  assert.deepEqual(await valuesOf(sandbox), []);
});

test("a sandbox lives for an interval from its first fact, whatever the clock says, and then begins anew", async (context) => {
  const { demo, newDemo, clock, valuesOf } = await setUp(context, "2026-11-15T12:59:50.000Z");
  const sandbox = await demo.userOf("0af");
  assert.equal(await demo.endsInS("0af"), 3600);
  await demo.encode("USER.name", "Ada", sandbox);
  clock.advance(HOUR_MS / 2);
  await newDemo().userOf("0af");
  // Another process agrees on the end, and a later fact does not move it.
  assert.equal(await newDemo().endsInS("0af"), 1800);
  await newDemo().encode("USER.role", "engineer", sandbox);
  assert.equal(await demo.endsInS("0af"), 1800);
  clock.advance(HOUR_MS / 2 - 1);
  assert.deepEqual(await valuesOf(await demo.userOf("0af")), ["Ada", "engineer"]);
  clock.advance(1);
  assert.deepEqual(await valuesOf(sandbox), []);
  assert.equal(await demo.endsInS("0af"), 3600);
  await demo.encode("USER.name", "Grace", sandbox);
  clock.advance(HOUR_MS - 1);
  assert.deepEqual(await valuesOf(sandbox), ["Grace"]);
});

test("of an ended sandbox nothing is kept, and one that was begun again elsewhere is left alone", async (context) => {
  const { demo, newDemo, store, clock, valuesOf } = await setUp(context, "2026-11-15T12:00:00Z");
  for (const sandbox of ["0aa", "0bb"]) await demo.encode("USER.name", "Ada", await demo.userOf(sandbox));
  clock.advance(HOUR_MS);
  await newDemo().encode("USER.name", "Grace", `${DEMO_USER}-0bb`);
  const { mock } = context.mock.method(store, "write");
  for (let i = 0; i < 2; i++) await demo.userOf(undefined);
  assert.equal(mock.callCount(), 2, "each sandbox once");
  assert.equal(await store.readLife(DEMO_ACCOUNT, `${DEMO_USER}-0aa`, { nowMs: 0 }), undefined);
  assert.deepEqual(await valuesOf(`${DEMO_USER}-0bb`), ["Grace"]);
});
