/** The predictor: the kernel agrees with the oracle, reading with writing, and today with the golden vectors. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { VALUE_BYTES_MAX } from "../../../src/base/limits.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { type Codebook, decodeValue, encodeValue } from "../../../src/codec/codebook.ts";
import { plainPredictor } from "../../../src/codec/plain-predictor.ts";
import { BATCH_MAX } from "../../../src/reader/forward.ts";
import { parseWeights } from "../../../src/reader/weights.ts";
import { fingerprint, readVectors } from "../../reader/vectors.ts";
import { anyValue, kernelReader, plainReader, WEIGHTS_FILE } from "./reader-model.ts";

const channels = fc.integer({ min: 0, max: 39 });
const symbolsOf = (value: Uint8Array) => [...kernelReader().split(value), kernelReader().end];

test("the kernel and the plain operations give the same intervals", () => {
  fc.assert(
    fc.property(channels, anyValue(6), (channel, value) => {
      const symbols = symbolsOf(value);
      assert.deepEqual(
        [...kernelReader().intervals(channel, symbols)],
        [...plainReader().intervals(channel, symbols)],
      );
    }),
    { numRuns: 4 },
  );
});

test("reading step by step finds the intervals that writing used, past the window of attention too", () => {
  const reader = kernelReader();
  const long = new TextEncoder().encode("Über 日本 x1 ".repeat(22));
  const { window } = parseWeights(WEIGHTS_FILE).shape;
  // Where the room for a window and a batch is used anew.
  assert.ok(symbolsOf(long).length > window + 2 * BATCH_MAX);
  fc.assert(
    fc.property(channels, anyValue(80), (channel, value) => {
      const symbols = symbolsOf(value);
      const cursor = reader.cursor(channel);
      for (const [i, interval] of [...reader.intervals(channel, symbols)].entries()) {
        const target = interval.start + (i % interval.size);
        assert.deepEqual(cursor.next(target), { symbol: symbols[i], ...interval });
      }
    }),
    { numRuns: 6, examples: [[7, long]] },
  );
});

test("two cursors read at the same time do not disturb each other", () => {
  const reader = kernelReader();
  const values = ["Anna likes tea.", "fix: handle empty input"].map((text) => new TextEncoder().encode(text));
  const intervals = values.map((value, i) => [...reader.intervals(i, symbolsOf(value))]);
  const cursors = values.map((_, i) => reader.cursor(i));
  for (let step = 0; step < 5; step++)
    cursors.forEach((cursor, i) => {
      assert.equal(cursor.next(intervals[i][step].start).symbol, symbolsOf(values[i])[step]);
    });
});

test("a cursor goes on as before when another value was written in between", () => {
  const reader = kernelReader();
  const value = new TextEncoder().encode("Anna likes tea.");
  const other = symbolsOf(new TextEncoder().encode("fix: handle empty input"));
  const symbols = symbolsOf(value);
  const intervals = [...reader.intervals(0, symbols)];
  const cursor = reader.cursor(0);
  for (let step = 0; step < 5; step++) {
    assert.deepEqual(cursor.next(intervals[step].start), { symbol: symbols[step], ...intervals[step] });
    assert.equal([...reader.intervals(1, other)].length, other.length);
  }
});

test("any value comes back from its code, in the shorter of the two modes", () => {
  const codebook: Codebook = { version: 2, predictors: [kernelReader(), plainPredictor] };
  fc.assert(
    fc.property(channels, anyValue(64), (channel, value) => {
      const bits = encodeValue(codebook, channel, value);
      assert.deepEqual(decodeValue(codebook, channel, bits), value);
    }),
    { numRuns: 8 },
  );
});

test("changed code bits give another value or none, within the limit, and never hang", () => {
  const codebook: Codebook = { version: 2, predictors: [kernelReader(), plainPredictor] };
  const random = seededRandom(9);
  for (let run = 0; run < 6; run++) {
    const bits = encodeValue(
      codebook,
      run,
      new TextEncoder().encode("The build passes on arm64 since Monday."),
    );
    const bytes = bits.bytes.slice();
    for (let flips = 0; flips < 3; flips++) bytes[random.below(bytes.length)] ^= 1 << random.below(8);
    const value = decodeValue(codebook, run, { ...bits, bytes });
    assert.ok(value === undefined || value.length <= VALUE_BYTES_MAX);
  }
});

test("the golden vectors hold on the kernel, and for short values on the plain path", () => {
  const { vectors } = readVectors();
  assert.ok(vectors.length >= 200);
  // Each sixth, which has all kinds of values: `npm run test:reader` begins with all of them.
  for (const { channel, value, hash } of vectors.filter((_, i) => i % 6 === 0))
    assert.equal(fingerprint(kernelReader(), channel, value), hash, value);
  const short = vectors.filter(({ value }) => value.startsWith("x") && value.length <= 3);
  assert.equal(short.length, 3);
  for (const { channel, value, hash } of short)
    assert.equal(fingerprint(plainReader(), channel, value), hash, value);
});

test("ordinary values cost about two bits a character or less", () => {
  const reader = kernelReader();
  let bits = 0;
  let characters = 0;
  for (const text of [
    "Laura enjoys spending time with her family on weekends.",
    "Use early returns to avoid deep nesting.",
    "I prefer vegetarian restaurants with outdoor seating.",
    "feat: add dark mode to the settings page",
  ]) {
    for (const { size } of reader.intervals(6, symbolsOf(new TextEncoder().encode(text))))
      bits += Math.log2(reader.total / size);
    characters += text.length;
  }
  assert.ok(bits / characters < 2, `${bits / characters} bits a character`);
});
