/** Bits ↔ digits: everything comes back, nothing is wasted, and digits that no bits give are refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AssertionError } from "../../../src/base/assert.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { bitsAt, bitsToDigits, capacityBits, digitsFor, digitsToBits } from "../../../src/codec/digits.ts";
import { P } from "../../../src/codec/field.ts";
import type { Bits } from "../../../src/codec/range-coder.ts";
import { anySeed, randomSymbols } from "../../fixtures/blocks.ts";

function bitString({ length, bytes }: Bits): string {
  let text = "";
  for (let i = 0; i < length; i++) text += (bytes[i >> 3] >> (7 - (i & 7))) & 1;
  return text;
}

const anyBits = fc.uint8Array({ maxLength: 200 }).chain((bytes) =>
  fc.integer({ min: Math.max(0, 8 * bytes.length - 7), max: 8 * bytes.length }).map((length): Bits => {
    const cut = bytes.slice(0, Math.ceil(length / 8));
    if (length % 8 !== 0) cut[cut.length - 1] &= 0xff << (8 - (length % 8));
    return { length, bytes: cut };
  }),
);

test("n digits hold the largest whole number of bits below n · log2 7681, in tens", () => {
  for (let n = 0; n <= 10; n++) {
    const capacity = capacityBits(n);
    assert.ok(2n ** BigInt(capacity) <= BigInt(P) ** BigInt(n));
    assert.ok(2n ** BigInt(capacity + 1) > BigInt(P) ** BigInt(n));
  }
  for (let n = 0; n < 500; n++) assert.equal(capacityBits(n + 10), capacityBits(n) + 129);
});

test("digitsFor is the fewest digits that hold the bits, and at least one", () => {
  assert.equal(digitsFor(0), 1);
  for (let bits = 1; bits <= 7000; bits++) {
    const digits = digitsFor(bits);
    assert.ok(capacityBits(digits) >= bits);
    assert.ok(
      digits === 1 || capacityBits(digits - 1) < bits,
      `${bits} bits fit fewer than ${digits} digits`,
    );
  }
});

test("bits come back, with zeros behind them", () => {
  fc.assert(
    fc.property(anyBits, fc.integer({ min: 0, max: 12 }), (bits, spare) => {
      const digits = bitsToDigits(bits, digitsFor(bits.length) + spare);
      for (const digit of digits) assert.ok(digit < P);
      const back = digitsToBits(digits);
      assert.ok(back !== undefined);
      assert.equal(back.length, capacityBits(digits.length));
      assert.equal(bitString(back), bitString(bits).padEnd(back.length, "0"));
    }),
  );
});

test("the digits of a group are the number that its bits spell, written to the base 7681", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.bigInt({ min: 0n, max: 2n ** 129n - 1n }),
      (count, large) => {
        const width = capacityBits(count);
        const number = BigInt.asUintN(width, large);
        const text = number.toString(2).padStart(width, "0");
        const bytes = new Uint8Array(Math.ceil(width / 8));
        [...text].forEach((bit, i) => {
          if (bit === "1") bytes[i >> 3] |= 0x80 >> (i & 7);
        });
        const digits = bitsToDigits({ length: width, bytes }, count);
        const back = digits.reduce((sum, digit) => sum * BigInt(P) + BigInt(digit), 0n);
        assert.equal(back, number);
      },
    ),
  );
});

test("arbitrary digits give bits that give them back, or are refused", () => {
  fc.assert(
    fc.property(anySeed, fc.integer({ min: 0, max: 60 }), (seed, count) => {
      const digits = randomSymbols(seededRandom(seed), count);
      const bits = digitsToBits(digits);
      if (bits !== undefined) assert.deepEqual(bitsToDigits(bits, count), digits);
    }),
  );
  assert.equal(digitsToBits(new Uint16Array(10).fill(P - 1)), undefined);
  assert.equal(digitsToBits(Uint16Array.of(4096)), undefined);
  assert.ok(digitsToBits(Uint16Array.of(4095)) !== undefined);
});

test("bitsAt reads zeros past the end, even where the last byte has stray bits", () => {
  const bits = { length: 11, bytes: Uint8Array.of(0xff, 0xff) };
  assert.equal(bitsAt(bits, 0, 16), 0b1111_1111_1110_0000);
  assert.equal(bitsAt(bits, 8, 12), 0b1110_0000_0000);
  assert.equal(bitsAt(bits, 11, 4), 0);
  assert.equal(bitsAt(bits, 3, 5), 31);
});

test("more bits than the digits hold are the programmer's error", () => {
  assert.throws(() => bitsToDigits({ length: 13, bytes: new Uint8Array(2) }, 1), AssertionError);
});
