/**
 * Reads a block out of any text: words → places → mended spectrum → seal → directory → values.
 *
 * An intact block takes the short way: 512 words of the right classes, one transform, one seal. Otherwise the
 * words are aligned and the decoder offers mended spectra, first trusting every word that is likelier right than
 * wrong, then fewer. Nothing is believed before the seal holds, so the answer is right or it is "unreadable";
 * whatever the text holds, the work is bounded.
 */

import { textOf } from "../base/bytes.ts";
import { ALIGNMENT_WORDS_MAX, type Placement, placeInOrder, placements } from "./alignment.ts";
import { type Layout, layOut } from "./block.ts";
import { CARRIERS_MAX, PREFIX_CARRIERS } from "./block-room.ts";
import { type Codebook, decodeValue } from "./codebook.ts";
import { digitsToBits } from "./digits.ts";
import { DIRECTORY_DIGITS_MAX, readDirectory } from "./directory.ts";
import { N } from "./field.ts";
import { findPassages, TEXT_LENGTH_MAX, UNKNOWN_WORD, type Words } from "./framing.ts";
import { likeliestStretch } from "./locate.ts";
import type { Bits } from "./range-coder.ts";
import { isSilent, mend } from "./reed-solomon.ts";
import { type BlockKey, isGenuine, TAG_DIGITS, tagFromDigits, unsealUnchecked } from "./seal.ts";

/** A block of one directory digit leaves so many carriers silent: the strongest rate class there can be. */
const GUARD_MAX = N - PREFIX_CARRIERS - 1;
/** With fewer words than this, not even the strongest block can be mended. */
const WORDS_MIN = N - GUARD_MAX;
/** The least trust a word is kept with, attempt by attempt. */
const TRUST_STEPS = [0.5, 0.8, 0.95, 0.3];
/** Alignment costs the most: of all passages of a text together, so many words are aligned. */
const ALIGNABLE_WORDS_MAX = 1600;

export interface OpenOptions {
  /** The account's block key of that id, where there is one. */
  readonly keys: (id: number) => BlockKey | undefined;
  readonly userId: string;
  readonly codebooks: readonly Codebook[];
}

export interface ReadOptions extends OpenOptions {
  /** Decode the values of these channels only; the others are passed over. */
  readonly channels?: readonly number[];
}

export type ReadResult = ReadBlock | UnreadableBlock;

interface BlockReport {
  readonly ok: true;
  /** Words that were not there, or not for sure. */
  readonly missing: number;
  /** Words that stood in another's place. */
  readonly wrong: number;
  /** Words mended: the missing and the wrong. */
  readonly repaired: number;
  /** Guard carriers that the damage did not use up: so many more words could be missing. */
  readonly guardLeft: number;
  /** The format version. */
  readonly version: number;
  readonly layout: Layout;
}

/** A block whose seal holds, its values still in code: reading them takes the longest by far. */
export interface OpenedBlock extends BlockReport {
  readonly codes: readonly { readonly channel: number; readonly bits: Bits }[];
}

export interface ReadBlock extends BlockReport {
  readonly facts: { readonly channel: number; readonly value: string }[];
}

export interface UnreadableBlock {
  readonly ok: false;
  readonly reason: string;
}

interface Opened {
  readonly plain: Uint16Array;
  readonly layout: Layout;
  readonly codebook: Codebook;
}

const DAMAGED = "the words are too damaged, or the block was sealed for another account or user";
const FOREIGN = "all words are in place, but the block was altered, or sealed for another account or user";

export function readBlock(text: string, options: ReadOptions): ReadResult {
  const opened = openBlock(text, options);
  if (!opened.ok) return opened;
  const { codes, ...report } = opened;
  const codebook = options.codebooks.find(({ version }) => version === opened.version)!;
  const facts: { channel: number; value: string }[] = [];
  for (const { channel, bits } of codes) {
    if (options.channels?.includes(channel) === false) continue;
    const value = readValue(codebook, channel, bits);
    if (value === undefined) return unreadable(unknownValue(channel));
    facts.push({ channel, value });
  }
  return { ...report, facts };
}

/** The value of a code out of an opened block; undefined where it is none. */
export function readValue(codebook: Codebook, channel: number, bits: Bits): string | undefined {
  const bytes = decodeValue(codebook, channel, bits);
  return bytes && textOf(bytes);
}

export function unknownValue(channel: number): string {
  return `channel ${channel} holds no value that this reader knows`;
}

