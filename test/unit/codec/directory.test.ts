/** The directory: every set of counts comes back, stays short, and any digits at all are read without harm. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AssertionError } from "../../../src/base/assert.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX } from "../../../src/base/limits.ts";
import { type Random, seededRandom } from "../../../src/base/random.ts";
import { CARRIERS_MAX, PREFIX_CARRIERS } from "../../../src/codec/block-room.ts";
import { BLOCK_FORMS } from "../../../src/codec/codebook.ts";
import {
  DIRECTORY_DIGITS_MAX,
  type Directory,
  directoryBits,
  formOf,
  readDirectory,
  writeDirectory,
} from "../../../src/codec/directory.ts";
import { P } from "../../../src/codec/field.ts";
import { anySeed, anySymbol, randomSymbols } from "../../fixtures/blocks.ts";

/** Carriers that the channels of one block can own together. */
const ROOM = CARRIERS_MAX - PREFIX_CARRIERS - 1;

function roundTrip(directory: Directory, after: Uint16Array = new Uint16Array(0)): number {
  const digits = writeDirectory(directory);
  const read = readDirectory(Uint16Array.from([...digits, ...after]), formOf(directory));
  assert.deepEqual(read, { ...directory, length: digits.length });
  return digits.length;
}

/** The same count on each of these channels. */
function on(channels: readonly number[], count = 1, free: readonly number[] = []): Directory {
  const carriers = new Uint16Array(CHANNEL_COUNT_MAX);
  for (const channel of channels) carriers[channel] = count;
  return { carriers, free };
}

function range(from: number, end: number, step = 1): number[] {
  return Array.from({ length: Math.ceil((end - from) / step) }, (_, i) => from + i * step);
}

const STANDARD = range(0, CHANNEL_COUNT);
const ALL = range(0, CHANNEL_COUNT_MAX);

/** Counts that fill a block in all ways: few large, many small, of one size class or of all; with other labels or without. */
function randomCounts(random: Random): Directory {
  const counts = new Uint16Array(CHANNEL_COUNT_MAX);
  const channels = ALL.slice(0, random.pick([CHANNEL_COUNT, 50, 80, CHANNEL_COUNT_MAX]));
  let room = ROOM;
  const largest = random.pick([1, 3, 12, 40, 200, ROOM]);
  const present = random.unit();
  for (const channel of random.shuffle(channels)) {
    if (random.unit() > present || room === 0) continue;
    counts[channel] = Math.min(room, 1 + random.below(largest));
    room -= counts[channel];
  }
  const free: number[] = [];
  for (let left = random.pick([0, 2, 41, ROOM]); left > 0 && room > 1; left--) {
    free.push(Math.min(room - 1, 1 + random.below(largest)));
    room -= free.at(-1)!;
  }
  return { carriers: counts, free: free.length > 0 ? [1, ...free] : [] };
}

test("an empty directory is one digit, and all channels of one size are hardly more", () => {
  assert.equal(roundTrip(on([])), 1);
  for (const size of [1, 2, 4, 8]) assert.ok(roundTrip(on(STANDARD, size)) <= 15);
  roundTrip(on(STANDARD, 11));
});

test("every count from 1 to 469 on any channel comes back", () => {
  for (let count = 1; count <= 469; count++) {
    for (const channel of [0, 17, 39, 40, 111, 255]) roundTrip(on([channel], count));
  }
});

test("any counts come back, whatever digits follow", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const random = seededRandom(seed);
      roundTrip(randomCounts(random), randomSymbols(random, random.below(70)));
    }),
    { numRuns: 500 },
  );
});

test("no directory that a block can have is longer than 128 digits, nor near it", () => {
  const random = seededRandom(5);
  let longest = 0;
  // Climb: change one count at a time, keep what is no shorter.
  for (let start = 0; start < 8; start++) {
    // Facts on every other channel have the longest list.
    const free = start % 2 === 0 ? [] : [2, 1, 2, 3, 1, 2, 3];
    let best = start < 4 ? on(range(start >> 1, CHANNEL_COUNT_MAX, 2), 3, free) : randomCounts(random);
    let length = roundTrip(best);
    for (let step = 0; step < 400; step++) {
      const next = { carriers: best.carriers.slice(), free: [...best.free] };
      const count = 1 + random.below(random.pick([2, 8, 32, 128, ROOM]));
      if (next.free.length > 0 && random.below(2) === 0)
        next.free[random.below(next.free.length + 1)] = count;
      else next.carriers[random.below(CHANNEL_COUNT_MAX)] = random.below(2) * count;
      if ([...next.carriers, ...next.free].reduce((sum, each) => sum + each, 0) > ROOM) continue;
      const nextLength = roundTrip(next);
      if (nextLength >= length) [best, length] = [next, nextLength];
    }
    longest = Math.max(longest, length);
  }
  assert.ok(longest <= (DIRECTORY_DIGITS_MAX * 3) / 4, `${longest} digits`);
});

