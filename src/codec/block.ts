/**
 * Builds a block: facts → code bits → digits on carriers → sealed spectrum → 512 words.
 *
 * Layout of the spectrum (docs/FORMAT.md):
 *   carrier 0          format version · 256 + key id, in the clear
 *   carriers 1–10      the seal's tag
 *   then, sealed       the directory, and each channel's digits in channel order
 *   then               silence: the guard band, at least 32 carriers wide
 */

import { assert, assertInteger } from "../base/assert.ts";
import { utf8 } from "../base/bytes.ts";
import { CHANNEL_COUNT_MAX } from "../base/limits.ts";
import { BlockRoom, bitsMaxAlone, CARRIERS_MAX, PREFIX_CARRIERS } from "./block-room.ts";
import { type Codebook, encodeValue, formatVersionOf } from "./codebook.ts";
import { bitsToDigits } from "./digits.ts";
import { ownChannels } from "./directory.ts";
import { N } from "./field.ts";
import { writeFrame } from "./framing.ts";
import type { Bits } from "./range-coder.ts";
import { type BlockKey, sealDigits } from "./seal.ts";
import { toBlock } from "./transform.ts";

export interface BlockFact {
  readonly channel: number;
  readonly value: string;
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
  /** Channels in the block, in order. */
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
  readonly directory: { readonly start: number; readonly count: number };
  readonly channels: readonly { readonly channel: number; readonly start: number; readonly count: number }[];
  /** The first silent carrier. */
  readonly end: number;
}

export function buildBlock(facts: readonly BlockFact[], options: BlockOptions): BuiltBlock {
  const { key, userId, codebook } = options;
  for (const { channel } of facts) assertInteger(channel, 0, CHANNEL_COUNT_MAX - 1, "channel");
  assert(new Set(facts.map(({ channel }) => channel)).size === facts.length, "each channel is given once");
  const room = new BlockRoom();
  const codes = new Map<number, Bits>();
  for (const { channel, value, code } of newestFirst(facts)) {
    if (room.full) break;
    const bits = code ?? encodeValue(codebook, channel, utf8(value), bitsMaxAlone(channel));
    if (bits !== undefined && room.add(channel, bits.length)) codes.set(channel, bits);
  }
  const { counts, directory } = room;
  const layout = layOut(counts, directory.length);
  const version = formatVersionOf(codebook, ownChannels(counts).length > 0);

  const plain = new Uint16Array(layout.end - PREFIX_CARRIERS);
  plain.set(directory);
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
      .map(({ channel }) => channel)
      .filter((channel) => counts[channel] === 0)
      .sort((a, b) => a - b),
    carriers: layout.end,
    layout,
    codes,
  };
}

/** The order in which facts are taken: of those written at the same time, the higher channel first. */
export function newestFirst<F extends { readonly channel: number; readonly order: number }>(
  facts: readonly F[],
): F[] {
  return [...facts].sort((a, b) => b.order - a.order || b.channel - a.channel);
}

/** Where everything stands, given how many carriers each channel owns. */
export function layOut(counts: Uint16Array, directoryLength: number): Layout {
  let start = PREFIX_CARRIERS + directoryLength;
  const channels: { channel: number; start: number; count: number }[] = [];
  counts.forEach((count, channel) => {
    if (count === 0) return;
    channels.push({ channel, start, count });
    start += count;
  });
  return { directory: { start: PREFIX_CARRIERS, count: directoryLength }, channels, end: start };
}
