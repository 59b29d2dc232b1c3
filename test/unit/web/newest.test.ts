/** Answers that overtake each other: only the one to the newest question counts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Newest } from "../../../src/web/parts/newest.ts";

test("of several questions only the newest takes its answer, whichever comes first", () => {
  const newest = new Newest();
  const [first, second] = [newest.begin(), newest.begin()];
  assert.deepEqual([first(), second()], [false, true]);
  const third = newest.begin();
  assert.deepEqual([first(), second(), third()], [false, false, true]);
});

test("after a drop no answer that is on its way is taken, and the next question's is", () => {
  const newest = new Newest();
  const before = newest.begin();
  newest.drop();
  assert.equal(before(), false);
  assert.equal(newest.begin()(), true);
});
