/** Any bytes can be coded and come back; any bits whatever end in a value or in none; the shortest code wins. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AssertionError } from "../../../src/base/assert.ts";
import { VALUE_BYTES_MAX } from "../../../src/base/limits.ts";
import { buildBlock } from "../../../src/codec/block.ts";
import {
  CODED_BYTES_MAX,
  type Codebook,
  decodeValue,
  encodeValue,
  PLAIN_CODEBOOK,
} from "../../../src/codec/codebook.ts";
import { plainPredictor } from "../../../src/codec/plain-predictor.ts";
import type { Predictor } from "../../../src/codec/predictor.ts";
import type { Bits } from "../../../src/codec/range-coder.ts";
import { anySeed, build, carriedFacts, factsOf, mustRead, READ, WRITE } from "../../fixtures/blocks.ts";
import { countingPredictor } from "../../fixtures/counting-predictor.ts";

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

  test(`any bits whatever end in a value of at most 1,074 bytes or in none: ${name}`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 800 }), fc.nat(7), (bytes, less) => {
        const value = decodeValue(codebook, 5, { length: Math.max(0, 8 * bytes.length - less), bytes });
        assert.ok(value === undefined || (value.length >= 1 && value.length <= CODED_BYTES_MAX));
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

test("a code of at most bitsMax bits is the shortest one, and a longer one is given up", () => {
  fc.assert(
    fc.property(fc.constantFrom(...CODEBOOKS), anyValue, fc.nat(8_000), ([, codebook], value, any) => {
      const bits = encodeValue(codebook, 3, value);
      for (const bitsMax of [any, bits.length - 1, bits.length, bits.length + 1]) {
        assert.deepEqual(
          encodeValue(codebook, 3, value, bitsMax),
          bits.length <= bitsMax ? bits : undefined,
          `${bits.length} bits of at most ${bitsMax}`,
        );
      }
    }),
  );
});

test("a value is given up while it is being coded, as soon as it is too long", () => {
  let taken = 0;
  const watched: Predictor = {
    ...plainPredictor,
    *intervals(channel, symbols) {
      for (const interval of plainPredictor.intervals(channel, symbols)) {
        taken++;
        yield interval;
      }
    },
  };
  const value = new Uint8Array(VALUE_BYTES_MAX).map((_, i) => 33 + ((i * 37) % 94));
  assert.equal(encodeValue({ version: 1, predictors: [watched] }, 0, value, 100), undefined);
  assert.ok(taken < 30, `${taken} symbols`);
});

test("no bytes at all is no value, and more than a value and a name have are refused at the door", () => {
  for (const length of [0, CODED_BYTES_MAX + 1]) {
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
      assert.ok(other === undefined || other.length <= CODED_BYTES_MAX);
    }),
  );
});

test("a codebook with a model makes whole blocks: foreseen facts take a carrier each, others what they take", () => {
  const foreseen = (channel: number) =>
    String.fromCharCode(...Array.from({ length: 40 }, (_, i) => channel + i));
  const facts = [
    ...factsOf(...Array.from({ length: 39 }, (_, channel) => foreseen(channel))),
    { channel: 39, value: "not foreseen: 🦊", order: 99 },
  ];
  const block = buildBlock(facts, { ...WRITE, codebook: TWO });
  assert.deepEqual(block.overflow, []);
  for (const { channel, count } of block.layout.channels) if (channel < 39) assert.equal(count, 1);
  const result = mustRead(block.text, { ...READ, codebooks: [PLAIN_CODEBOOK, TWO] });
  assert.deepEqual(result.facts, carriedFacts(block, facts));
  assert.equal(result.version, 2);
  assert.ok(build(facts).carriers > block.carriers);
});
