/**
 * Which facts ride in a block, chosen one at a time, the newest first: so that nothing older has to be coded once
 * the block is full.
 *
 * A value that would not fit even an empty block is passed over. The first one that would fit alone but not beside
 * the newer ones ends the choice: it and all older ones are left out, so that which facts ride is easy to predict.
 *
 * One more channel never makes a block shorter: it adds at least one carrier, and shortens the directory by one
 * carrier at most (presence costs up to 5.3 bits less; size classes only add bits, because adaptive counts give the
 * same product in any order).
 */

import { assert, assertInteger } from "../base/assert.ts";
import { CHANNEL_COUNT } from "../base/limits.ts";
import { capacityBits, digitsFor } from "./digits.ts";
import { writeDirectory } from "./directory.ts";
import { N } from "./field.ts";
import { GUARD_MIN } from "./reed-solomon.ts";
import { TAG_DIGITS } from "./seal.ts";

/** Carriers before the directory: the header and the tag. */
export const PREFIX_CARRIERS = 1 + TAG_DIGITS;
/** Carriers that may be in use. */
export const CARRIERS_MAX = N - GUARD_MIN;

export class BlockRoom {
  readonly #counts = new Uint16Array(CHANNEL_COUNT);
  #directory = writeDirectory(this.#counts);
  #used = PREFIX_CARRIERS;
  #ended = false;

  /** How many carriers each channel owns so far. */
  get counts(): Uint16Array {
    return this.#counts.slice();
  }

  /** The digits of the directory for these counts. */
  get directory(): Uint16Array {
    return this.#directory;
  }

  /** Whether the choice is over: no further value is taken, so none has to be coded. */
  get full(): boolean {
    return this.#ended;
  }

  /** The most bits that this channel's code may have to fit beside those taken; −1 where no carrier is free. */
  bitsMaxFor(channel: number): number {
    if (this.#ended) return -1;
    let count = CARRIERS_MAX - this.#used - 1;
    while (count > 0 && this.#directoryWith(channel, count) === undefined) count--;
    return count > 0 ? capacityBits(count) : -1;
  }

  /** Takes the next older channel if a code of this many bits fits. One that does not fit may end the choice. */
  add(channel: number, bitCount: number): boolean {
    const count = digitsFor(bitCount);
    const directory = this.#ended ? undefined : this.#directoryWith(channel, count);
    if (directory === undefined) {
      this.#ended ||= bitCount <= bitsMaxAlone(channel);
      return false;
    }
    this.#counts[channel] = count;
    this.#directory = directory;
    this.#used += count;
    this.#ended = this.#used + directory.length >= CARRIERS_MAX;
    return true;
  }

  /** The directory with one more channel, where the guard band stays wide enough. */
  #directoryWith(channel: number, count: number): Uint16Array | undefined {
    assertInteger(channel, 0, CHANNEL_COUNT - 1, "channel");
    assert(this.#counts[channel] === 0, `channel ${channel} is taken once`);
    const room = CARRIERS_MAX - this.#used - count;
    if (room <= 0) return undefined;
    const counts = this.counts;
    counts[channel] = count;
    const directory = writeDirectory(counts);
    return directory.length <= room ? directory : undefined;
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
