/**
 * Bits ↔ digits on carriers. Ten digits of GF(7681) hold 129 bits (10 · log2 7681 = 129.07), so whole tens lose
 * 0.05 % and a rest of n digits holds ⌊n · log2 7681⌋ bits. Bits are padded with zeros at the end, which is what
 * the range decoder reads past the end anyway.
 *
 * A group is converted by long division, limb by limb of 16 bits: everything stays below 2^31.
 */

import { assert } from "../base/assert.ts";
import { P } from "./field.ts";
import type { Bits } from "./range-coder.ts";

const GROUP_DIGITS = 10;
const GROUP_BITS = 129;
/** Bits that 0 to 10 digits hold. */
const CAPACITY = [0, 12, 25, 38, 51, 64, 77, 90, 103, 116, GROUP_BITS];
const LIMB_BITS = 16;
const LIMBS = 9; // 9 · 16 = 144 ≥ 129

export function capacityBits(digitCount: number): number {
  return Math.floor(digitCount / GROUP_DIGITS) * GROUP_BITS + CAPACITY[digitCount % GROUP_DIGITS]!;
}

/** The smallest number of digits, at least 1, that holds this many bits. */
export function digitsFor(bitCount: number): number {
  const groups = Math.floor(bitCount / GROUP_BITS);
  const rest = bitCount - groups * GROUP_BITS;
  let digits = 0;
  while (CAPACITY[digits]! < rest) digits++;
  return Math.max(1, groups * GROUP_DIGITS + digits);
}

export function bitsToDigits(bits: Bits, digitCount: number): Uint16Array {
  assert(bits.length <= capacityBits(digitCount), "the digits hold the bits");
  const digits = new Uint16Array(digitCount);
  const limbs = new Uint16Array(LIMBS);
  for (let from = 0, bitFrom = 0; from < digitCount; from += GROUP_DIGITS) {
    const count = Math.min(GROUP_DIGITS, digitCount - from);
    const width = CAPACITY[count]!;
    // The group's first bit is its most significant: the last limb holds its last 16 bits.
    for (let limb = LIMBS - 1, end = width; limb >= 0; limb--, end -= LIMB_BITS) {
      const start = Math.max(0, end - LIMB_BITS);
      limbs[limb] = end <= 0 ? 0 : bitsAt(bits, bitFrom + start, end - start);
    }
    for (let i = count - 1; i >= 0; i--) digits[from + i] = divideByP(limbs);
    bitFrom += width;
  }
  return digits;
}

/** The bits of digits, or undefined where a group of digits is a larger number than its bits can hold. */
export function digitsToBits(digits: Uint16Array): Bits | undefined {
  const length = capacityBits(digits.length);
  const bytes = new Uint8Array(Math.ceil(length / 8));
  const limbs = new Uint16Array(LIMBS);
  for (let from = 0, bitFrom = 0; from < digits.length; from += GROUP_DIGITS) {
    const count = Math.min(GROUP_DIGITS, digits.length - from);
    limbs.fill(0);
    for (let i = 0; i < count; i++) multiplyByPAndAdd(limbs, digits[from + i]!);
    const width = CAPACITY[count]!;
    if (bitLength(limbs) > width) return undefined;
    for (let limb = LIMBS - 1, end = width; end > 0; limb--, end -= LIMB_BITS) {
      const start = Math.max(0, end - LIMB_BITS);
      putBits(bytes, bitFrom + start, end - start, limbs[limb]!);
    }
    bitFrom += width;
  }
  return { length, bytes };
}

/** `count` bits (16 at most) from `from` on, as a number; zeros past the end. */
export function bitsAt({ length, bytes }: Bits, from: number, count: number): number {
  if (from >= length) return 0;
  const index = from >> 3;
  // Bytes past the end of the array count as zero: `undefined | 0`.
  const three = (bytes[index]! << 16) | (bytes[index + 1]! << 8) | bytes[index + 2]!;
  const value = (three >> (24 - (from & 7) - count)) & ((1 << count) - 1);
  const beyond = from + count - length;
  return beyond > 0 ? (value >> beyond) << beyond : value;
}

/** Puts `count` bits (16 at most) into bytes that are zero there. What is written past the end is dropped. */
export function putBits(bytes: Uint8Array, from: number, count: number, value: number): void {
  const index = from >> 3;
  const three = value << (24 - (from & 7) - count);
  bytes[index]! |= three >> 16;
  bytes[index + 1]! |= three >> 8;
  bytes[index + 2]! |= three;
}

/** Divides the number in place and returns the remainder. */
function divideByP(limbs: Uint16Array): number {
  let remainder = 0;
  for (let i = 0; i < LIMBS; i++) {
    const current = (remainder << 16) | limbs[i]!;
    limbs[i] = (current / P) | 0;
    remainder = current % P;
  }
  return remainder;
}

function multiplyByPAndAdd(limbs: Uint16Array, digit: number): void {
  let carry = digit;
  for (let i = LIMBS - 1; i >= 0; i--) {
    const current = limbs[i]! * P + carry;
    limbs[i] = current & 0xffff;
    carry = current >>> 16;
  }
}

function bitLength(limbs: Uint16Array): number {
  for (let i = 0; i < LIMBS; i++) if (limbs[i] !== 0) return (LIMBS - i) * 16 - (Math.clz32(limbs[i]!) - 16);
  return 0;
}
