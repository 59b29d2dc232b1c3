/**
 * The directory: how many carriers each channel owns, and each fact under a free label.
 *
 * Coded by the range coder with counts that adapt on the way, so that no table of frequencies is written. Each of
 * the 40 standard channels has first whether it is there (all 40 or none cost 5.4 bits together), then the size class
 * ⌊log2 n⌋ and the bits below it. Where channels of own labels hold facts, the directory goes on with a list of them,
 * each by its distance from the one before: one fact among 216 channels takes at most 10 bits, the end of the list
 * included. Where facts have free labels, their sizes come last. Twelve bits go on a carrier rather than 12.9, because the reader learns the directory's length only by
 * reading it.
 */

import { assert } from "../base/assert.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX } from "../base/limits.ts";
import type { BlockForm } from "./codebook.ts";
import { bitsAt, putBits } from "./digits.ts";
import { N } from "./field.ts";
import { type Bits, RangeDecoder, RangeEncoder } from "./range-coder.ts";
import { AdaptiveCounts, type SymbolCoder, symbolReader, symbolWriter } from "./symbol-coder.ts";

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

/** The carriers of everything that a block holds. */
export interface Directory {
  /** Those of each channel. */
  readonly carriers: Uint16Array;
  /** Those of the groups of the free labels, then those of each fact under one; empty where there is none. */
  readonly free: readonly number[];
}

/**
 * The walk over the channels, and then over the free labels; the same for writing and for reading.
 * @returns false where what was read names a channel that there is not, or more carriers than there are
 */
function walk(code: SymbolCoder, carriers: Uint16Array, free: number[], form: BlockForm): boolean {
  const presence = new AdaptiveCounts([1, 1], 1);
  const classes = new AdaptiveCounts(SIZE_CLASS_PRIOR, SIZE_CLASS_STEP);
  const codeSize = (count: number) => {
    const sizeClass = code.adaptive(classes, count > 0 ? 31 - Math.clz32(count) : 0);
    const size = 1 << sizeClass;
    return size + code.uniform(size, count & (size - 1));
  };
  // For the writer; the reader's is empty.
  const own = form === "standard" ? [] : ownChannels(carriers);
  for (let channel = 0; channel < CHANNEL_COUNT; channel++) {
    const isThere = code.adaptive(presence, carriers[channel]! > 0 ? 1 : 0) === 1;
    if (isThere) carriers[channel] = codeSize(carriers[channel]!);
  }
  if (form === "standard") return true;
  if (!walkOwn(code, codeSize, carriers, own, form === "free")) return false;
  return form === "own" || walkFree(code, codeSize, free);
}

/** @param mayBeNone whether one more symbol stands for no channel at all */
function walkOwn(
  code: SymbolCoder,
  codeSize: (count: number) => number,
  carriers: Uint16Array,
  own: readonly number[],
  mayBeNone: boolean,
): boolean {
  const firsts = CHANNEL_COUNT_MAX - CHANNEL_COUNT + (mayBeNone ? 1 : 0);
  let channel = CHANNEL_COUNT + code.uniform(firsts, (own[0] ?? CHANNEL_COUNT_MAX) - CHANNEL_COUNT);
  if (channel === CHANNEL_COUNT_MAX) return true;
  for (let index = 1; channel <= LAST_CHANNEL; index++) {
    carriers[channel] = codeSize(carriers[channel]!);
    if (channel === LAST_CHANNEL) return true;
    const gap = (own[index] ?? channel) - channel;
    const after = code.uniform(4, afterOf(gap));
    if (after === AFTER.end) return true;
    if (after === AFTER.next) channel += 1;
    else if (after === AFTER.near) channel += 2 + code.uniform(NEAR_GAPS, gap - 2);
    else channel += 1 + code.uniform(LAST_CHANNEL - channel, gap - 1);
  }
  return false;
}

/** The carriers of the groups, then those of each fact, and after each whether another one follows. */
function walkFree(code: SymbolCoder, codeSize: (count: number) => number, free: number[]): boolean {
  const more = new AdaptiveCounts([1, 1], 1);
  let sum = 0;
  for (let index = 0; sum < N; index++) {
    free[index] = codeSize(free[index] ?? 0);
    sum += free[index]!;
    const isMore = index === 0 || code.adaptive(more, index + 1 < free.length ? 1 : 0) === 1;
    if (!isMore) return true;
  }
  return false;
}

function afterOf(gap: number): number {
  if (gap < 2) return gap === 0 ? AFTER.end : AFTER.next;
  return gap < 2 + NEAR_GAPS ? AFTER.near : AFTER.any;
}

/** The channels of own labels that own carriers, in order. */
function ownChannels(carriers: Uint16Array): number[] {
  const own: number[] = [];
  for (let channel = CHANNEL_COUNT; channel < carriers.length; channel++) {
    if (carriers[channel]! > 0) own.push(channel);
  }
  return own;
}

/** What a block with this directory has. */
export function formOf({ carriers, free }: Directory): BlockForm {
  if (free.length > 0) return "free";
  return ownChannels(carriers).length > 0 ? "own" : "standard";
}

/** The directory's digits. Each count is below 512. */
export function writeDirectory(directory: Directory): Uint16Array {
  const bits = directoryBits(directory);
  assert(bits.length <= DIRECTORY_DIGITS_MAX * BITS_PER_DIGIT, "a directory is short");
  return Uint16Array.from({ length: Math.ceil(bits.length / BITS_PER_DIGIT) }, (_, i) =>
    bitsAt(bits, i * BITS_PER_DIGIT, BITS_PER_DIGIT),
  );
}

export function directoryBits(directory: Directory): Bits {
  const { carriers, free } = directory;
  assert(carriers.length === CHANNEL_COUNT_MAX, "one count a channel");
  assert(free.length !== 1 && free.every((count) => count > 0), "free facts have groups, and carriers each");
  assert(
    [...carriers, ...free].every((count) => count < 1 << SIZE_CLASSES),
    "counts below 512",
  );
  const encoder = new RangeEncoder();
  const isWhole = walk(symbolWriter(encoder), carriers.slice(), [...free], formOf(directory));
  assert(isWhole, "a block has no more carriers than there are");
  return encoder.finishOpen();
}

/** Reads the directory at the start of `digits`, and its length in digits. Bounded work for any digits. */
export function readDirectory(
  digits: Uint16Array,
  form: BlockForm,
): (Directory & { readonly length: number }) | undefined {
  const digitCount = Math.min(digits.length, DIRECTORY_DIGITS_MAX);
  const bitCount = digitCount * BITS_PER_DIGIT;
  const bytes = new Uint8Array(Math.ceil(bitCount / 8));
  for (let i = 0; i < digitCount; i++) {
    putBits(bytes, i * BITS_PER_DIGIT, BITS_PER_DIGIT, digits[i]! & DIGIT_MASK);
  }
  const decoder = new RangeDecoder({ length: bitCount, bytes });
  const carriers = new Uint16Array(CHANNEL_COUNT_MAX);
  const free: number[] = [];
  if (!walk(symbolReader(decoder), carriers, free, form)) return undefined;
  const length = Math.ceil(decoder.bitsRead / BITS_PER_DIGIT);
  return length * BITS_PER_DIGIT <= bitCount ? { carriers, free, length } : undefined;
}
