/** Answers that overtake each other: only the one to the newest question counts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LatestRequest } from "../../../src/web/parts/hooks.ts";

test("of several questions only the newest takes its answer, whichever comes first", () => {
  const latest = new LatestRequest();
  const [first, second] = [latest.start(), latest.start()];
  assert.deepEqual([first(), second()], [false, true]);
  const third = latest.start();
  assert.deepEqual([first(), second(), third()], [false, false, true]);
});

test("after a drop no answer that is on its way is taken, and the next question's is", () => {
  const latest = new LatestRequest();
  const before = latest.start();
  latest.cancel();
  assert.equal(before(), false);
  assert.equal(latest.start()(), true);
});