test("arbitrary digits are a directory or none: never an exception, never counts out of range", () => {
  fc.assert(
    fc.property(fc.array(anySymbol, { maxLength: 140 }), fc.constantFrom(...BLOCK_FORMS), (digits, form) => {
      const read = readDirectory(Uint16Array.from(digits), form);
      if (read === undefined) return;
      assert.ok(read.length >= 1 && read.length <= Math.min(digits.length, DIRECTORY_DIGITS_MAX));
      assert.equal(read.carriers.length, CHANNEL_COUNT_MAX);
      assert.equal(formOf(read), form);
      for (const count of [...read.carriers, ...read.free]) assert.ok(count < 512);
    }),
    { numRuns: 500 },
  );
  for (const form of BLOCK_FORMS) {
    for (const digit of [0, 4095, P - 1])
      readDirectory(new Uint16Array(DIRECTORY_DIGITS_MAX).fill(digit), form);
    assert.equal(readDirectory(new Uint16Array(0), form), undefined);
  }
});

test("a directory that is cut short is none", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const directory = randomCounts(seededRandom(seed));
      const digits = writeDirectory(directory);
      const cut = readDirectory(digits.subarray(0, digits.length - 1), formOf(directory));
      assert.ok(cut === undefined || cut.length < digits.length);
    }),
  );
});

test("counts of 512 and more, and other than 256 channels, are the programmer's error", () => {
  assert.throws(() => writeDirectory(on([3], 512)), AssertionError);
  const few = { carriers: new Uint16Array(CHANNEL_COUNT), free: [] };
  for (const wrong of [few, on([], 1, [1]), on([], 1, [1, 0]), on([], 1, [1, 300, 300, 1])])
    assert.throws(() => writeDirectory(wrong), AssertionError);
});

/** The most bits that naming own channels may take, for each of them. */
const OWN_BITS_MAX = 10;
/** Each of two codes may end this many bits late, so a difference of them is off by as many either way. */
const LATE_BITS_MAX = 2;
/** The least that one more channel can cost: facts in a row take fewer bits than facts far apart. */
const OWN_BITS_MIN = -2.8;

/** What the sizes of facts cost, one carrier each, when `before` other facts of one carrier stand before them. */
function sizeBits(count: number, before = 0): number {
  let bits = 0;
  for (let i = before; i < before + count; i++) bits -= Math.log2((1 + 8 * i) / (33 + 8 * i));
  return bits;
}

/** The bits that a directory has more with these own channels than without, less those for their sizes. */
function placeBits(standard: readonly number[], own: readonly number[]): number {
  const bits = directoryBits(on([...standard, ...own])).length - directoryBits(on(standard)).length;
  return bits - sizeBits(own.length, standard.length);
}

/** Own channels of every number and every distance: in a row, evenly spread, at random, at either end. */
function* ownSets(): Generator<number[]> {
  const random = seededRandom(3);
  for (let count = 1; count <= CHANNEL_COUNT_MAX - CHANNEL_COUNT; count++) {
    const free = CHANNEL_COUNT_MAX - CHANNEL_COUNT - count;
    yield range(CHANNEL_COUNT, CHANNEL_COUNT + count);
    yield range(CHANNEL_COUNT_MAX - count, CHANNEL_COUNT_MAX);
    for (let gap = 2; (count - 1) * (gap - 1) <= free && gap <= 216; gap++) {
      yield range(CHANNEL_COUNT, CHANNEL_COUNT + count * gap, gap).slice(0, count);
    }
    for (let i = 0; i < 4; i++) {
      yield random
        .shuffle(range(CHANNEL_COUNT, CHANNEL_COUNT_MAX))
        .slice(0, count)
        .sort((a, b) => a - b);
    }
  }
}

test("own channels, of any number and at any distance, cost at most 10 bits each beside their sizes", () => {
  let worst = 0;
  for (const own of ownSets()) {
    for (const standard of [[], STANDARD.slice(0, 20), STANDARD]) {
      worst = Math.max(worst, placeBits(standard, own) / own.length);
    }
  }
  assert.ok(worst <= OWN_BITS_MAX && worst > 8, `${worst} bits`);
});

test("an own channel added to others costs at most 12 bits, wherever it comes between them", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const random = seededRandom(seed);
      const channels = random.shuffle(range(CHANNEL_COUNT, CHANNEL_COUNT_MAX)).slice(0, 1 + random.below(40));
      const standard = STANDARD.slice(0, random.below(41));
      const more = placeBits(standard, channels) - placeBits(standard, channels.slice(1));
      assert.ok(more <= OWN_BITS_MAX + LATE_BITS_MAX && more >= OWN_BITS_MIN - LATE_BITS_MAX, `${more} bits`);
    }),
    { numRuns: 500 },
  );
});

test("facts in a row on own channels cost two bits each for their places", () => {
  const places = placeBits([], range(CHANNEL_COUNT, CHANNEL_COUNT + 20));
  assert.ok(places <= 8 + 20 * 2 + 1, `${places} bits`);
});

test("a directory whose list goes past channel 255 is none", () => {
  const random = seededRandom(8);
  const readings = range(0, 400).map(() => readDirectory(randomSymbols(random, DIRECTORY_DIGITS_MAX), "own"));
  // Random digits are never too few for a list: those refused name a channel that there is not.
  assert.ok(readings.some((read) => read === undefined) && readings.some((read) => read !== undefined));
});

test("forty facts under free labels cost 10 bits beside their sizes", () => {
  const bits = (free: readonly number[]) => directoryBits(on(STANDARD, 1, free)).length;
  const sizes = sizeBits(41, STANDARD.length);
  const named = bits(new Array(41).fill(1)) - bits([]) - sizes;
  // 7.8 of them say that there are no own channels.
  assert.ok(named <= 7.8 + 10.7 + LATE_BITS_MAX, `${named} bits`);
});
