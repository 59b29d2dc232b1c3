/** The distance between words, and when a word counts as another one with a slip. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { editDistance, isSlip } from "../../../src/base/edit-distance.ts";

test("an added, removed, replaced letter and a swap of two neighbours are one edit each", () => {
  for (const [a, b, distance] of [
    ["", "", 0],
    ["", "abc", 3],
    ["role", "rol", 1],
    ["role", "roles", 1],
    ["role", "rule", 1],
    ["role", "rloe", 1],
    ["role", "elor", 3],
    ["kitten", "sitting", 3],
  ] as const) {
    assert.equal(editDistance(a, b), distance, `${a} ${b}`);
    assert.equal(editDistance(b, a), distance, `${b} ${a}`);
  }
});

test("a slip is at most two edits, and fewer than half of the letters", () => {
  assert.ok(isSlip("rember", "remember"));
  assert.ok(!isSlip("reber", "remember"));
  assert.ok(isSlip("fact", "facts"));
  assert.ok(!isSlip("do", "db"));
  assert.ok(!isSlip("", "db"));
  assert.ok(!isSlip("userox", "useros", "os".length), "only the letters of the name count");
});
