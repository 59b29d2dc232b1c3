/**
 * Which facts ride in a block, chosen one at a time, the newest first: so that nothing older has to be coded once
 * the block is full.
 *
 * A value that would not fit even an empty block is passed over. The first one that would fit alone but not beside
 * the newer ones ends the choice: it and all older ones are left out, so that which facts ride is easy to predict.
 *
 * One more channel never makes a block shorter: it adds at least one carrier, and shortens the directory by one
 * carrier at most. The presence of a standard channel costs up to 5.3 bits less; an own channel between two others up
 * to 2.8, and the first one only adds; size classes only add bits, because adaptive counts give the same product in
 * any order.
 */

import { assert, assertInteger } from "../base/assert.ts";
import { CHANNEL_COUNT_MAX } from "../base/limits.ts";
import { capacityBits, digitsFor } from "./digits.ts";
import { DIRECTORY_DIGITS_MAX, writeDirectory } from "./directory.ts";
import { N } from "./field.ts";
import { GUARD_MIN } from "./reed-solomon.ts";
import { TAG_DIGITS } from "./seal.ts";

/** Carriers before the directory: the header and the tag. */
export const PREFIX_CARRIERS = 1 + TAG_DIGITS;
/** Carriers that may be in use. */
export const CARRIERS_MAX = N - GUARD_MIN;

export class BlockRoom {
  readonly #counts = new Uint16Array(CHANNEL_COUNT_MAX);
  #used = PREFIX_CARRIERS;
  #ended = false;

  /** How many carriers each channel owns so far. */
  get counts(): Uint16Array {
    return this.#counts.slice();
  }

  /** The digits of the directory for these counts. */
  get directory(): Uint16Array {
    return writeDirectory(this.#counts);
  }

  /** Whether the choice is over: no further value is taken, so none has to be coded. */
  get full(): boolean {
    return this.#ended;
  }

  /** The most bits that this channel's code may have to fit beside those taken; −1 where no carrier is free. */
  bitsMaxFor(channel: number): number {
    if (this.#ended) return -1;
    let count = CARRIERS_MAX - this.#used - 1;
    while (count > 0 && this.#leftWith(channel, count) < 0) count--;
    return count > 0 ? capacityBits(count) : -1;
  }

  /** Takes the next older channel if a code of this many bits fits. One that does not fit may end the choice. */
  add(channel: number, bitCount: number): boolean {
    const count = digitsFor(bitCount);
    const left = this.#ended ? -1 : this.#leftWith(channel, count);
    if (left < 0) {
      this.#ended ||= bitCount <= bitsMaxAlone(channel);
      return false;
    }
    this.#counts[channel] = count;
    this.#used += count;
    this.#ended = left === 0;
    return true;
  }

  /** The carriers that are left for sure with one more channel; below 0 where the guard band would be too narrow. */
  #leftWith(channel: number, count: number): number {
    assertInteger(channel, 0, CHANNEL_COUNT_MAX - 1, "channel");
    assert(this.#counts[channel] === 0, `channel ${channel} is taken once`);
    const room = CARRIERS_MAX - this.#used - count;
    // A directory is written only where its length matters: it takes longer than all the rest.
    if (room <= 0 || room > DIRECTORY_DIGITS_MAX) return room - DIRECTORY_DIGITS_MAX;
    const counts = this.counts;
    counts[channel] = count;
    return room - writeDirectory(counts).length;
  }
}

const aloneBits = new Map<number, number>();

/** The most bits that a code may have in a block of its own: a value with a longer code does not fit in any block. */
export function bitsMaxAlone(channel: number): number {
  let bits = aloneBits.get(channel);
  if (bits === undefined) {
    bits = new BlockRoom().bitsMaxFor(channel);
    aloneBits.set(channel, bits);
  }
  return bits;
}
