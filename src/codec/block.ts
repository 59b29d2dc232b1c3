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
import { CHANNEL_COUNT } from "../base/limits.ts";
import { type Codebook, encodeValue } from "./codebook.ts";
import { bitsToDigits, digitsFor } from "./digits.ts";
import { writeDirectory } from "./directory.ts";
import { N } from "./field.ts";
import { writeFrame } from "./framing.ts";
import type { Bits } from "./range-coder.ts";
import { GUARD_MIN } from "./reed-solomon.ts";
import { type BlockKey, seal, TAG_DIGITS } from "./seal.ts";
import { toBlock } from "./transform.ts";

/** Carriers before the directory: the header and the tag. */
export const PREFIX_CARRIERS = 1 + TAG_DIGITS;
/** Carriers that may be in use. */
export const CARRIERS_MAX = N - GUARD_MIN;
/** Format versions stay below this, so that version · 256 + key id is a symbol. */
export const VERSION_MAX = 29;

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
}

export interface Layout {
  readonly directory: { readonly start: number; readonly count: number };
  readonly channels: readonly { readonly channel: number; readonly start: number; readonly count: number }[];
  /** The first silent carrier. */
  readonly end: number;
}

export function buildBlock(facts: readonly BlockFact[], options: BlockOptions): BuiltBlock {
  const { key, userId, codebook } = options;
  assertInteger(codebook.version, 0, VERSION_MAX, "format version");
  const codes = new Map<number, Bits>();
  for (const fact of facts) {
    assertInteger(fact.channel, 0, CHANNEL_COUNT - 1, "channel");
    assert(!codes.has(fact.channel), `channel ${fact.channel} is given once`);
    codes.set(fact.channel, fact.code ?? encodeValue(codebook, fact.channel, utf8(fact.value)));
  }
  const counts = new Map(Array.from(codes, ([channel, code]) => [channel, digitsFor(code.length)]));
  const { carried, directory } = choose(facts, counts);
  const layout = layOut(carried, directory.length);

  const plain = new Uint16Array(layout.end - PREFIX_CARRIERS);
  plain.set(directory);
  for (const { channel, start, count } of layout.channels) {
    plain.set(bitsToDigits(codes.get(channel)!, count), start - PREFIX_CARRIERS);
  }
  const { tag, sealed } = seal(plain, key, { version: codebook.version, userId });
  const spectrum = new Uint16Array(N);
  spectrum[0] = codebook.version * 256 + key.id;
  spectrum.set(tag, 1);
  spectrum.set(sealed, PREFIX_CARRIERS);
  assert(layout.end <= CARRIERS_MAX, "the guard band is silent");
  return {
    text: writeFrame(toBlock(spectrum)),
    carried: layout.channels.map(({ channel }) => channel),
    overflow: facts
      .map(({ channel }) => channel)
      .filter((channel) => carried[channel] === 0)
      .sort((a, b) => a - b),
    carriers: layout.end,
    layout,
  };
}

/** Where everything stands, given how many carriers each channel owns. */
export function layOut(carried: Uint16Array, directoryLength: number): Layout {
  let start = PREFIX_CARRIERS + directoryLength;
  const channels: { channel: number; start: number; count: number }[] = [];
  carried.forEach((count, channel) => {
    if (count === 0) return;
    channels.push({ channel, start, count });
    start += count;
  });
  return { directory: { start: PREFIX_CARRIERS, count: directoryLength }, channels, end: start };
}

/**
 * Which facts ride: all of them if they fit. Otherwise a value that would not fit even alone is left out, and then
 * the least recently written ones, whole, until the others fit.
 */
function choose(
  facts: readonly BlockFact[],
  counts: ReadonlyMap<number, number>,
): { carried: Uint16Array; directory: Uint16Array } {
  const carried = new Uint16Array(CHANNEL_COUNT);
  for (const { channel } of facts) carried[channel] = counts.get(channel)!;
  let directory = directoryIfFits(carried);
  if (directory !== undefined) return { carried, directory };

  const leaveOutFirst = (fact: BlockFact) => (fitsAlone(fact.channel, counts.get(fact.channel)!) ? 1 : 0);
  const oldestFirst = [...facts].sort((a, b) => a.order - b.order || a.channel - b.channel);
  const leavingOrder = oldestFirst.sort((a, b) => leaveOutFirst(a) - leaveOutFirst(b));
  for (const { channel } of leavingOrder) {
    carried[channel] = 0;
    directory = directoryIfFits(carried);
    if (directory !== undefined) break;
  }
  assert(directory !== undefined, "an empty directory fits");
  return { carried, directory };
}

/** The directory's digits, where the guard band stays wide enough. */
function directoryIfFits(carried: Uint16Array): Uint16Array | undefined {
  const room = CARRIERS_MAX - carried.reduce((sum, count) => sum + count, PREFIX_CARRIERS);
  if (room <= 0) return undefined;
  const directory = writeDirectory(carried);
  return directory.length <= room ? directory : undefined;
}

function fitsAlone(channel: number, count: number): boolean {
  const alone = new Uint16Array(CHANNEL_COUNT);
  alone[channel] = count;
  return directoryIfFits(alone) !== undefined;
}