export function openBlock(text: string, options: OpenOptions): OpenedBlock | UnreadableBlock {
  if (text.length > TEXT_LENGTH_MAX) {
    return unreadable(`the text is longer than ${TEXT_LENGTH_MAX} characters; hand over the block alone`);
  }
  let reason = "no block in this text: it has too few words of the alphabet";
  let refused: string | undefined;
  let alignableWords = ALIGNABLE_WORDS_MAX;
  for (const { words, isWholeText } of findPassages(text)) {
    if (countKnown(words) < WORDS_MIN) continue;
    // A block that is not ours stands in the way of no other; but all words together are not tried after it.
    if (isWholeText && refused !== undefined) break;
    reason = DAMAGED;
    let result = words.length === N ? openInOrder(words, options) : unreadable(DAMAGED);
    const stretchLength = Math.min(words.length, ALIGNMENT_WORDS_MAX);
    if (!result.ok && result.reason === DAMAGED && stretchLength <= alignableWords) {
      alignableWords -= stretchLength;
      result = openAligned(words.length > stretchLength ? likeliestStretch(words) : words, options);
    }
    if (result.ok) return result;
    if (result.reason !== DAMAGED) refused ??= result.reason;
  }
  return unreadable(refused ?? reason);
}

function openInOrder(words: Words, options: OpenOptions): OpenedBlock | UnreadableBlock {
  return openPlacement(placeInOrder(words), [TRUST_STEPS[0]], options);
}

function openAligned(words: Words, options: OpenOptions): OpenedBlock | UnreadableBlock {
  for (const placement of placements(words)) {
    const result = openPlacement(placement, TRUST_STEPS, options);
    if (result.ok || result.reason !== DAMAGED) return result;
  }
  return unreadable(DAMAGED);
}

function openPlacement(
  placement: Placement,
  trustSteps: readonly number[],
  options: OpenOptions,
): OpenedBlock | UnreadableBlock {
  let erasedBefore = -1;
  for (const trustMin of trustSteps) {
    const erased = new Uint8Array(N);
    let missing = 0;
    for (let t = 0; t < N; t++) {
      if (placement.trust[t] > trustMin) continue;
      erased[t] = 1;
      missing++;
    }
    if (missing === erasedBefore || missing > GUARD_MAX) continue;
    erasedBefore = missing;
    for (const { spectrum, badPlaces } of mend(placement.symbols, erased, GUARD_MAX)) {
      const opened = open(spectrum, options);
      // A silent guard band means that nothing was damaged: no other attempt can open the seal.
      if (opened === undefined && badPlaces === 0) return unreadable(reasonOf(spectrum, options));
      if (opened === undefined) continue;
      return report(opened, missing, badPlaces - missing);
    }
  }
  return unreadable(DAMAGED);
}

/** The plain digits behind a spectrum whose seal holds; undefined where it does not. */
function open(spectrum: Uint16Array, { keys, userId, codebooks }: OpenOptions): Opened | undefined {
  const version = versionOf(spectrum);
  const codebook = codebooks.find((book) => book.version === version);
  const key = keys(spectrum[0] & 255);
  const tag = tagFromDigits(spectrum.subarray(1, 1 + TAG_DIGITS));
  if (codebook === undefined || key === undefined || tag === undefined) return undefined;
  // The directory says how much there is to unseal; most wrong spectra end here.
  const beginning = spectrum.subarray(PREFIX_CARRIERS, PREFIX_CARRIERS + DIRECTORY_DIGITS_MAX);
  const directory = readDirectory(unsealUnchecked(beginning, key, tag));
  if (directory === undefined) return undefined;
  const layout = layOut(directory.carriers, directory.length);
  if (layout.end > CARRIERS_MAX || !isSilent(spectrum.subarray(layout.end))) return undefined;
  const plain = unsealUnchecked(spectrum.subarray(PREFIX_CARRIERS, layout.end), key, tag);
  if (!isGenuine(plain, key, tag, { version, userId })) return undefined;
  return { plain, layout, codebook };
}

function versionOf(spectrum: Uint16Array): number {
  return spectrum[0] >> 8;
}

/** Why an undamaged spectrum does not open. */
function reasonOf(spectrum: Uint16Array, { codebooks }: OpenOptions): string {
  const version = versionOf(spectrum);
  const known = codebooks.map((book) => book.version);
  if (known.includes(version)) return FOREIGN;
  return `the block has format version ${version}; this reader knows ${known.join(", ")}`;
}

function report(
  { plain, layout, codebook }: Opened,
  missing: number,
  wrong: number,
): OpenedBlock | UnreadableBlock {
  const codes: { channel: number; bits: Bits }[] = [];
  for (const { channel, start, count } of layout.channels) {
    const bits = digitsToBits(plain.subarray(start - PREFIX_CARRIERS, start - PREFIX_CARRIERS + count));
    if (bits === undefined) return unreadable(unknownValue(channel));
    codes.push({ channel, bits });
  }
  return {
    ok: true,
    codes,
    missing,
    wrong,
    repaired: missing + wrong,
    guardLeft: N - layout.end - 2 * wrong - missing,
    version: codebook.version,
    layout,
  };
}

function countKnown(words: Words): number {
  let known = 0;
  for (let i = 0; i < words.length; i++) if (words[i] !== UNKNOWN_WORD) known++;
  return known;
}

function unreadable(reason: string): UnreadableBlock {
  return { ok: false, reason };
}
