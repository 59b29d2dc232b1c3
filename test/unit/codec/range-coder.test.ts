/** The range coder returns any symbols under any frequencies, and costs what the frequencies say. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AssertionError } from "../../../src/base/assert.ts";
import { type Random, seededRandom } from "../../../src/base/random.ts";
import { type Interval, TOTAL_MAX } from "../../../src/codec/predictor.ts";
import { type Bits, RangeDecoder, RangeEncoder } from "../../../src/codec/range-coder.ts";
import { anySeed } from "../../fixtures/blocks.ts";

interface Step extends Interval {
  readonly total: number;
}

/** Steps under tables of all shapes: tiny shares, nearly everything, at the bottom, at the top, any total. */
function randomSteps(random: Random, count: number): Step[] {
  return Array.from({ length: count }, () => {
    const total = random.pick([1, 2, 3, 7, 64, 7681, 2 ** 16, TOTAL_MAX - 1, TOTAL_MAX]);
    const size = random.pick([1, total, Math.max(1, total - 1), 1 + random.below(total)]);
    const start = random.pick([0, total - size, random.below(total - size + 1)]);
    return { start, size, total };
  });
}

function encode(steps: readonly Step[]): RangeEncoder {
  const encoder = new RangeEncoder();
  for (const step of steps) encoder.write(step, step.total);
  return encoder;
}

/** Walks a decoder along the steps and checks that each target falls into its interval. */
function follow(decoder: RangeDecoder, steps: readonly Step[]): void {
  for (const step of steps) {
    const target = decoder.target(step.total);
    assert.ok(target >= step.start && target < step.start + step.size, `${target} is not in the interval`);
    decoder.skip(step, step.total);
  }
}

function entropyBits(steps: readonly Step[]): number {
  return steps.reduce((sum, { size, total }) => sum + Math.log2(total / size), 0);
}

function bitOf(bits: Bits, i: number): number {
  return (bits.bytes[i >> 3] >> (7 - (i & 7))) & 1;
}

const steps = fc.tuple(anySeed, fc.integer({ min: 0, max: 60 })).map(([seed, count]) => {
  return randomSteps(seededRandom(seed), count);
});

test("any symbols under any frequencies come back, with totals up to 2^20 and shares of 1", () => {
  fc.assert(fc.property(steps, (path) => follow(new RangeDecoder(encode(path).finish()), path)));
});

test("a code is within two bits of the entropy, and within a thousandth of it where it is long", () => {
  fc.assert(
    fc.property(steps, (path) => {
      const entropy = entropyBits(path);
      const { length } = encode(path).finish();
      assert.ok(length <= entropy + 2 + entropy / 1000, `${length} bits for an entropy of ${entropy}`);
    }),
  );
  const random = seededRandom(1);
  const path = Array.from({ length: 5000 }, () => ({ start: random.below(251), size: 5, total: 256 }));
  const { length } = encode(path).finish();
  assert.ok(Math.abs(length - entropyBits(path)) <= 2, `${length} bits for ${entropyBits(path)}`);
});

test("a code ends with its last 1: zeros at the end are left to the reader", () => {
  fc.assert(
    fc.property(steps, (path) => {
      const bits = encode(path).finish();
      assert.equal(bits.bytes.length, Math.ceil(bits.length / 8));
      if (bits.length > 0) assert.equal(bitOf(bits, bits.length - 1), 1);
      const padded: Bits = {
        length: bits.length + 40,
        bytes: Uint8Array.from([...bits.bytes, 0, 0, 0, 0, 0]),
      };
      follow(new RangeDecoder(padded), path);
    }),
  );
});

test("what was never narrowed from below costs nothing", () => {
  const path = Array.from({ length: 100 }, () => ({ start: 0, size: 1, total: TOTAL_MAX }));
  const bits = encode(path).finish();
  assert.equal(bits.length, 0);
  follow(new RangeDecoder(bits), path);
});

test("an open code is read whatever follows it, and the reader knows its length", () => {
  fc.assert(
    fc.property(steps, anySeed, (path, seed) => {
      const random = seededRandom(seed);
      const bits = encode(path).finishOpen();
      const followed = new Uint8Array(bits.bytes.length + 8);
      followed.set(bits.bytes);
      for (let i = bits.length; i < 8 * followed.length; i++) {
        followed[i >> 3] &= ~(0x80 >> (i & 7));
        if (random.below(2) === 1) followed[i >> 3] |= 0x80 >> (i & 7);
      }
      const decoder = new RangeDecoder({ length: 8 * followed.length, bytes: followed });
      follow(decoder, path);
      assert.equal(decoder.bitsRead, bits.length);
      assert.ok(bits.length <= entropyBits(path) * 1.001 + 3);
    }),
  );
});

test("what stands behind the last bit of a code, in its last byte too, is not read", () => {
  fc.assert(
    fc.property(steps, (path) => {
      const { length, bytes } = encode(path).finish();
      const followed = new Uint8Array(bytes.length + 8).fill(0xff);
      followed.set(bytes);
      for (let i = length; i < 8 * bytes.length; i++) followed[i >> 3] |= 0x80 >> (i & 7);
      follow(new RangeDecoder({ length, bytes: followed }), path);
    }),
  );
});

test("a decoder takes any bits whatever: targets stay in range, past the end of the bits too", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), anySeed, (bytes, seed) => {
      const random = seededRandom(seed);
      const length = bytes.length === 0 ? 0 : random.below(8 * bytes.length + 1);
      const decoder = new RangeDecoder({ length, bytes });
      for (let round = 0; round < 200; round++) {
        const total = random.pick([2, 7681, TOTAL_MAX]);
        const target = decoder.target(total);
        assert.ok(Number.isInteger(target) && target >= 0 && target < total);
        const start = target - random.below(Math.min(target, 3) + 1);
        const size = Math.min(total - start, target - start + 1 + random.below(3));
        decoder.skip({ start, size }, total);
      }
    }),
  );
});

test("an interval outside its total is the programmer's error", () => {
  for (const [start, size, total] of [
    [0, 0, 10],
    [-1, 2, 10],
    [9, 2, 10],
    [0, 1, TOTAL_MAX + 1],
  ]) {
    assert.throws(() => new RangeEncoder().write({ start, size }, total), AssertionError);
  }
});
