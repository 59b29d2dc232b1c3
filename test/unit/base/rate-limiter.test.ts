/** The limit on a caller's requests in a window of time. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { enforce, RateLimiter } from "../../../src/base/rate-limiter.ts";

const WINDOW_MS = 60_000;
/** As src/base/rate-limiter.ts has it. */
const CALLERS_MAX = 100_000;

function setUp(countMax: number) {
  const clock = { nowMs: Date.parse("2026-11-15T00:00:00Z"), now: () => clock.nowMs };
  return { clock, limiter: new RateLimiter({ countMax, windowMs: WINDOW_MS, clock }) };
}

test("as many requests as the limit pass, and the next is told how long the window lasts", () => {
  const { limiter, clock } = setUp(2);
  assert.deepEqual([limiter.take("ada"), limiter.take("ada")], [0, 0]);
  clock.nowMs += 15_000;
  assert.equal(limiter.take("ada"), 45);
});

test("the time to wait is rounded up to whole seconds", () => {
  const { limiter, clock } = setUp(1);
  limiter.take("ada");
  clock.nowMs += WINDOW_MS - 1001;
  assert.equal(limiter.take("ada"), 2);
  clock.nowMs += 1000;
  assert.equal(limiter.take("ada"), 1);
});

test("each caller has a window of its own", () => {
  const { limiter } = setUp(1);
  limiter.take("ada");
  assert.equal(limiter.take("eve"), 0);
});

test("a window lasts to its last millisecond, and the next one begins with a full count", () => {
  const { limiter, clock } = setUp(2);
  for (let i = 0; i < 2; i++) limiter.take("ada");
  clock.nowMs += WINDOW_MS - 1;
  assert.notEqual(limiter.take("ada"), 0);
  clock.nowMs += 1;
  assert.deepEqual([limiter.take("ada"), limiter.take("ada")], [0, 0]);
  assert.equal(limiter.take("ada"), 60);
});

test("refused requests do not prolong the window", () => {
  const { limiter, clock } = setUp(1);
  for (let i = 0; i < 6; i++) {
    limiter.take("ada");
    clock.nowMs += 10_000;
  }
  assert.equal(limiter.take("ada"), 0);
});

test("a clock that is set back does not lock a caller out", () => {
  const { limiter, clock } = setUp(1);
  limiter.take("ada");
  clock.nowMs -= 24 * 3600_000;
  assert.equal(limiter.take("ada"), 0);
  assert.equal(limiter.take("ada"), 60);
});

test("when too many callers are known, the one seen longest ago is forgotten, and no other", () => {
  const { limiter } = setUp(1);
  limiter.take("ada");
  limiter.take("eve");
  limiter.take("ada");
  for (let i = 0; i < CALLERS_MAX - 1; i++) limiter.take(`caller ${i}`);
  assert.notEqual(limiter.take("ada"), 0);
  assert.equal(limiter.take("eve"), 0);
});

test("a refusal is rate_limited, with the time to wait", () => {
  const { limiter } = setUp(1);
  enforce(limiter, "ada");
  assert.throws(() => enforce(limiter, "ada"), { code: "rate_limited", extra: { retryAfterS: 60 } });
});
