/** What outlives a request ends with the key that it was begun with, and with no other. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { LiveCallers } from "../../../src/memory/live-callers.ts";
import { FakeClock, settled } from "../blockwork/fake-workers.ts";
import { caller } from "./memory-services.ts";

function setUp(context: TestContext) {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const clock = new FakeClock(0);
  const state = { version: 1, isAway: false, areKeysAway: false, lookUps: [] as string[] };
  /** Until when keys count that are not for ever. */
  const untilMs = new Map<string, number>();
  const ask = async <T>(answer: T, isAway: boolean) => {
    if (isAway) throw new Error("away");
    return answer;
  };
  const live = new LiveCallers({
    clock,
    version: () => ask(state.version, state.isAway),
    untilMs: ({ keyId }) => {
      state.lookUps.push(keyId);
      return ask(untilMs.get(keyId) ?? Number.POSITIVE_INFINITY, state.areKeysAway);
    },
  });
  const ended: string[] = [];
  const watch = (name: string, more: object = {}) =>
    live.watch({ ...caller, keyId: name, ...more }, () => ended.push(name));
  const look = async () => {
    context.mock.timers.tick(100);
    for (let i = 0; i < 10; i++) await settled();
  };
  const change = (name: string, endMs: number) => {
    untilMs.set(name, endMs);
    state.version += 1;
  };
  return { clock, state, live, ended, watch, look, change };
}

test("a key that is revoked ends all that was begun with it, once, and nothing else", async (context) => {
  const { ended, watch, look, change } = setUp(context);
  for (const name of ["a", "b", "a"]) watch(name);
  await look();
  assert.deepEqual(ended, []);
  change("a", Number.NEGATIVE_INFINITY);
  await look();
  await look();
  assert.deepEqual(ended, ["a", "a"]);
});

test("a key that was revoked before the watch began ends it too", async (context) => {
  const { ended, watch, look, change } = setUp(context);
  change("a", Number.NEGATIVE_INFINITY);
  watch("a");
  await look();
  assert.deepEqual(ended, ["a"]);
});

test("a key ends what it began when it expires, also where that was changed meanwhile, and so does a token", async (context) => {
  const { clock, ended, watch, look, change } = setUp(context);
  change("a", 5_000);
  change("c", 9_000);
  watch("a", { expiresAtMs: 5_000 });
  watch("b", { token: { expiresAtMs: 4_000 } });
  watch("c", { expiresAtMs: 9_000 });
  await look();
  change("a", 8_000);
  change("b", 4_000);
  change("c", 6_000);
  for (const [nowMs, names] of [
    [3_999, []],
    [4_000, ["b"]],
    [5_999, ["b"]],
    [6_000, ["b", "c"]],
    [7_999, ["b", "c"]],
    [8_000, ["b", "c", "a"]],
  ] as const) {
    clock.advance(nowMs - clock.now());
    await look();
    assert.deepEqual(ended, names, `${nowMs}`);
  }
});

test("a key is looked up once for all that it has begun, and again only after a change", async (context) => {
  const { state, watch, look, change } = setUp(context);
  for (let i = 0; i < 3; i++) watch("a");
  for (let i = 0; i < 3; i++) await look();
  assert.deepEqual(state.lookUps, ["a"]);
  change("b", 0);
  await look();
  assert.deepEqual(state.lookUps, ["a", "a"]);
});

test("while the store is away nothing ends but what expires, and then what was revoked", async (context) => {
  const { clock, state, ended, watch, look, change } = setUp(context);
  state.isAway = true;
  watch("a");
  watch("b", { expiresAtMs: 1_000 });
  await look();
  change("a", Number.NEGATIVE_INFINITY);
  clock.advance(1_000);
  await look();
  Object.assign(state, { isAway: false, areKeysAway: true });
  await look();
  assert.deepEqual(ended, ["b"]);
  state.areKeysAway = false;
  await look();
  assert.deepEqual(ended, ["b", "a"]);
});

test("what has ended by itself is told nothing, and is not looked for", async (context) => {
  const { state, ended, watch, look, change } = setUp(context);
  const [first, second] = [watch("a"), watch("a")];
  first();
  first();
  await look();
  change("a", Number.NEGATIVE_INFINITY);
  second();
  await look();
  assert.deepEqual([ended, state.lookUps], [[], ["a"]]);
  watch("a");
  await look();
  assert.deepEqual(ended, ["a"]);
});
