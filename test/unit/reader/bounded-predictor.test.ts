/** The bound: whatever a value or a code holds, the model takes 96 steps at most, and all comes back exactly. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeValue, VALUE_KINDS } from "../../../bench/codec/value-kinds.ts";
import { VALUE_BYTES_MAX } from "../../../src/base/limits.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { bitsMaxAlone } from "../../../src/codec/block-room.ts";
import { type Codebook, decodeValue, encodeValue } from "../../../src/codec/codebook.ts";
import { plainPredictor } from "../../../src/codec/plain-predictor.ts";
import type { Bits } from "../../../src/codec/range-coder.ts";
import { BoundedReader, MODEL_SYMBOLS_MAX } from "../../../src/reader/codebook.ts";
import { forwardBytes } from "../../../src/reader/forward.ts";
import { KernelOperations } from "../../../src/reader/kernel.ts";
import { ReaderPredictor } from "../../../src/reader/predictor.ts";
import { parseWeights } from "../../../src/reader/weights.ts";
import { WEIGHTS_FILE } from "./reader-model.ts";

/** Counts what the model does: each step ends in one table of frequencies. */
class CountingOperations extends KernelOperations {
  steps = 0;

  override frequencies(scores: Float64Array, out: Uint32Array): void {
    this.steps++;
    super.frequencies(scores, out);
  }
}

const operations = new CountingOperations(forwardBytes(parseWeights(WEIGHTS_FILE).shape));
const reader = new ReaderPredictor(WEIGHTS_FILE, { operations });
const bounded = new BoundedReader(reader);
const codebook: Codebook = { version: 4, predictors: [bounded, plainPredictor] };

function stepsOf(work: () => void): number {
  operations.steps = 0;
  work();
  return operations.steps;
}

/** The model's code, whatever the plain one takes. */
const alone: Codebook = { version: 4, predictors: [bounded] };

test(`no value takes more than ${MODEL_SYMBOLS_MAX} steps of the model, to write or to read, and all come back`, () => {
  let longest = 0;
  // Each fifth kind: `npm run bench -- values` takes them all.
  for (const [seed, kind] of VALUE_KINDS.entries()) {
    if (seed % 5 !== 0) continue;
    const value = makeValue({ kind, bytes: VALUE_BYTES_MAX, seed });
    let bits: Bits = { length: 0, bytes: new Uint8Array() };
    const writing = stepsOf(() => {
      bits = encodeValue(alone, seed, value);
    });
    const reading = stepsOf(() => assert.deepEqual(decodeValue(alone, seed, bits), value, kind));
    assert.ok(writing <= MODEL_SYMBOLS_MAX && reading <= MODEL_SYMBOLS_MAX, kind);
    longest = Math.max(longest, reading);
  }
  assert.equal(longest, MODEL_SYMBOLS_MAX);
});

test("codes that nobody wrote take no more", () => {
  const random = seededRandom(3);
  const codes = [new Uint8Array(1), new Uint8Array(760).fill(0xff), ...[8, 200, 760].map(random.bytes)];
  for (const bytes of codes) {
    const bits = { length: 8 * bytes.length, bytes };
    const steps = stepsOf(() => decodeValue(alone, 5, bits));
    assert.ok(steps <= MODEL_SYMBOLS_MAX, `${steps} steps`);
  }
});

test("a value whose code cannot fit is given up after a batch of steps", () => {
  const value = makeValue({ kind: "random ascii", bytes: VALUE_BYTES_MAX, seed: 1 });
  const steps = stepsOf(() => assert.equal(encodeValue(codebook, 0, value, 200), undefined));
  assert.ok(steps <= 32, `${steps} steps`);
  assert.equal(encodeValue(codebook, 0, value, bitsMaxAlone({ channel: 0 })), undefined);
});

test("up to the bound a value is coded as the model alone codes it", () => {
  const value = new TextEncoder().encode(
    "She plays the piano and hikes with her two dogs on weekends. ".repeat(3),
  );
  const symbols = [...reader.split(value), reader.end];
  assert.ok(symbols.length < MODEL_SYMBOLS_MAX);
  assert.deepEqual([...bounded.intervals(7, symbols)], [...reader.intervals(7, symbols)]);
});

test("what repeats stays short past the bound, and prose takes less than plainly", () => {
  const bitsOf = (text: string) => encodeValue(codebook, 0, new TextEncoder().encode(text)).length;
  assert.ok(bitsOf("x".repeat(1024)) < 250);
  const words = new TextDecoder().decode(makeValue({ kind: "words", bytes: VALUE_BYTES_MAX, seed: 1 }));
  const plain = encodeValue({ version: 1, predictors: [plainPredictor] }, 0, new TextEncoder().encode(words));
  assert.ok(bitsOf(words) < 0.6 * plain.length, `${bitsOf(words)} of ${plain.length} bits`);
});
