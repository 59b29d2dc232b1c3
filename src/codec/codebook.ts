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
/** Bytes that are coded together: a value, with the name of its free label and what is between them. */
export const CODED_BYTES_MAX = VALUE_BYTES_MAX + 50;

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
  assert(value.length >= 1 && value.length <= CODED_BYTES_MAX, `1 to ${CODED_BYTES_MAX} bytes are coded`);
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
  const value = new Uint8Array(CODED_BYTES_MAX);
  let length = 0;
  const cursor = predictor.cursor(channel);
  // The number of bits sets no bound: a model that predicts the whole value may code it in zeros, which are not written.
  for (let symbols = 0; symbols <= CODED_BYTES_MAX; symbols++) {
    const next = cursor.next(decoder.target(predictor.total));
    if (next.symbol === predictor.end) return length > 0 ? value.slice(0, length) : undefined;
    const piece = predictor.bytesOf(next.symbol);
    if (length + piece.length > CODED_BYTES_MAX) return undefined;
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
 * What a block has: facts on standard channels only, on own ones too, or under free labels too. It stands on carrier 0: a
 * codebook's version is the format version of the first, 16 more is that of the second, 8 more that of the third. Values
 * are coded the same in all of them.
 */
export type BlockForm = "standard" | "own" | "free";
export const BLOCK_FORMS: readonly BlockForm[] = ["standard", "free", "own"];
const FORM_STEP = 8;
/** So that no two codebooks share a format version, and version · 256 + key id is a symbol, below 7681. */
export const CODEBOOK_VERSION_MAX = FORM_STEP - 1;

export function formatVersionOf({ version }: Codebook, form: BlockForm): number {
  assertInteger(version, 0, CODEBOOK_VERSION_MAX, "codebook version");
  return version + FORM_STEP * BLOCK_FORMS.indexOf(form);
}

/** Undefined for versions that are to come. */
export function formOfVersion(formatVersion: number): BlockForm | undefined {
  return BLOCK_FORMS[Math.floor(formatVersion / FORM_STEP)];
}

/** The version of the codebook that reads blocks of this format version. */
export function codebookVersionOf(formatVersion: number): number {
  return formatVersion % FORM_STEP;
}

/** The codebook that reads blocks of this format version. */
export function findCodebook<C extends Codebook>(
  codebooks: readonly C[],
  formatVersion: number,
): C | undefined {
  if (formOfVersion(formatVersion) === undefined) return undefined;
  return codebooks.find(({ version }) => version === codebookVersionOf(formatVersion));
}

/** The format versions that these codebooks read. */
export function knownVersions(codebooks: readonly Codebook[]): number[] {
  return BLOCK_FORMS.flatMap((form) => codebooks.map((book) => formatVersionOf(book, form)));
}
