/** The classes of the words are a de Bruijn sequence, fixed for ever. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "../../../src/base/bytes.ts";
import { N } from "../../../src/codec/field.ts";
import { POSITION_CLASSES } from "../../../src/codec/positions.ts";

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
    toHex(sha256(POSITION_CLASSES)),
    "99a6a2d88cb8bc67344c7929b266b6730f6036a548bf198779f6f8cc2bdcc05a",
  );
});
