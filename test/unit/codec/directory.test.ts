/** The directory: every set of counts comes back, stays short, and any digits at all are read without harm. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AssertionError } from "../../../src/base/assert.ts";
import { type Random, seededRandom } from "../../../src/base/random.ts";
import { CARRIERS_MAX, PREFIX_CARRIERS } from "../../../src/codec/block-room.ts";
import { DIRECTORY_DIGITS_MAX, readDirectory, writeDirectory } from "../../../src/codec/directory.ts";
import { P } from "../../../src/codec/field.ts";
import { anySeed, anySymbol, randomSymbols } from "../../fixtures/blocks.ts";

const CHANNELS = 40;
/** Carriers that the channels of one block can own together. */
const ROOM = CARRIERS_MAX - PREFIX_CARRIERS - 1;

function roundTrip(counts: Uint16Array, after: Uint16Array = new Uint16Array(0)): number {
  const digits = writeDirectory(counts);
  const read = readDirectory(Uint16Array.from([...digits, ...after]));
  assert.deepEqual(read?.carriers, counts);
  assert.equal(read?.length, digits.length);
  return digits.length;
}

function single(channel: number, count: number): Uint16Array {
  const counts = new Uint16Array(CHANNELS);
  counts[channel] = count;
  return counts;
}

/** Counts that fill a block in all ways: few large, many small, of one size class or of all. */
function randomCounts(random: Random): Uint16Array {
  const counts = new Uint16Array(CHANNELS);
  let room = ROOM;
  const largest = random.pick([1, 3, 12, 40, 200, ROOM]);
  const present = random.unit();
  for (const channel of random.shuffle(counts.map((_, i) => i) as unknown as number[])) {
    if (random.unit() > present || room === 0) continue;
    counts[channel] = Math.min(room, 1 + random.below(largest));
    room -= counts[channel];
  }
  return counts;
}

test("an empty directory is one digit, and all channels of one size are hardly more", () => {
  assert.equal(roundTrip(new Uint16Array(CHANNELS)), 1);
  for (const size of [1, 2, 4, 8]) assert.ok(roundTrip(new Uint16Array(CHANNELS).fill(size)) <= 15);
  roundTrip(new Uint16Array(CHANNELS).fill(11));
});

test("every count from 1 to 469 on any channel comes back", () => {
  for (let count = 1; count <= 469; count++) {
    for (const channel of [0, 17, 39]) roundTrip(single(channel, count));
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

test("no directory that a block can have is longer than 64 digits, nor near it", () => {
  const random = seededRandom(5);
  let longest = 0;
  // Climb: change one channel at a time, keep what is no shorter.
  for (let start = 0; start < 6; start++) {
    let counts = randomCounts(random);
    let length = roundTrip(counts);
    for (let step = 0; step < 400; step++) {
      const next = counts.slice();
      next[random.below(CHANNELS)] = random.below(2) * (1 + random.below(random.pick([2, 8, 32, 128, ROOM])));
      if (next.reduce((sum, count) => sum + count, 0) > ROOM) continue;
      const nextLength = roundTrip(next);
      if (nextLength >= length) [counts, length] = [next, nextLength];
    }
    longest = Math.max(longest, length);
  }
  assert.ok(longest <= DIRECTORY_DIGITS_MAX / 2, `${longest} digits`);
});

test("arbitrary digits are a directory or none: never an exception, never counts out of range", () => {
  fc.assert(
    fc.property(fc.array(anySymbol, { maxLength: 80 }), (digits) => {
      const read = readDirectory(Uint16Array.from(digits));
      if (read === undefined) return;
      assert.ok(read.length >= 1 && read.length <= Math.min(digits.length, DIRECTORY_DIGITS_MAX));
      assert.equal(read.carriers.length, CHANNELS);
      for (const count of read.carriers) assert.ok(count < 512);
    }),
    { numRuns: 500 },
  );
  for (const digit of [0, 4095, P - 1]) readDirectory(new Uint16Array(64).fill(digit));
  assert.equal(readDirectory(new Uint16Array(0)), undefined);
});

test("a directory that is cut short is none", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const digits = writeDirectory(randomCounts(seededRandom(seed)));
      const cut = readDirectory(digits.subarray(0, digits.length - 1));
      assert.ok(cut === undefined || cut.length < digits.length);
    }),
  );
});

test("counts of 512 and more, and other than 40 channels, are the programmer's error", () => {
  assert.throws(() => writeDirectory(single(3, 512)), AssertionError);
  assert.throws(() => writeDirectory(new Uint16Array(39)), AssertionError);
});
