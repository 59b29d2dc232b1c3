/** Any bytes can be coded and come back; any bits whatever end in a value or in none; the shortest code wins. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AssertionError } from "../../../src/base/assert.ts";
import { VALUE_BYTES_MAX } from "../../../src/base/limits.ts";
import { type Codebook, decodeValue, encodeValue, PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { plainPredictor } from "../../../src/codec/plain-predictor.ts";
import type { Interval, Predictor } from "../../../src/codec/predictor.ts";
import type { Bits } from "../../../src/codec/range-coder.ts";
import { anySeed } from "../../fixtures/blocks.ts";

/**
 * A double of the reader model: symbols are bytes, the likeliest next one (the byte after the last, by counting up
 * from the channel) has nearly everything, and it always comes first, at 0.
 */
function countingPredictor(likely: number): Predictor {
  const total = 2 ** 20;
  const end = 256;
  const order = (guess: number, symbol: number) =>
    symbol === guess ? 0 : symbol < guess ? symbol + 1 : symbol;
  const symbolAt = (guess: number, rank: number) => (rank === 0 ? guess : rank <= guess ? rank - 1 : rank);
  const intervalOf = (rank: number): Interval =>
    rank === 0 ? { start: 0, size: likely } : { start: likely + (rank - 1) * step, size: sizeOf(rank) };
  const step = Math.floor((total - likely) / 256);
  const sizeOf = (rank: number) => (rank === 256 ? total - likely - 255 * step : step);
  /** After 40 symbols the end is what is expected. */
  const guessAfter = (channel: number, count: number) => (count === 40 ? end : (channel + count) % 256);
  return {
    total,
    end,
    split: (value) => Array.from(value),
    bytesOf: (symbol) => Uint8Array.of(symbol),
    intervals: (channel, symbols) =>
      symbols.map((symbol, i) => intervalOf(order(guessAfter(channel, i), symbol))),
    cursor: (channel) => {
      let count = 0;
      return {
        next: (target) => {
          const rank = target < likely ? 0 : Math.min(256, 1 + Math.floor((target - likely) / step));
          const symbol = symbolAt(guessAfter(channel, count++), rank);
          return { ...intervalOf(rank), symbol };
        },
      };
    },
  };
}

const counting = countingPredictor(2 ** 20 - 2 ** 12);
const hesitant = countingPredictor(2 ** 19);
const TWO: Codebook = { version: 2, predictors: [counting, plainPredictor] };
const anyValue = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: VALUE_BYTES_MAX }),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }).map((text) => new TextEncoder().encode(text)),
  fc.tuple(fc.nat(255), fc.integer({ min: 1, max: VALUE_BYTES_MAX })).map(([byte, length]) => {
    return new Uint8Array(length).fill(byte);
  }),
);
const CODEBOOKS: [string, Codebook][] = [
  ["plain", PLAIN_CODEBOOK],
  ["a model alone", { version: 2, predictors: [counting] }],
  ["a model and plain", TWO],
  ["three predictors", { version: 3, predictors: [counting, hesitant, plainPredictor] }],
];

for (const [name, codebook] of CODEBOOKS) {
  test(`any 1 to 1,024 bytes come back exactly: ${name}`, () => {
    fc.assert(
      fc.property(fc.nat(39), anyValue, (channel, value) => {
        assert.deepEqual(decodeValue(codebook, channel, encodeValue(codebook, channel, value)), value);
      }),
      { numRuns: 60 },
    );
  });

  test(`any bits whatever end in a value of at most 1,024 bytes or in none: ${name}`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 800 }), fc.nat(7), (bytes, less) => {
        const value = decodeValue(codebook, 5, { length: Math.max(0, 8 * bytes.length - less), bytes });
        assert.ok(value === undefined || (value.length >= 1 && value.length <= VALUE_BYTES_MAX));
      }),
    );
    for (const fill of [0, 0xff, 0xaa])
      decodeValue(codebook, 0, { length: 6400, bytes: new Uint8Array(800).fill(fill) });
  });
}

test("zeros behind a code, which its carriers add, change nothing", () => {
  fc.assert(
    fc.property(anyValue, fc.nat(20), (value, zeros) => {
      const bits = encodeValue(TWO, 3, value);
      const longer: Bits = { length: bits.length + zeros, bytes: Uint8Array.from([...bits.bytes, 0, 0, 0]) };
      assert.deepEqual(decodeValue(TWO, 3, longer), value);
    }),
  );
});

test("a value that the model foresees in full comes back, though its code may be nothing but zeros", () => {
  for (const predictor of [counting, hesitant]) {
    const codebook = { version: 2, predictors: [predictor] };
    const value = Uint8Array.from({ length: 40 }, (_, i) => 9 + i);
    const bits = encodeValue(codebook, 9, value);
    assert.equal(bits.length, 0);
    assert.deepEqual(decodeValue(codebook, 9, bits), value);
  }
});

test("the shortest of the predictors' codes is taken, and the choice costs the first next to nothing", () => {
  const alone = (predictor: Predictor, value: Uint8Array) =>
    encodeValue({ version: 1, predictors: [predictor] }, 0, value).length;
  const foreseen = Uint8Array.from({ length: 60 }, (_, i) => i);
  const prose = new TextEncoder().encode("prefers short answers, no emoji");
  assert.ok(encodeValue(TWO, 0, foreseen).length <= alone(counting, foreseen) + 1);
  assert.ok(alone(counting, prose) > alone(plainPredictor, prose));
  assert.ok(encodeValue(TWO, 0, prose).length <= alone(plainPredictor, prose) + 7);
  fc.assert(
    fc.property(anyValue, (value) => {
      const best = Math.min(alone(counting, value), alone(plainPredictor, value) + 6);
      assert.ok(encodeValue(TWO, 0, value).length <= best + 2);
    }),
  );
});

test("no bytes at all is no value, and more than 1,024 bytes are refused at the door", () => {
  for (const length of [0, VALUE_BYTES_MAX + 1]) {
    assert.throws(() => encodeValue(PLAIN_CODEBOOK, 0, new Uint8Array(length)), AssertionError);
  }
  assert.throws(() => encodeValue({ version: 1, predictors: [] }, 0, Uint8Array.of(1)), AssertionError);
});

test("a code with one bit turned over never hangs and never exceeds the limit", () => {
  fc.assert(
    fc.property(anyValue, anySeed, (value, at) => {
      const bits = encodeValue(PLAIN_CODEBOOK, 0, value);
      if (bits.length === 0) return;
      const bytes = bits.bytes.slice();
      const place = at % bits.length;
      bytes[place >> 3] ^= 0x80 >> (place & 7);
      const other = decodeValue(PLAIN_CODEBOOK, 0, { length: bits.length, bytes });
      assert.ok(other === undefined || other.length <= VALUE_BYTES_MAX);
    }),
  );
});
