/**
 * Reads a block out of any text: words → places → mended spectrum → seal → directory → values.
 *
 * An intact block takes the short way: 512 words of the right classes, one transform, one seal. Otherwise the
 * words are aligned and the decoder offers mended spectra, first trusting every word that is likelier right than
 * wrong, then fewer. Nothing is believed before the seal holds, so the answer is either right or "unreadable". The
 * work is bounded for every text.
 */

import { CHANNEL_COUNT_MAX } from "../base/limits.ts";
import { ALIGNMENT_WORDS_MAX, type Placement, placeInOrder, placements } from "./alignment.ts";
import { type Layout, layOut } from "./block.ts";
import { CARRIERS_MAX, PREFIX_CARRIERS } from "./block-room.ts";
import { type Codebook, findCodebook, formOfVersion, knownVersions } from "./codebook.ts";
import { digitsToBits } from "./digits.ts";
import { DIRECTORY_DIGITS_MAX, type Directory, readDirectory } from "./directory.ts";
import { N } from "./field.ts";
import { findPassages, TEXT_LENGTH_MAX, UNKNOWN_WORD, type Words } from "./framing.ts";
import { decodeFact, readGroups, type SlotValue } from "./free-labels.ts";
import { locateBlock } from "./locate.ts";
import type { Bits } from "./range-coder.ts";
import { correctErrors, isSilent } from "./reed-solomon.ts";
import { type BlockKey, isGenuine, TAG_DIGITS, tagFromDigits, unsealUnchecked } from "./seal.ts";
import { type Refusal, type UnreadableBlock, unreadable } from "./unreadable.ts";

/** The silent carriers of a block with one directory digit and no value: the strongest rate class there can be. */
const GUARD_MAX = N - PREFIX_CARRIERS - 1;
/** With fewer words than this, not even the strongest block can be mended. */
const WORDS_MIN = N - GUARD_MAX;
/** The least trust with which a word is kept, for each attempt. */
const TRUST_STEPS = [0.5, 0.8, 0.95, 0.3];
/** Alignment costs the most: at most this many words are aligned in one text, over all its passages. */
const ALIGNABLE_WORDS_MAX = 1600;

interface OpenBlockOptions {
  /** The account's block key with this id, where there is one. */
  readonly keys: (id: number) => BlockKey | undefined;
  readonly userId: string;
  readonly codebooks: readonly Codebook[];
}

export interface ReadOptions extends OpenBlockOptions {
  /** Decode the values of these channels only; the others are passed over. */
  readonly channels?: readonly number[];
}

export type ReadResult = ReadBlock | UnreadableBlock;

/** How a block was found. */
export interface BlockReport {
  readonly ok: true;
  /** Words that were missing or uncertain. */
  readonly missing: number;
  /** Words that stood where another word belongs. */
  readonly wrong: number;
  /** Words mended: the missing and the wrong. */
  readonly repaired: number;
  /** Guard carriers that the damage did not use up: this many more words could be missing. */
  readonly guardLeft: number;
  /** The format version. */
  readonly version: number;
  readonly layout: Layout;
}

/** A block whose seal holds. Its values are still in code, because decoding them takes the longest by far. */
export interface OpenedBlock extends BlockReport {
  readonly codes: readonly OpenedCode[];
}

export interface OpenedCode {
  /** From 256 on for free labels, in their order. */
  readonly channel: number;
  /** That of a free label, whose name is in the code; undefined for a channel. */
  readonly group?: string | undefined;
  readonly bits: Bits;
}

export interface ReadBlock extends BlockReport {
  readonly facts: SlotValue[];
}

interface OpenedSpectrum {
  readonly plain: Uint16Array;
  readonly layout: Layout;
  readonly directory: Directory & { readonly length: number };
  readonly version: number;
}

const DAMAGED = unreadable({ kind: "damaged" });

export function readBlock(text: string, options: ReadOptions): ReadResult {
  const opened = openBlock(text, options);
  if (!opened.ok) return opened;
  const { codes, ...report } = opened;
  const codebook = findCodebook(options.codebooks, opened.version)!;
  const facts: SlotValue[] = [];
  for (const code of codes) {
    if (options.channels?.includes(code.channel) === false) continue;
    const fact = decodeFact(codebook, code, code.bits);
    if (fact === undefined) return unreadable({ kind: "unknown-value", channel: code.channel });
    facts.push(fact);
  }
  return { ...report, facts };
}

export function openBlock(text: string, options: OpenBlockOptions): OpenedBlock | UnreadableBlock {
  let damaged: UnreadableBlock | undefined;
  let refused: UnreadableBlock | undefined;
  for (const result of openBlocks(text, options)) {
    if (result.ok) return result;
    if (isDamaged(result)) damaged = result;
    else refused ??= result;
  }
  return refused ?? damaged ?? unreadable({ kind: "no-block" });
}

