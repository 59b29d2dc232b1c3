/** A budget of bytes: bounded in all, for an account and for an address, and given back whole. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import { BODIES, ByteBudget } from "../../../src/http/request/byte-budget.ts";

const REFUSED = { code: "overloaded" };

function setUp(bytesMax: number) {
  const metrics = new Metrics();
  const budget = new ByteBudget(metrics, { ...BODIES, bytesMax });
  const taken = () => metrics.value("sideband_body_bytes");
  return { budget, taken };
}

test("an address has an eighth of the budget, an account a quarter, and all together the whole", () => {
  const { budget, taken } = setUp(800);
  const take = (account: string, address: string, bytes: number) => {
    const holding = budget.holdingFor(account, address);
    holding.take(bytes);
    return holding;
  };
  take("a", "1", 60);
  assert.throws(() => take("b", "1", 41), { ...REFUSED, message: /from this address/ });
  take("b", "1", 40);
  take("a", "2", 100);
  assert.throws(() => take("a", "3", 41), { ...REFUSED, message: /of this account/ });
  take("a", "3", 40);
  for (let i = 0; i < 14; i++) take(`of-${i}`, `from-${i}`, 40);
  assert.equal(taken(), 800);
  assert.throws(() => take("c", "4", 1), {
    ...REFUSED,
    extra: { retryAfterS: 1 },
    message: /of the requests that/,
  });
  assert.equal(taken(), 800, "what is refused takes nothing");
});

test("what is given back is free again, once", () => {
  const { budget, taken } = setUp(800);
  const holding = budget.holdingFor("a", "1");
  holding.take(30);
  holding.take(70);
  assert.throws(() => holding.take(1), REFUSED);
  const other = budget.holdingFor("a", "2");
  other.take(100);
  holding.giveBack();
  holding.giveBack();
  assert.equal(taken(), 100);
  budget.holdingFor("a", "1").take(100);
});

test("a holding becomes larger and smaller, and stays as it is where it does not fit", () => {
  const { budget, taken } = setUp(800);
  const holding = budget.holdingFor("a", "1");
  for (const bytes of [60, 100, 40]) {
    holding.hold(bytes);
    assert.equal(taken(), bytes);
  }
  assert.equal(budget.largestBytes, 100);
  assert.throws(() => holding.hold(101), REFUSED);
  assert.equal(taken(), 40);
  holding.giveBack();
  assert.equal(taken(), 0);
});
