/** The alphabet's promises: fixed for ever, found in any case, and classes that nothing but the list tells apart. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { AssertionError } from "../../../src/base/assert.ts";
import { utf8 } from "../../../src/base/bytes.ts";
import {
  CLASS_SIZE,
  findWord,
  POSITION_CLASSES,
  WORD_LENGTH_MAX,
  wordOf,
} from "../../../src/codec/alphabet.ts";
import { CHECKSUM } from "../../../src/codec/alphabet-data.ts";
import { N } from "../../../src/codec/field.ts";
import { anyCharacter } from "../../fixtures/characters.ts";

const classes = ([0, 1] as const).map((wordClass) =>
  Array.from({ length: CLASS_SIZE }, (_, index) => wordOf(wordClass, index)),
);
const words = classes.flat();

test("the words and their order are those of format version 1", () => {
  const checksum = bytesToHex(sha256(utf8(words.map((word) => `${word}\n`).join(""))));
  assert.equal(checksum, CHECKSUM);
  assert.equal(checksum, "8322e94292da6b24e3b8fe6996480eeab9fe551a4102dcc2d201671a11c5ad60");
});

test("each class is sorted by code unit and full to the last index", () => {
  for (const list of classes) {
    for (let i = 1; i < CLASS_SIZE; i++) assert.ok(list[i - 1] < list[i], `${list[i - 1]} before ${list[i]}`);
  }
  for (const index of [-1, CLASS_SIZE, 0.5, Number.NaN])
    assert.throws(() => wordOf(0, index), AssertionError);
  assert.throws(() => wordOf(2 as 1, 0), AssertionError);
});

test("a word is letters only, and no two words differ only in case", () => {
  for (const word of words) assert.match(word, /^[A-Z]?[a-z]{1,15}$/);
  assert.equal(new Set(words.map((word) => word.toLowerCase())).size, 2 * CLASS_SIZE);
  assert.equal(Math.max(...words.map((word) => word.length)), WORD_LENGTH_MAX);
});

test("every word is found, in lower and in upper case too", () => {
  words.forEach((word, number) => {
    assert.equal(findWord(word), number);
    assert.equal(findWord(word.toLowerCase()), number);
    assert.equal(findWord(word.toUpperCase()), number);
  });
});

test("a word is found inside a text, between any two places", () => {
  const text = "(paper,WATER)";
  assert.equal(findWord(text, 1, 6), findWord("paper"));
  assert.equal(findWord(text, 7, 12), findWord("water"));
  for (const [from, end] of [
    [0, 6],
    [1, 7],
    [3, 3],
    [7, 13],
  ])
    assert.equal(findWord(text, from, end), -1);
});

test("what is no word of the alphabet is not found", () => {
  const folded = new Set(words.map((word) => word.toLowerCase()));
  for (const text of ["", " ", "the ", " the", "the,", "__proto__", "constructor", "x".repeat(1_000_000)]) {
    if (!folded.has(text)) assert.equal(findWord(text), -1);
  }
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      if (!folded.has(text.toLowerCase())) assert.equal(findWord(text), -1);
    }),
  );
});

test("neither class is told by case or length: no stratum differs by more than one word", () => {
  const strata = new Map<string, number>();
  classes.forEach((list, wordClass) => {
    for (const word of list) {
      const stratum = `${/^[A-Z]/.test(word)} ${word.length}`;
      strata.set(stratum, (strata.get(stratum) ?? 0) + (wordClass === 0 ? 1 : -1));
    }
  });
  for (const [stratum, difference] of strata)
    assert.ok(Math.abs(difference) <= 1, `${stratum}: ${difference}`);
});

test("words that control a model, threaten, offend or name people are absent", () => {
  const banned =
    "system assistant user ignore execute delete kill bomb rape nazi john mary smith johnson mohammed";
  for (const word of banned.split(" ")) assert.equal(findWord(word), -1, word);
});

test("any nine words in a row, around the end too, name their own position", () => {
  const windows = new Set<string>();
  for (let t = 0; t < N; t++) {
    windows.add(Array.from({ length: 9 }, (_, i) => POSITION_CLASSES[(t + i) % N]).join(""));
  }
  assert.equal(POSITION_CLASSES.length, N);
  assert.equal(windows.size, N);
});

test("both classes are equally common, and no run is longer than nine", () => {
  assert.equal(
    POSITION_CLASSES.reduce((sum, bit) => sum + bit, 0),
    N / 2,
  );
  assert.ok(!/0{10}|1{10}/.test(POSITION_CLASSES.join("")));
});

test("the sequence is that of format version 1", () => {
  assert.equal(
    bytesToHex(sha256(POSITION_CLASSES)),
    "99a6a2d88cb8bc67344c7929b266b6730f6036a548bf198779f6f8cc2bdcc05a",
  );
});