/** What each passage that may be a block turns out to be, the last one of the text first. */
export function* openBlocks(
  text: string,
  options: OpenBlockOptions,
): Generator<OpenedBlock | UnreadableBlock> {
  if (text.length > TEXT_LENGTH_MAX) {
    yield unreadable({ kind: "text-too-long" });
    return;
  }
  let hasIntact = false;
  let alignableWords = ALIGNABLE_WORDS_MAX;
  for (const { words, isWholeText } of findPassages(text)) {
    if (countKnown(words) < WORDS_MIN) continue;
    // After an intact block, also one that is not ours, the other passages are tried, but not the text as a whole.
    if (isWholeText && hasIntact) return;
    let result = words.length === N ? openInOrder(words, options) : DAMAGED;
    const stretchLength = Math.min(words.length, ALIGNMENT_WORDS_MAX);
    if (isDamaged(result) && stretchLength <= alignableWords) {
      alignableWords -= stretchLength;
      result = openAligned(words.length > stretchLength ? locateBlock(words) : words, options);
    }
    hasIntact ||= !isDamaged(result);
    yield result;
  }
}

function isDamaged(result: OpenedBlock | UnreadableBlock): boolean {
  return !result.ok && result.kind === "damaged";
}

function openInOrder(words: Words, options: OpenBlockOptions): OpenedBlock | UnreadableBlock {
  return openPlacement(placeInOrder(words), TRUST_STEPS.slice(0, 1), options);
}

function openAligned(words: Words, options: OpenBlockOptions): OpenedBlock | UnreadableBlock {
  for (const placement of placements(words)) {
    const result = openPlacement(placement, TRUST_STEPS, options);
    if (!isDamaged(result)) return result;
  }
  return DAMAGED;
}

function openPlacement(
  placement: Placement,
  trustSteps: readonly number[],
  options: OpenBlockOptions,
): OpenedBlock | UnreadableBlock {
  let erasedBefore = -1;
  for (const trustMin of trustSteps) {
    const erased = new Uint8Array(N);
    let missing = 0;
    for (let t = 0; t < N; t++) {
      if (placement.trust[t]! > trustMin) continue;
      erased[t] = 1;
      missing++;
    }
    if (missing === erasedBefore || missing > GUARD_MAX) continue;
    erasedBefore = missing;
    for (const { spectrum, badPlaces } of correctErrors(placement.symbols, erased, GUARD_MAX)) {
      const opened = openSpectrum(spectrum, options);
      // A silent guard band means that nothing was damaged: no other attempt can open the seal.
      if (opened === undefined && badPlaces === 0) return unreadable(refusalOf(spectrum, options));
      if (opened === undefined) continue;
      return report(opened, missing, badPlaces - missing);
    }
  }
  return DAMAGED;
}

/** The plain digits behind a spectrum whose seal holds; undefined where it does not. */
function openSpectrum(
  spectrum: Uint16Array,
  { keys, userId, codebooks }: OpenBlockOptions,
): OpenedSpectrum | undefined {
  const version = spectrum[0]! >> 8;
  const form = formOfVersion(version);
  const codebook = findCodebook(codebooks, version);
  const key = keys(spectrum[0]! & 255);
  const tag = tagFromDigits(spectrum.subarray(1, 1 + TAG_DIGITS));
  if (!form || codebook === undefined || key === undefined || tag === undefined) return undefined;
  // The directory says how much there is to unseal; most wrong spectra end here.
  const beginning = spectrum.subarray(PREFIX_CARRIERS, PREFIX_CARRIERS + DIRECTORY_DIGITS_MAX);
  const directory = readDirectory(unsealUnchecked(beginning, key, tag), form);
  if (directory === undefined) return undefined;
  const layout = layOut(directory, directory.length);
  if (layout.end > CARRIERS_MAX || !isSilent(spectrum.subarray(layout.end))) return undefined;
  const plain = unsealUnchecked(spectrum.subarray(PREFIX_CARRIERS, layout.end), key, tag);
  if (!isGenuine(plain, key, tag, { version, userId })) return undefined;
  return { plain, layout, directory, version };
}

/** Why an undamaged spectrum does not open. */
function refusalOf(spectrum: Uint16Array, { codebooks }: OpenBlockOptions): Refusal {
  const version = spectrum[0]! >> 8;
  const known = knownVersions(codebooks);
  return known.includes(version) ? { kind: "foreign" } : { kind: "unknown-version", version, known };
}

function report(
  { plain, layout, directory, version }: OpenedSpectrum,
  missing: number,
  wrong: number,
): OpenedBlock | UnreadableBlock {
  const groups = groupsOf(plain, directory);
  if (groups === undefined) return unreadable({ kind: "unknown-value", channel: CHANNEL_COUNT_MAX });
  const codes: OpenedCode[] = [];
  for (const { channel, start, count } of layout.channels) {
    const bits = digitsToBits(plain.subarray(start - PREFIX_CARRIERS, start - PREFIX_CARRIERS + count));
    if (bits === undefined) return unreadable({ kind: "unknown-value", channel });
    codes.push({ channel, group: groups[channel - CHANNEL_COUNT_MAX], bits });
  }
  return {
    ok: true,
    codes,
    missing,
    wrong,
    repaired: missing + wrong,
    guardLeft: N - layout.end - 2 * wrong - missing,
    version,
    layout,
  };
}

/** The group of each free label; undefined where they cannot be read. */
function groupsOf(
  plain: Uint16Array,
  { free, length }: OpenedSpectrum["directory"],
): readonly string[] | undefined {
  const bits = digitsToBits(plain.subarray(length, length + (free[0] ?? 0)));
  return bits && readGroups(bits, Math.max(0, free.length - 1));
}

function countKnown(words: Words): number {
  let known = 0;
  for (let i = 0; i < words.length; i++) if (words[i] !== UNKNOWN_WORD) known++;
  return known;
}
