/**
 * Builds a block: facts → code bits → digits on carriers → sealed spectrum → 512 words.
 *
 * Layout of the spectrum (docs/FORMAT.md):
 *   carrier 0          format version · 256 + key id, in the clear
 *   carriers 1–10      the seal's tag
 *   then, sealed       the directory with the groups of free labels, each channel's digits in channel order, and those
 *                      of each fact under a free label in the order of labels
 *   then               silence: the guard band, at least 32 carriers wide
 */

import { assert } from "../base/assert.ts";
import { BlockRoom, bitsMaxAlone, CARRIERS_MAX, PREFIX_CARRIERS } from "./block-room.ts";
import { type Codebook, formatVersionOf } from "./codebook.ts";
import { bitsToDigits } from "./digits.ts";
import { type Directory, formOf, writeDirectory } from "./directory.ts";
import { N } from "./field.ts";
import { writeFrame } from "./framing.ts";
import {
  assertSlots,
  compareSlots,
  encodeFact,
  type Slot,
  type SlotValue,
  writeGroups,
} from "./free-labels.ts";
import type { Bits } from "./range-coder.ts";
import { type BlockKey, sealDigits } from "./seal.ts";
import { toBlock } from "./transform.ts";

export interface BlockFact extends SlotValue {
  /** When it was written: a larger number is later. */
  readonly order: number;
  /** Its code bits, where they are known already. */
  readonly code?: Bits;
}

export interface BlockOptions {
  readonly key: BlockKey;
  readonly userId: string;
  readonly codebook: Codebook;
}

export interface BuiltBlock {
  /** `[MEM] w1 … w512 [/MEM]` */
  readonly text: string;
  /** Channels in the block, in its order; of a free label the one that was given. */
  readonly carried: number[];
  /** Channels that did not fit, in order. */
  readonly overflow: number[];
  /** Carriers in use: 512 less the guard band. */
  readonly carriers: number;
  /** Which carriers are whose. */
  readonly layout: Layout;
  /** The code bits of the channels in the block. */
  readonly codes: ReadonlyMap<number, Bits>;
}

export interface Layout {
  /** With the groups of free labels. */
  readonly directory: { readonly start: number; readonly count: number };
  readonly channels: readonly { readonly channel: number; readonly start: number; readonly count: number }[];
  /** The first silent carrier. */
  readonly end: number;
}

export function buildBlock(facts: readonly BlockFact[], options: BlockOptions): BuiltBlock {
  const { key, userId, codebook } = options;
  assertSlots(facts);
  const room = new BlockRoom();
  const codes = new Map<number, Bits>();
  for (const fact of newestFirst(facts)) {
    if (room.full) break;
    const bits = fact.code ?? encodeFact(codebook, fact, bitsMaxAlone(fact));
    if (bits !== undefined && room.add(fact, bits.length)) codes.set(fact.channel, bits);
  }
  const { directory, free } = room;
  const digits = writeDirectory(directory);
  const layout = layOut(directory, digits.length, free);
  const version = formatVersionOf(codebook, formOf(directory));

  const plain = new Uint16Array(layout.end - PREFIX_CARRIERS);
  plain.set(digits);
  const groups = writeGroups(free.map(({ label }) => label));
  plain.set(bitsToDigits(groups, directory.free[0] ?? 0), digits.length);
  for (const { channel, start, count } of layout.channels) {
    plain.set(bitsToDigits(codes.get(channel)!, count), start - PREFIX_CARRIERS);
  }
  const { tag, sealed } = sealDigits(plain, key, { version, userId });
  const spectrum = new Uint16Array(N);
  spectrum[0] = version * 256 + key.id;
  spectrum.set(tag, 1);
  spectrum.set(sealed, PREFIX_CARRIERS);
  assert(layout.end <= CARRIERS_MAX, "the guard band is silent");
  return {
    text: writeFrame(toBlock(spectrum)),
    carried: layout.channels.map(({ channel }) => channel),
    overflow: facts
      .filter(({ channel }) => !codes.has(channel))
      .sort(compareSlots)
      .map(({ channel }) => channel),
    carriers: layout.end,
    layout,
    codes,
  };
}

/** The order in which facts are taken: of those written at the same time, the one that is later in a block first. */
export function newestFirst<F extends Slot & { readonly order: number }>(facts: readonly F[]): F[] {
  return [...facts].sort((a, b) => b.order - a.order || compareSlots(b, a));
}

/**
 * Where everything stands, given how many carriers each channel and each free fact owns.
 * @param slots those of the free facts; a reader does not know them, and counts from 256 on
 */
export function layOut(
  { carriers, free }: Directory,
  directoryLength: number,
  slots: readonly Slot[] = [],
): Layout {
  const directory = { start: PREFIX_CARRIERS, count: directoryLength + (free[0] ?? 0) };
  let start = directory.start + directory.count;
  const channels: { channel: number; start: number; count: number }[] = [];
  [...carriers, ...free.slice(1)].forEach((count, index) => {
    if (count === 0) return;
    const channel = slots[index - carriers.length]?.channel ?? index;
    channels.push({ channel, start, count });
    start += count;
  });
  return { directory, channels, end: start };
}
