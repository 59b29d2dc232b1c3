/** The event loop is shared out by account, by the time that each has used. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { FairShares, FairTurns, TURNS_MAX } from "../../../src/base/fair-turns.ts";

/** The only thing that takes time: a machine that is busy with something else has no part in the shares. */
function workOf(context: TestContext): (ms: number) => void {
  let nowMs = 0;
  context.mock.method(performance, "now", () => nowMs);
  return (ms) => {
    nowMs += ms;
  };
}

test("whoever comes with one piece of work waits for one of those who have many, not for all", async (context) => {
  const turns = new FairTurns();
  const work = workOf(context);
  const order: string[] = [];
  const take = async (account: string) => {
    await turns.next(account);
    work(1);
    order.push(account);
  };
  const many = Array.from({ length: 50 }, () => take("busy"));
  await many[2];
  await take("other");
  const before = order.length;
  assert.ok(before <= 5, `${before} pieces of the other account came first`);
  await Promise.all(many);
  assert.equal(order.length, 51);
});

test("accounts that both have much to do get the same time, however many pieces it is in", async (context) => {
  const turns = new FairTurns();
  const work = workOf(context);
  const usedMs = { small: 0, large: 0 };
  let isOver = false;
  const loop = async (account: keyof typeof usedMs, ms: number) => {
    while (!isOver) {
      await turns.next(account);
      work(ms);
      usedMs[account] += ms;
      isOver = usedMs.small >= 100 || usedMs.large >= 100;
    }
  };
  await Promise.all([loop("large", 5), ...Array.from({ length: 10 }, () => loop("small", 0.5))]);
  const ratio = usedMs.small / usedMs.large;
  assert.ok(ratio > 0.5 && ratio < 2, JSON.stringify(usedMs));
});

test("between two turns the event loop comes round", async () => {
  const turns = new FairTurns();
  let rounds = 0;
  let isOver = false;
  void (async () => {
    for (; !isOver; await nextTurn()) rounds += 1;
  })();
  await Promise.all(Array.from({ length: 20 }, () => turns.next("busy")));
  isOver = true;
  assert.ok(rounds >= 19, `${rounds} rounds`);
});

test("a turn more than an account may wait for is refused, and others are not", async () => {
  const turns = new FairTurns();
  const waiting = Array.from({ length: TURNS_MAX }, () => turns.next("busy"));
  await assert.rejects(turns.next("busy"), { code: "overloaded" });
  await turns.next("other");
  await Promise.all(waiting);
  await turns.next("busy");
});

test("an account that was idle has no time saved up, and one that has used much does not begin anew", () => {
  const shares = new FairShares({
    make: (virtualMs) => ({ virtualMs, isReady: true }),
    isIdle: ({ isReady }) => !isReady,
  });
  const [a, b] = [shares.of("a"), shares.of("b")];
  a.virtualMs = 100;
  b.isReady = false;
  shares.begin(a);
  const isReady = (share: { isReady: boolean }) => share.isReady;
  assert.equal(shares.lowest(isReady), a);
  // It was forgotten, and comes back at the present.
  assert.equal(shares.of("b").virtualMs, 100);
  a.virtualMs = 150;
  a.isReady = false;
  assert.equal(shares.lowest(isReady)?.virtualMs, 100);
  assert.equal(shares.of("a").virtualMs, 150);
  shares.rest();
  assert.equal(shares.of("c").virtualMs, 150);
});
