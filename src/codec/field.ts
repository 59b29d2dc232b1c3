/**
 * GF(7681), the prime field that the block's symbols live in.
 *
 * 7681 = 15 · 512 + 1 is the smallest prime with 512 carriers: 512 divides P − 1, so the field has an element
 * ω of order 512, and the powers ω^(kt) are 512 orthogonal carriers without any rounding. A symbol is worth
 * log2(7681) = 12.907 bits. Elements are plain integers in [0, P); products stay below 2^26, so that every
 * operation is exact in 32-bit integer arithmetic.
 */

import { assert } from "../base/assert.ts";

export const P = 7681;
/** Length of the transform: words in a block, carriers in a spectrum. */
export const N = 512;
/** 17 is the smallest generator of the multiplicative group (a test proves it). */
export const GENERATOR = 17;

export function add(a: number, b: number): number {
  const sum = a + b;
  return sum >= P ? sum - P : sum;
}

export function subtract(a: number, b: number): number {
  const difference = a - b;
  return difference < 0 ? difference + P : difference;
}

export function multiply(a: number, b: number): number {
  return (a * b) % P;
}

export function power(base: number, exponent: number): number {
  let result = 1;
  let square = base % P;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(result, square);
    square = multiply(square, square);
  }
  return result;
}

/** The multiplicative inverse, by Fermat: a^(P−2). */
export function inverse(a: number): number {
  assert(a !== 0, "zero has no inverse");
  return power(a, P - 2);
}

/** ω: an element of order exactly 512. */
export const OMEGA = power(GENERATOR, (P - 1) / N);

/** ω^i for i in [0, 512). */
export const OMEGA_POWERS: Uint16Array = (() => {
  const powers = new Uint16Array(N);
  powers[0] = 1;
  for (let i = 1; i < N; i++) powers[i] = multiply(powers[i - 1]!, OMEGA);
  return powers;
})();
