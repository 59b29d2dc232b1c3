/** When facts are ended: at the next end, and how often otherwise. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ExpiryTimer } from "../../../src/main/expiry-timer.ts";
import type { Store, WriteRequest } from "../../../src/memory/ports.ts";
import { ModuleTimers } from "../../fixtures/module-timers.ts";
import { FakeClock, settled } from "../blockwork/fake-workers.ts";

const DAY_MS = 86_400_000;

/** A timer of a store whose ends are in a list; time goes by as it is told to. */
function setUp(context: TestContext, delayMs = 0) {
  const timers = new ModuleTimers(context, "src/main/expiry-timer.ts");
  const clock = new FakeClock(1_000_000);
  const startMs = clock.now();
  const timer = new ExpiryTimer(clock, () => delayMs);
  const state = { ends: [] as number[], isAway: false, isHeld: false };
  /** When it has looked, in milliseconds after the start, and how many ended. */
  const rounds: [atMs: number, count: number][] = [];
  const write = async ({ changes }: WriteRequest) => {
    const ends = changes.flatMap((change) => ("expiresAtMs" in change ? (change.expiresAtMs ?? []) : []));
    state.ends.push(...ends);
    return { outcome: "stored", changes };
  };
  const store = timer.watched({ write } as unknown as Store);
  const stop = timer.start(async () => {
    const due = state.isHeld ? [] : state.ends.filter((endMs) => endMs <= clock.now());
    rounds.push([clock.now() - startMs, due.length]);
    if (state.isAway) throw new Error("away");
    state.ends = state.ends.filter((endMs) => !due.includes(endMs));
    return { count: due.length, nextMs: state.ends.length === 0 ? undefined : Math.min(...state.ends) };
  });
  context.after(stop);
  const pass = async (ms: number) => {
    for (let i = 0; i < ms; i += 10) {
      clock.advance(10);
      timers.tick(10);
      await settled();
    }
  };
  /** Writes facts that expire so much later. */
  const writeEnds = (...afterMs: (number | null)[]) =>
    store.write({
      changes: afterMs.map((ms) => ({ expiresAtMs: ms === null ? null : clock.now() + ms })),
    } as unknown as WriteRequest);
  return { state, rounds, pass, write: writeEnds, stop };
}

test("a fact is ended at its moment, whoever wrote it, and nothing is looked for in between", async (context) => {
  const { state, rounds, pass, write } = setUp(context);
  await settled();
  // Another node has written this one before.
  state.ends.push(1_000_000 + 45_000);
  await write(null, 5_000, 2_000);
  await write(20_000);
  await pass(60_000);
  const ended = rounds.filter(([, count]) => count > 0);
  assert.deepEqual(ended, [
    [2_000, 1],
    [5_000, 1],
    [20_000, 1],
    [45_000, 1],
  ]);
  assert.ok(rounds.length <= 8, `${rounds}`);
});

test("ends that come close together are one piece of work", async (context) => {
  const { rounds, pass, write } = setUp(context);
  await settled();
  await write(...Array.from({ length: 100 }, (_, i) => 1_000 + 2 * i));
  await pass(2_000);
  assert.ok(rounds.length <= 6, `${rounds}`);
  assert.equal(
    rounds.reduce((sum, [, count]) => sum + count, 0),
    100,
  );
});

test("an end that is a month away lets it sleep: no timer is set beyond half a minute", async (context) => {
  const { rounds, pass, write } = setUp(context);
  await settled();
  await write(30 * DAY_MS);
  await pass(65_000);
  assert.deepEqual(
    rounds.map(([atMs]) => atMs),
    [0, 30_000, 60_000],
  );
});

test("what is due and cannot be ended, or a store that is away, is tried again a second later", async (context) => {
  const { state, rounds, pass, write } = setUp(context);
  await settled();
  state.isHeld = true;
  await write(1_000);
  await pass(2_500);
  state.isAway = true;
  await pass(2_000);
  Object.assign(state, { isHeld: false, isAway: false });
  await pass(1_000);
  assert.deepEqual(rounds, [
    [0, 0],
    [1_000, 0],
    [2_000, 0],
    [3_000, 0],
    [4_000, 0],
    [5_000, 1],
  ]);
});

test("ends that it has asked for wait a moment for the node that wrote them; its own do not", async (context) => {
  const { rounds, pass, write } = setUp(context, 300);
  await settled();
  await write(1_000, 2_000);
  await pass(5_000);
  assert.deepEqual(rounds.slice(1, 3), [
    [1_000, 1],
    [2_300, 1],
  ]);
});

test("after the end nothing is looked for", async (context) => {
  const { rounds, pass, write, stop } = setUp(context);
  await settled();
  await write(1_000);
  stop();
  await write(500);
  await pass(40_000);
  assert.equal(rounds.length, 1);
});
