/**
 * The directory: how many carriers each channel owns.
 *
 * Coded by the range coder with counts that adapt on the way, so that no table of frequencies is written. Each of
 * the 40 standard channels has first whether it is there (all 40 or none cost 5.4 bits together), then the size class
 * ⌊log2 n⌋ and the bits below it. Where channels of own labels hold facts, the directory goes on with a list of them,
 * each by its distance from the one before: one fact among 216 channels takes at most 10 bits, the end of the list
 * included. Twelve bits go on a carrier rather than 12.9, because the reader learns the directory's length only by
 * reading it.
 */

import { assert } from "../base/assert.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX } from "../base/limits.ts";
import { bitsAt, putBits } from "./digits.ts";
import type { Interval } from "./predictor.ts";
import { type Bits, RangeDecoder, RangeEncoder } from "./range-coder.ts";

const BITS_PER_DIGIT = 12;
const DIGIT_MASK = (1 << BITS_PER_DIGIT) - 1;
/** The directory of a block is always shorter than this. */
export const DIRECTORY_DIGITS_MAX = 128;
/** ⌊log2 n⌋ for n up to 511. */
const SIZE_CLASSES = 9;
/** Weights of the size classes before any is known: people store short values. */
const SIZE_CLASS_PRIOR = [1, 3, 8, 10, 6, 2, 1, 1, 1];
const SIZE_CLASS_STEP = 8;
const LAST_CHANNEL = CHANNEL_COUNT_MAX - 1;
/** What follows an own channel: the end, the next channel, one of the NEAR_GAPS after that, or any. Equally likely. */
const AFTER = { end: 0, next: 1, near: 2, any: 3 } as const;
const NEAR_GAPS = 8;

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
    for (let i = 0; i < symbol; i++) start += this.#counts[i]!;
    return { start, size: this.#counts[symbol]! };
  }

  find(target: number): number {
    let symbol = 0;
    for (let start = this.#counts[0]!; target >= start; start += this.#counts[symbol]!) symbol++;
    return symbol;
  }

  learn(symbol: number): void {
    this.#counts[symbol]! += this.#step;
    this.total += this.#step;
  }
}

/** Codes a symbol and returns it: the writer's codes the one that it is given, the reader's ignores it and reads one. */
type CodeSymbol = (
  interval: (symbol: number) => Interval,
  find: (target: number) => number,
  total: number,
  symbol: number,
) => number;

/**
 * The walk over the channels, the same for writing and for reading.
 * @returns false where what was read names a channel that there is not
 */
function walk(code: CodeSymbol, carriers: Uint16Array, hasOwn: boolean): boolean {
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
  const uniform = (total: number, symbol: number) =>
    code(
      (s) => ({ start: s, size: 1 }),
      (target) => target,
      total,
      symbol,
    );
  const codeSize = (channel: number) => {
    const count = carriers[channel]!;
    const sizeClass = adaptive(classes, count > 0 ? 31 - Math.clz32(count) : 0);
    const size = 1 << sizeClass;
    carriers[channel] = size + uniform(size, count & (size - 1));
  };
  // For the writer; the reader's is empty.
  const own = hasOwn ? ownChannels(carriers) : [];
  for (let channel = 0; channel < CHANNEL_COUNT; channel++) {
    if (adaptive(presence, carriers[channel]! > 0 ? 1 : 0) === 1) codeSize(channel);
  }
  if (!hasOwn) return true;
  let channel = CHANNEL_COUNT + uniform(CHANNEL_COUNT_MAX - CHANNEL_COUNT, (own[0] ?? 0) - CHANNEL_COUNT);
  for (let index = 1; channel <= LAST_CHANNEL; index++) {
    codeSize(channel);
    if (channel === LAST_CHANNEL) return true;
    const gap = (own[index] ?? channel) - channel;
    const after = uniform(4, afterOf(gap));
    if (after === AFTER.end) return true;
    if (after === AFTER.next) channel += 1;
    else if (after === AFTER.near) channel += 2 + uniform(NEAR_GAPS, gap - 2);
    else channel += 1 + uniform(LAST_CHANNEL - channel, gap - 1);
  }
  return false;
}

function afterOf(gap: number): number {
  if (gap < 2) return gap === 0 ? AFTER.end : AFTER.next;
  return gap < 2 + NEAR_GAPS ? AFTER.near : AFTER.any;
}

/** The channels of own labels that own carriers, in order. */
export function ownChannels(carriers: Uint16Array): number[] {
  const own: number[] = [];
  for (let channel = CHANNEL_COUNT; channel < carriers.length; channel++) {
    if (carriers[channel]! > 0) own.push(channel);
  }
  return own;
}

/** The directory's digits. `carriers` has one count per channel, below 512. */
export function writeDirectory(carriers: Uint16Array): Uint16Array {
  const bits = directoryBits(carriers);
  assert(bits.length <= DIRECTORY_DIGITS_MAX * BITS_PER_DIGIT, "a directory is short");
  return Uint16Array.from({ length: Math.ceil(bits.length / BITS_PER_DIGIT) }, (_, i) =>
    bitsAt(bits, i * BITS_PER_DIGIT, BITS_PER_DIGIT),
  );
}

export function directoryBits(carriers: Uint16Array): Bits {
  assert(carriers.length === CHANNEL_COUNT_MAX, "one count a channel");
  assert(
    carriers.every((count) => count < 1 << SIZE_CLASSES),
    "counts below 512",
  );
  const encoder = new RangeEncoder();
  const code: CodeSymbol = (interval, _find, total, symbol) => {
    encoder.write(interval(symbol), total);
    return symbol;
  };
  walk(code, carriers.slice(), ownChannels(carriers).length > 0);
  return encoder.finishOpen();
}

/**
 * Reads the directory at the start of `digits`: the counts, and its length in digits. Bounded work for any digits.
 * @param hasOwn whether it goes on after channel 39
 */
export function readDirectory(
  digits: Uint16Array,
  hasOwn: boolean,
): { carriers: Uint16Array; length: number } | undefined {
  const digitCount = Math.min(digits.length, DIRECTORY_DIGITS_MAX);
  const bitCount = digitCount * BITS_PER_DIGIT;
  const bytes = new Uint8Array(Math.ceil(bitCount / 8));
  for (let i = 0; i < digitCount; i++) {
    putBits(bytes, i * BITS_PER_DIGIT, BITS_PER_DIGIT, digits[i]! & DIGIT_MASK);
  }
  const decoder = new RangeDecoder({ length: bitCount, bytes });
  const carriers = new Uint16Array(CHANNEL_COUNT_MAX);
  const code: CodeSymbol = (interval, find, total) => {
    const symbol = find(decoder.target(total));
    decoder.skip(interval(symbol), total);
    return symbol;
  };
  if (!walk(code, carriers, hasOwn)) return undefined;
  const length = Math.ceil(decoder.bitsRead / BITS_PER_DIGIT);
  return length * BITS_PER_DIGIT <= bitCount ? { carriers, length } : undefined;
}
