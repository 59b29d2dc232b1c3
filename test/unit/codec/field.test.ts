/** GF(7681) is a field, and ω has the order that the carriers need: all of it proven by trying everything. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AssertionError } from "../../../src/base/assert.ts";
import {
  add,
  GENERATOR,
  inverse,
  multiply,
  N,
  OMEGA,
  OMEGA_POWERS,
  P,
  power,
  subtract,
} from "../../../src/codec/field.ts";
import { anySymbol } from "../../fixtures/blocks.ts";

/** The order of an element, by counting. */
function orderOf(element: number): number {
  let order = 1;
  for (let value = element; value !== 1; value = (value * element) % P) order++;
  return order;
}

test("7681 is the smallest prime with 512 carriers", () => {
  const isPrime = (n: number) => {
    for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
    return true;
  };
  const primes = Array.from({ length: 15 }, (_, i) => (i + 1) * N + 1).filter(isPrime);
  assert.deepEqual(primes, [P]);
});

test("sum, difference and product of all 59 million pairs are those of the integers modulo 7681", () => {
  let wrong = 0;
  for (let a = 0; a < P; a++) {
    for (let b = 0; b < P; b++) {
      // Bitwise or, so that the loop has no branch: 59 million rounds must take less than a second.
      wrong |=
        (add(a, b) ^ ((a + b) % P)) |
        (multiply(a, b) ^ (Math.imul(a, b) % P)) |
        (subtract(a, b) ^ ((a + P - b) % P));
    }
  }
  assert.equal(wrong, 0);
});

test("products agree with big integers, which cannot round", () => {
  fc.assert(
    fc.property(anySymbol, anySymbol, (a, b) => {
      assert.equal(BigInt(multiply(a, b)), (BigInt(a) * BigInt(b)) % BigInt(P));
    }),
  );
});

test("every element but zero has its inverse, and zero has none", () => {
  const seen = new Set<number>();
  for (let a = 1; a < P; a++) {
    assert.equal(multiply(a, inverse(a)), 1);
    seen.add(inverse(a));
  }
  assert.equal(seen.size, P - 1);
  assert.throws(() => inverse(0), AssertionError);
});

test("17 generates the whole group and is the smallest element that does", () => {
  assert.equal(orderOf(GENERATOR), P - 1);
  for (let a = 2; a < GENERATOR; a++) assert.ok(orderOf(a) < P - 1, `${a} generates the group too`);
});

test("ω has order exactly 512, and its powers are all different and in order", () => {
  assert.equal(orderOf(OMEGA), N);
  assert.equal(new Set(OMEGA_POWERS).size, N);
  for (let i = 0; i < N; i++) assert.equal(OMEGA_POWERS[i], power(OMEGA, i));
});

test("sums over all powers of a carrier vanish unless it is carrier 0: carriers are orthogonal", () => {
  for (let k = 0; k < N; k++) {
    let sum = 0;
    for (let t = 0; t < N; t++) sum += OMEGA_POWERS[(k * t) % N];
    assert.equal(sum % P, k === 0 ? N : 0);
  }
});

test("a power is repeated multiplication, for large exponents too", () => {
  fc.assert(
    fc.property(anySymbol, fc.integer({ min: 0, max: 2 ** 40 }), (base, exponent) => {
      let expected = 1n;
      for (let rest = BigInt(exponent), square = BigInt(base); rest > 0n; rest >>= 1n) {
        if (rest & 1n) expected = (expected * square) % BigInt(P);
        square = (square * square) % BigInt(P);
      }
      assert.equal(BigInt(power(base, exponent)), expected);
    }),
  );
});

test("the laws of a field hold: associative, commutative, distributive", () => {
  fc.assert(
    fc.property(anySymbol, anySymbol, anySymbol, (a, b, c) => {
      assert.equal(add(a, add(b, c)), add(add(a, b), c));
      assert.equal(multiply(a, multiply(b, c)), multiply(multiply(a, b), c));
      assert.equal(multiply(a, add(b, c)), add(multiply(a, b), multiply(a, c)));
      assert.equal(add(a, b), add(b, a));
      assert.equal(multiply(a, b), multiply(b, a));
      assert.equal(add(subtract(a, b), b), a);
    }),
  );
});
