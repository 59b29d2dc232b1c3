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
 * any order. A free label never makes the list of groups shorter.
 */

import { assert, assertInteger } from "../base/assert.ts";
import { CHANNEL_COUNT_MAX } from "../base/limits.ts";
import { capacityBits, digitsFor } from "./digits.ts";
import { DIRECTORY_DIGITS_MAX, type Directory, writeDirectory } from "./directory.ts";
import { N } from "./field.ts";
import { compareSlots, freeLabel, type Slot, writeGroups } from "./free-labels.ts";
import { GUARD_MIN } from "./reed-solomon.ts";
import { TAG_DIGITS } from "./seal.ts";

/** Carriers before the directory: the header and the tag. */
export const PREFIX_CARRIERS = 1 + TAG_DIGITS;
/** Carriers that may be in use. */
export const CARRIERS_MAX = N - GUARD_MIN;

/** A fact under a free label, and its carriers. */
interface FreeFact {
  readonly channel: number;
  readonly label: string;
  readonly count: number;
}

export class BlockRoom {
  readonly #carriers = new Uint16Array(CHANNEL_COUNT_MAX);
  /** In the order of labels. */
  #free: readonly FreeFact[] = [];
  #used = PREFIX_CARRIERS;
  #ended = false;

  /** How many carriers each channel and each free fact owns so far. */
  get directory(): Directory {
    return directoryOf(this.#carriers, this.#free);
  }

  /** The facts under free labels that were taken, in the order of labels. */
  get free(): readonly { readonly channel: number; readonly label: string }[] {
    return this.#free;
  }

  /** Whether the choice is over: no further value is taken, so none has to be coded. */
  get full(): boolean {
    return this.#ended;
  }

  /** The most bits that this fact's code may have to fit beside those taken; −1 where no carrier is free. */
  bitsMaxFor(slot: Slot): number {
    if (this.#ended) return -1;
    let count = CARRIERS_MAX - this.#used - 1;
    while (count > 0 && this.#leftWith(slot, count) < 0) count--;
    return count > 0 ? capacityBits(count) : -1;
  }

  /** Takes the next older fact if a code of this many bits fits. One that does not fit may end the choice. */
  add(slot: Slot, bitCount: number): boolean {
    const count = digitsFor(bitCount);
    const left = this.#ended ? -1 : this.#leftWith(slot, count);
    if (left < 0) {
      this.#ended ||= bitCount <= bitsMaxAlone(slot);
      return false;
    }
    this.#free = this.#freeWith(slot, count);
    if (freeLabel(slot) === undefined) this.#carriers[slot.channel] = count;
    this.#used += count;
    this.#ended = left === 0;
    return true;
  }

  /** The carriers that are left for sure with one more fact; below 0 where the guard band would be too narrow. */
  #leftWith(slot: Slot, count: number): number {
    const free = this.#freeWith(slot, count);
    const room = CARRIERS_MAX - this.#used - count - groupDigits(free);
    // A directory is written only where its length matters: it takes longer than all the rest.
    if (room <= 0 || room > DIRECTORY_DIGITS_MAX) return room - DIRECTORY_DIGITS_MAX;
    const carriers = this.#carriers.slice();
    if (freeLabel(slot) === undefined) carriers[slot.channel] = count;
    return room - writeDirectory(directoryOf(carriers, free)).length;
  }

  #freeWith(slot: Slot, count: number): readonly FreeFact[] {
    const { channel } = slot;
    const label = freeLabel(slot);
    if (label === undefined) {
      assertInteger(channel, 0, CHANNEL_COUNT_MAX - 1, "channel");
      assert(this.#carriers[channel] === 0, `channel ${channel} is taken once`);
      return this.#free;
    }
    return [...this.#free, { channel, label, count }].sort(compareSlots);
  }
}

function directoryOf(carriers: Uint16Array, free: readonly FreeFact[]): Directory {
  const counts = free.map(({ count }) => count);
  return { carriers: carriers.slice(), free: free.length > 0 ? [groupDigits(free), ...counts] : [] };
}

/** The carriers of the list of groups. */
function groupDigits(free: readonly { readonly label: string }[]): number {
  return free.length > 0 ? digitsFor(writeGroups(free.map(({ label }) => label)).length) : 0;
}

/** By channel; those of free labels by the carriers of their group, counted from 256 on. */
const aloneBits = new Map<number, number>();

/** The most bits that a code may have in a block of its own: a value with a longer code does not fit in any block. */
export function bitsMaxAlone(slot: Slot): number {
  const label = freeLabel(slot);
  const key = label === undefined ? slot.channel : CHANNEL_COUNT_MAX + groupDigits([{ label }]);
  let bits = aloneBits.get(key);
  if (bits === undefined) {
    bits = new BlockRoom().bitsMaxFor(slot);
    aloneBits.set(key, bits);
  }
  return bits;
}
