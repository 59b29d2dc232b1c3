/** The weights file: what is whole is read, what is not is refused with a sentence that says why. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ReaderPredictor } from "../../../src/reader/predictor.ts";
import { parseWeights, WeightsError } from "../../../src/reader/weights.ts";
import { WEIGHTS_FILE } from "./reader-model.ts";

const SIZE_BYTES_MAX = 8 * 2 ** 20;

const refuses = (file: Uint8Array, reason: RegExp) =>
  assert.throws(
    () => new ReaderPredictor(file),
    (error) => error instanceof WeightsError && reason.test(error.message),
  );

test("the file has at most 8 MiB and its shapes are those of the model card", () => {
  assert.ok(WEIGHTS_FILE.length <= SIZE_BYTES_MAX);
  const { shape, version, layers } = parseWeights(WEIGHTS_FILE);
  assert.equal(version, 5);
  assert.equal(layers.length, shape.layers);
  assert.deepEqual(shape, {
    ...{ layers: 9, width: 256, heads: 8, hidden: 1024, vocabulary: 4352, labels: 41, window: 128, taps: 3 },
  });
});

test("an empty, a foreign, a truncated and a lengthened file are refused", () => {
  refuses(new Uint8Array(0), /only 0 bytes/);
  refuses(new Uint8Array(100), /not a weights file/);
  refuses(WEIGHTS_FILE.subarray(0, 47), /only 47 bytes/);
  refuses(WEIGHTS_FILE.subarray(0, WEIGHTS_FILE.length - 1), /instead of/);
  refuses(Uint8Array.of(...new Uint8Array(WEIGHTS_FILE.subarray(0, 64))), /instead of/);
});

test("a file of another format is refused by its number", () => {
  const file = new Uint8Array(WEIGHTS_FILE);
  file[4] = 2;
  refuses(file, /has format 2; this program reads format 1/);
});

test("a file inside a larger buffer, aligned or not, is read as it stands there", () => {
  for (const offset of [16, 3]) {
    const around = new Uint8Array(WEIGHTS_FILE.length + 64).fill(255);
    around.set(WEIGHTS_FILE, offset);
    const inside = parseWeights(around.subarray(offset, offset + WEIGHTS_FILE.length));
    assert.deepEqual(inside, parseWeights(WEIGHTS_FILE));
  }
  const cut = new Uint8Array(WEIGHTS_FILE.length + 64);
  cut.set(WEIGHTS_FILE);
  cut[8] = 10; // the tenth layer would begin behind the file
  refuses(cut.subarray(0, WEIGHTS_FILE.length), /ends before its last section/);
});

test("a single changed byte is noticed, wherever it is", () => {
  const file = new Uint8Array(WEIGHTS_FILE);
  fc.assert(
    fc.property(
      fc.integer({ min: 48, max: file.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
      (at, change) => {
        file[at] ^= change;
        try {
          refuses(file, /damaged/);
        } finally {
          file[at] ^= change;
        }
      },
    ),
    { numRuns: 5 },
  );
});

test("shapes that do not fit together are refused even with a right checksum", () => {
  const file = new Uint8Array(WEIGHTS_FILE);
  file[8] = 10; // ten layers, but sections for nine
  refuses(file, /ends before its last section/);
  file[8] = 8;
  refuses(file, /more sections/);
});
