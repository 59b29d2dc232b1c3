/**
 * Values ↔ code bits. A codebook is the list of predictors that a format version reads values with, the best
 * first and the plain one last. The first symbol of each code names the predictor, at a cost of 0.02 bits when
 * it is the first. The writer takes the shortest code, so that a value that the model predicts badly costs hardly
 * more than its bytes.
 */

import { assert, assertInteger } from "../base/assert.ts";
import { VALUE_BYTES_MAX } from "../base/limits.ts";
import { plainPredictor } from "./plain-predictor.ts";
import type { Interval, Predictor } from "./predictor.ts";
import { type Bits, RangeDecoder, RangeEncoder } from "./range-coder.ts";

export interface Codebook {
  /** The format version of a block with standard channels only. */
  readonly version: number;
  readonly predictors: readonly Predictor[];
}

const CHOICE_TOTAL = 64;

/** Format version 1: bytes, without a reader model. */
export const PLAIN_CODEBOOK: Codebook = { version: 1, predictors: [plainPredictor] };

/** The shortest code of a value; with `bitsMax`, undefined as soon as it is certain that it has more bits. */
export function encodeValue(codebook: Codebook, channel: number, value: Uint8Array): Bits;
export function encodeValue(
  codebook: Codebook,
  channel: number,
  value: Uint8Array,
  bitsMax: number,
): Bits | undefined;
export function encodeValue(
  codebook: Codebook,
  channel: number,
  value: Uint8Array,
  bitsMax = Number.POSITIVE_INFINITY,
): Bits | undefined {
  assert(value.length >= 1 && value.length <= VALUE_BYTES_MAX, `a value has 1 to ${VALUE_BYTES_MAX} bytes`);
  assert(codebook.predictors.length > 0, "a codebook has a predictor");
  let best: Bits | undefined;
  // From the last predictor to the first: the plain code is cheap, and the model stops when its code gets longer.
  // Of codes of equal length, that of the predictor that stands first wins.
  for (const predictor of codebook.predictors.toReversed())
    best = encodeWith(codebook, predictor, channel, value, best?.length ?? bitsMax) ?? best;
  return best;
}

/** The code by one predictor, if it has at most `bitsMax` bits. */
function encodeWith(
  codebook: Codebook,
  predictor: Predictor,
  channel: number,
  value: Uint8Array,
  bitsMax: number,
): Bits | undefined {
  const encoder = new RangeEncoder();
  const index = codebook.predictors.indexOf(predictor);
  if (codebook.predictors.length > 1) encoder.write(choiceInterval(codebook, index), CHOICE_TOTAL);
  const symbols = [...predictor.split(value), predictor.end];
  for (const interval of predictor.intervals(channel, symbols)) {
    encoder.write(interval, predictor.total);
    if (encoder.lengthMin > bitsMax) return undefined;
  }
  const bits = encoder.finish();
  return bits.length <= bitsMax ? bits : undefined;
}

/** The value of a code, or undefined where the bits are no code of this codebook. The work is bounded for any bits. */
export function decodeValue(codebook: Codebook, channel: number, bits: Bits): Uint8Array | undefined {
  const decoder = new RangeDecoder(bits);
  const predictor = readChoice(codebook, decoder);
  const value = new Uint8Array(VALUE_BYTES_MAX);
  let length = 0;
  const cursor = predictor.cursor(channel);
  // The number of bits sets no bound: a model that predicts the whole value may code it in zeros, which are not written.
  for (let symbols = 0; symbols <= VALUE_BYTES_MAX; symbols++) {
    const next = cursor.next(decoder.target(predictor.total));
    if (next.symbol === predictor.end) return length > 0 ? value.slice(0, length) : undefined;
    const piece = predictor.bytesOf(next.symbol);
    if (length + piece.length > VALUE_BYTES_MAX) return undefined;
    value.set(piece, length);
    length += piece.length;
    decoder.skip(next, predictor.total);
  }
  return undefined;
}

function readChoice(codebook: Codebook, decoder: RangeDecoder): Predictor {
  let index = 0;
  if (codebook.predictors.length > 1) {
    index = Math.max(0, decoder.target(CHOICE_TOTAL) - CHOICE_TOTAL + codebook.predictors.length);
    decoder.skip(choiceInterval(codebook, index), CHOICE_TOTAL);
  }
  const predictor = codebook.predictors[index];
  assert(predictor !== undefined, "a codebook has the predictor that a code names");
  return predictor;
}

/** Each predictor but the first has one 64th; the first has the rest. */
function choiceInterval(codebook: Codebook, index: number): Interval {
  const first = CHOICE_TOTAL - codebook.predictors.length + 1;
  return index === 0 ? { start: 0, size: first } : { start: first + index - 1, size: 1 };
}

/**
 * A codebook has two format versions, as they stand on carrier 0: its own number for blocks with standard channels only, and
 * 16 more where the directory goes on after channel 39. Values are coded the same in both.
 */
const OWN_CHANNELS = 16;
/** So that version · 256 + key id is a symbol, below 7681, in both forms. */
export const CODEBOOK_VERSION_MAX = 13;

export function formatVersionOf({ version }: Codebook, hasOwnChannels: boolean): number {
  assertInteger(version, 0, CODEBOOK_VERSION_MAX, "codebook version");
  return hasOwnChannels ? version + OWN_CHANNELS : version;
}

/** Whether the directory of a block of this version goes on after channel 39. */
export function hasOwnDirectory(formatVersion: number): boolean {
  return formatVersion >= OWN_CHANNELS;
}

/** The version of the codebook that reads blocks of this format version. */
export function codebookVersionOf(formatVersion: number): number {
  return formatVersion % OWN_CHANNELS;
}

/** The codebook that reads blocks of this format version. */
export function findCodebook<C extends Codebook>(
  codebooks: readonly C[],
  formatVersion: number,
): C | undefined {
  return codebooks.find(({ version }) => version === codebookVersionOf(formatVersion));
}

/** The format versions that these codebooks read. */
export function knownVersions(codebooks: readonly Codebook[]): number[] {
  return [false, true].flatMap((hasOwn) => codebooks.map((book) => formatVersionOf(book, hasOwn)));
}
