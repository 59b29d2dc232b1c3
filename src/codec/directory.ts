/**
 * The directory: how many carriers each of the 40 channels owns.
 *
 * Coded by the range coder with counts that adapt on the way, so that no table of frequencies is written. Each
 * channel has first whether it is there (all 40 or none cost 5.4 bits together), then the size class ⌊log2 n⌋ and
 * the bits below it. Twelve bits go on a carrier rather than 12.9, because the reader learns the directory's
 * length only by reading it.
 */

import { assert } from "../base/assert.ts";
import { CHANNEL_COUNT } from "../base/limits.ts";
import { bitsAt, putBits } from "./digits.ts";
import type { Interval } from "./predictor.ts";
import { RangeDecoder, RangeEncoder } from "./range-coder.ts";

const BITS_PER_DIGIT = 12;
const DIGIT_MASK = (1 << BITS_PER_DIGIT) - 1;
/** The directory of a block is always shorter than this. */
export const DIRECTORY_DIGITS_MAX = 64;
/** ⌊log2 n⌋ for n up to 511. */
const SIZE_CLASSES = 9;
/** Weights of the size classes before any is known: people store short values. */
const SIZE_CLASS_PRIOR = [1, 3, 8, 10, 6, 2, 1, 1, 1];
const SIZE_CLASS_STEP = 8;

/** Frequencies of a few symbols that grow with use. */
class AdaptiveCounts {
  readonly #counts: number[];
  readonly #step: number;
  total: number;

  constructor(prior: readonly number[], step: number) {
    this.#counts = [...prior];
    this.#step = step;
    this.total = prior.reduce((sum, count) => sum + count, 0);
  }

  interval(symbol: number): Interval {
    let start = 0;
    for (let i = 0; i < symbol; i++) start += this.#counts[i];
    return { start, size: this.#counts[symbol] };
  }

  find(target: number): number {
    let symbol = 0;
    for (let start = this.#counts[0]; target >= start; start += this.#counts[symbol]) symbol++;
    return symbol;
  }

  learn(symbol: number): void {
    this.#counts[symbol] += this.#step;
    this.total += this.#step;
  }
}

/**
 * The walk over the 40 channels, the same for writing and for reading. `code` returns the symbol: the writer's codes the
 * one that it is given, the reader's ignores it and reads one.
 */
function walk(
  code: (
    interval: (symbol: number) => Interval,
    find: (target: number) => number,
    total: number,
    symbol: number,
  ) => number,
  carriers: Uint16Array,
): void {
  const presence = new AdaptiveCounts([1, 1], 1);
  const classes = new AdaptiveCounts(SIZE_CLASS_PRIOR, SIZE_CLASS_STEP);
  const adaptive = (counts: AdaptiveCounts, symbol: number) => {
    const read = code(
      (s) => counts.interval(s),
      (target) => counts.find(target),
      counts.total,
      symbol,
    );
    counts.learn(read);
    return read;
  };
  for (let channel = 0; channel < CHANNEL_COUNT; channel++) {
    const count = carriers[channel];
    if (adaptive(presence, count > 0 ? 1 : 0) === 0) {
      carriers[channel] = 0;
      continue;
    }
    const sizeClass = adaptive(classes, count > 0 ? 31 - Math.clz32(count) : 0);
    const size = 1 << sizeClass;
    const below = code(
      (s) => ({ start: s, size: 1 }),
      (target) => target,
      size,
      count & (size - 1),
    );
    carriers[channel] = size + below;
  }
}

/** The directory's digits. `carriers` has one count per channel, below 512. */
export function writeDirectory(carriers: Uint16Array): Uint16Array {
  assert(carriers.length === CHANNEL_COUNT, "one count a channel");
  assert(
    carriers.every((count) => count < 1 << SIZE_CLASSES),
    "counts below 512",
  );
  const encoder = new RangeEncoder();
  walk((interval, _find, total, symbol) => {
    encoder.write(interval(symbol), total);
    return symbol;
  }, carriers.slice());
  const bits = encoder.finishOpen();
  assert(bits.length <= DIRECTORY_DIGITS_MAX * BITS_PER_DIGIT, "a directory is short");
  return Uint16Array.from({ length: Math.ceil(bits.length / BITS_PER_DIGIT) }, (_, i) =>
    bitsAt(bits, i * BITS_PER_DIGIT, BITS_PER_DIGIT),
  );
}

/** Reads the directory at the start of `digits`: the counts, and its length in digits. Bounded work for any digits. */
export function readDirectory(digits: Uint16Array): { carriers: Uint16Array; length: number } | undefined {
  const digitCount = Math.min(digits.length, DIRECTORY_DIGITS_MAX);
  const bitCount = digitCount * BITS_PER_DIGIT;
  const bytes = new Uint8Array(Math.ceil(bitCount / 8));
  for (let i = 0; i < digitCount; i++) {
    putBits(bytes, i * BITS_PER_DIGIT, BITS_PER_DIGIT, digits[i] & DIGIT_MASK);
  }
  const decoder = new RangeDecoder({ length: bitCount, bytes });
  const carriers = new Uint16Array(CHANNEL_COUNT);
  walk((interval, find, total) => {
    const symbol = find(decoder.target(total));
    decoder.skip(interval(symbol), total);
    return symbol;
  }, carriers);
  const length = Math.ceil(decoder.bitsRead / BITS_PER_DIGIT);
  return length * BITS_PER_DIGIT <= bitCount ? { carriers, length } : undefined;
}
