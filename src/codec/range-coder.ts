/**
 * A range coder (arithmetic coding after Witten, Neal and Cleary 1987): symbols with integer frequencies → bits.
 *
 * The state is an interval [low, high] of 32-bit integers. Each symbol narrows it to the symbol's share; bits on
 * which both ends agree are written out, and an interval that straddles the middle is widened and remembered
 * ("pending"). Products stay below 2^32 · 2^20 = 2^52, so that doubles are exact.
 *
 * The decoder reads zeros past the last bit. So a code ends with its last 1, and finishing costs one bit at most.
 * Where something else follows at once, two bits close the code, and the decoder can tell how long it was.
 */

import { assert } from "../base/assert.ts";
import { type Interval, TOTAL_MAX } from "./predictor.ts";

const TOP = 2 ** 32;
const HALF = 2 ** 31;
const QUARTER = 2 ** 30;

/** A string of bits, the first in the highest bit of the first byte. */
export interface Bits {
  readonly length: number;
  readonly bytes: Uint8Array;
}

export class RangeEncoder {
  #low = 0;
  #high = TOP - 1;
  #pending = 0;
  #length = 0;
  /** The length up to the last 1. */
  #ones = 0;
  #bytes = new Uint8Array(32);

  write({ start, size }: Interval, total: number): void {
    assert(
      size >= 1 && start >= 0 && start + size <= total && total <= TOTAL_MAX,
      "an interval inside total",
    );
    const span = this.#high - this.#low + 1;
    this.#high = this.#low + Math.floor((span * (start + size)) / total) - 1;
    this.#low += Math.floor((span * start) / total);
    for (;;) {
      if (this.#high < HALF) {
        this.#emit(0);
      } else if (this.#low >= HALF) {
        this.#emit(1);
        this.#low -= HALF;
        this.#high -= HALF;
      } else if (this.#low >= QUARTER && this.#high < HALF + QUARTER) {
        this.#pending++;
        this.#low -= QUARTER;
        this.#high -= QUARTER;
      } else {
        return;
      }
      this.#low *= 2;
      this.#high = this.#high * 2 + 1;
    }
  }

  /** The fewest bits that `finish` can return, whatever else is written before it. */
  get lengthMin(): number {
    return this.#low > 0 || this.#pending > 0 ? this.#length + 1 : this.#ones;
  }

  /** The code, up to its last 1. */
  finish(): Bits {
    // The middle always lies inside [low, high]; so does zero when nothing was narrowed from below.
    if (this.#low > 0 || this.#pending > 0) this.#emit(1);
    const length = this.#ones;
    return { length, bytes: this.#bytes.slice(0, Math.ceil(length / 8)) };
  }

  /** The code with two closing bits, so that anything may follow it. A decoder's `bitsRead` tells its length. */
  finishOpen(): Bits {
    this.#pending++;
    this.#emit(this.#low < QUARTER ? 0 : 1);
    return { length: this.#length, bytes: this.#bytes.slice(0, Math.ceil(this.#length / 8)) };
  }

  #emit(bit: number): void {
    this.#put(bit);
    for (; this.#pending > 0; this.#pending--) this.#put(1 - bit);
  }

  #put(bit: number): void {
    const index = this.#length >> 3;
    if (index === this.#bytes.length) {
      const grown = new Uint8Array(2 * index);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    if (bit === 1) this.#bytes[index]! |= 0x80 >> (this.#length & 7);
    this.#length++;
    if (bit === 1) this.#ones = this.#length;
  }
}

export class RangeDecoder {
  #low = 0;
  #high = TOP - 1;
  #code = 0;
  #position = 0;
  #shifts = 0;
  readonly #bits: Bits;

  constructor(bits: Bits) {
    this.#bits = bits;
    for (let i = 0; i < 32; i++) this.#code = this.#code * 2 + this.#nextBit();
  }

  /** Where in [0, total) the code points: the interval that holds it is the next symbol's. */
  target(total: number): number {
    const span = this.#high - this.#low + 1;
    return Math.floor(((this.#code - this.#low + 1) * total - 1) / span);
  }

  /** Moves past the symbol whose interval this is. */
  skip({ start, size }: Interval, total: number): void {
    const span = this.#high - this.#low + 1;
    this.#high = this.#low + Math.floor((span * (start + size)) / total) - 1;
    this.#low += Math.floor((span * start) / total);
    for (;;) {
      if (this.#high < HALF) {
        // Nothing to subtract.
      } else if (this.#low >= HALF) {
        this.#low -= HALF;
        this.#high -= HALF;
        this.#code -= HALF;
      } else if (this.#low >= QUARTER && this.#high < HALF + QUARTER) {
        this.#low -= QUARTER;
        this.#high -= QUARTER;
        this.#code -= QUARTER;
      } else {
        return;
      }
      this.#low *= 2;
      this.#high = this.#high * 2 + 1;
      this.#code = this.#code * 2 + this.#nextBit();
      this.#shifts++;
    }
  }

  /** The length of the code if the encoder called `finishOpen` here. */
  get bitsRead(): number {
    return this.#shifts + 2;
  }

  #nextBit(): number {
    const position = this.#position++;
    if (position >= this.#bits.length) return 0;
    return (this.#bits.bytes[position >> 3]! >> (7 - (position & 7))) & 1;
  }
}
