/** The distance between words, and when a word counts as another one with a slip. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { editDistance, isOtherNumber, isSlip, slipEdits } from "../../../src/base/edit-distance.ts";
import { seededRandom } from "../../../src/base/random.ts";

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

test("labels that differ by singular and plural alone are one", () => {
  for (const [label, known] of [
    ["ALLERGIES.zoe", "ALLERGY.zoe"],
    ["DOCTOR.kids", "DOCTORS.kids"],
    ["BOXES.keys", "BOX.key"],
    ["PETS.bo", "PET.bo"],
    ["HOME.buses", "HOME.bus"],
  ] as const)
    assert.ok(isOtherNumber(label, known) && isOtherNumber(known, label), `${label} ${known}`);
  for (const [label, known] of [
    ["ALLERGY.zoe", "ALLERGY.max"],
    ["HOME.a", "HOME.as"],
    ["DOCTOR.kid", "DOCTRINE.kid"],
  ] as const)
    assert.ok(!isOtherNumber(label, known), `${label} ${known}`);
});

test("the edits to the nearest of many words are those of a table for each word", () => {
  const random = seededRandom(7);
  // Few letters, so that words are near one another, and swaps happen where a beginning meets an ending.
  const word = (least: number, most: number) =>
    Array.from({ length: least + random.below(most - least + 1) }, () => "abc"[random.below(3)]).join("");
  for (let round = 0; round < 2_000; round++) {
    const beginnings = Array.from({ length: 1 + random.below(4) }, () => word(1, 5));
    const endings = Array.from({ length: 1 + random.below(4) }, () => word(0, 6));
    const typed = word(0, 11);
    const plain = endings.map((ending) =>
      Math.min(3, ...beginnings.map((beginning) => editDistance(typed, beginning + ending))),
    );
    assert.deepEqual(
      slipEdits(typed, beginnings, endings),
      plain,
      JSON.stringify({ typed, beginnings, endings }),
    );
  }
});

test("words that are too many to compare have no distance, and none of them is left out", () => {
  const word = "n".repeat(40);
  assert.deepEqual(slipEdits(`ab${word}`, ["ab"], Array(100).fill(word)), Array(100).fill(0));
  assert.equal(slipEdits(`ab${word}`, ["ab"], Array(1_000).fill(word)), undefined);
});
