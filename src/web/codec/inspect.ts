/**
 * Reads a text as the server does, and shows what the reader saw: where each word was placed, the spectrum of the
 * placed words (noise in the guard band is damage), and which words were corrected.
 *
 * readBlock alone does the reading. The rest is for display: the block is built again from the facts, which gives
 * the original words, and these are compared with the placement.
 */

import { assert } from "../../base/assert.ts";
import { ALIGNMENT_WORDS_MAX, type Placement, placeInOrder, placements } from "../../codec/alignment.ts";
import { buildBlock } from "../../codec/block.ts";
import { type Codebook, findCodebook } from "../../codec/codebook.ts";
import { N, P } from "../../codec/field.ts";
import { findPassages, TEXT_LENGTH_MAX, UNKNOWN_WORD, type Words } from "../../codec/framing.ts";
import { locateBlock } from "../../codec/locate.ts";
import { type ReadBlock, readBlock } from "../../codec/read-block.ts";
import type { BlockKey } from "../../codec/seal.ts";
import { toSpectrum } from "../../codec/transform.ts";
import { type Built, type ChannelValue, type Inspection, WORD_STATE } from "./messages.ts";

/** A word with less trust than this is drawn as lost. The reader also treats it so. */
const TRUST_MIN = 0.5;
/** A text with fewer words is no block, and nothing is drawn. */
const WORDS_MIN = 12;
/** 512 words are taken to be in order if this share is of the word class of its place. By chance it is a half. */
const IN_ORDER_MIN = 0.7;

export interface InspectOptions {
  readonly userId: string;
  readonly keys: readonly BlockKey[];
  readonly codebooks: readonly Codebook[];
}

export function buildBlockView(
  facts: readonly ChannelValue[],
  { userId, keys, codebooks }: InspectOptions,
): Built {
  const key = keys[keys.length - 1];
  const ordered = facts.map((fact, order) => ({ ...fact, order }));
  const { text, layout, overflow } = buildBlock(ordered, { key, userId, codebook: codebooks[0] });
  return { text, layout, overflow, spectrum: toSpectrum(symbolsOf(text)) };
}

export function inspect(text: string, options: InspectOptions, now: () => number): Inspection {
  const { userId, keys, codebooks } = options;
  const started = now();
  let key: BlockKey | undefined;
  const reading = readBlock(text, {
    // The last key that readBlock asks for is the one that opens the block.
    keys: (id) => {
      key = keys.find((candidate) => candidate.id === id);
      return key;
    },
    userId,
    codebooks,
  });
  const tookMs = now() - started;
  const passages = passagesOf(text);
  const first = passages[0] ?? new Int32Array(0);
  if (!reading.ok) {
    const outcome = { ok: false, reason: reading.reason } as const;
    const seen = { outcome, wordCount: first.length, tookMs };
    return passages.length === 0 ? seen : { ...seen, received: spectrumOf(placementsOf(first)[0], 0) };
  }
  const { facts, missing, wrong, repaired, guardLeft, version, layout } = reading;
  const { text: original, symbols } = rebuild(reading, key!, options);
  const { placement, words } = matchOf(symbols, passages);
  return {
    outcome: {
      ok: true,
      ...{ facts, missing, wrong, repaired, guardLeft, version, layout },
      text: original,
      spectrum: toSpectrum(symbols),
      wordStates: wordStatesOf(placement, symbols),
    },
    wordCount: words.length,
    tookMs,
    received: spectrumOf(placement, TRUST_MIN),
  };
}

function rebuild(
  { facts, version }: ReadBlock,
  key: BlockKey,
  { userId, codebooks }: InspectOptions,
): { text: string; symbols: Uint16Array } {
  const codebook = findCodebook(codebooks, version)!;
  const ordered = facts.map((fact, order) => ({ ...fact, order }));
  const { text } = buildBlock(ordered, { key, userId, codebook });
  return { text, symbols: symbolsOf(text) };
}

interface BlockMatch {
  readonly placement: Placement;
  readonly words: Words;
  readonly score: number;
}

/** The words that a block was read from: of all passages and placements, the one that agrees most. */
function matchOf(symbols: Uint16Array, passages: readonly Words[]): BlockMatch {
  let best: BlockMatch | undefined;
  for (const words of passages) {
    for (const placement of placementsOf(words)) {
      const score = agreement(placement, symbols);
      if (best === undefined || score > best.score) best = { placement, words, score };
    }
    // Foreign words agree by chance at one place in 7,681.
    if (best !== undefined && best.score >= WORDS_MIN / 2) break;
  }
  assert(best !== undefined, "what could be read has a passage");
  return best;
}

/** The passages that the reader looks at, in its order. */
function passagesOf(text: string): Words[] {
  if (text.length > TEXT_LENGTH_MAX) return [];
  return Array.from(findPassages(text), ({ words }) => words).filter(
    (words) => words.filter((word) => word !== UNKNOWN_WORD).length >= WORDS_MIN,
  );
}

function placementsOf(words: Words): Placement[] {
  if (words.length === N) {
    const inOrder = placeInOrder(words);
    // If most words are at a place of their word class, words were only replaced, not moved.
    if (inOrder.trust.filter((trust) => trust > 0).length > IN_ORDER_MIN * N) return [inOrder];
  }
  return [...placements(words.length > ALIGNMENT_WORDS_MAX ? locateBlock(words) : words)];
}

function symbolsOf(block: string): Uint16Array {
  const [{ words }] = findPassages(block);
  return Uint16Array.from(words, (word) => word % P);
}

/** With `trustMin` 0 (for a refused text) the best guess at every place counts: otherwise little would be left to draw. */
function spectrumOf({ symbols, trust }: Placement, trustMin: number): Uint16Array {
  return toSpectrum(symbols.map((symbol, t) => (trust[t] > trustMin ? symbol : 0)));
}

function agreement({ symbols, trust }: Placement, original: Uint16Array): number {
  let agreed = 0;
  for (let t = 0; t < N; t++) if (trust[t] > TRUST_MIN && symbols[t] === original[t]) agreed++;
  return agreed;
}

function wordStatesOf({ symbols, trust }: Placement, original: Uint16Array): Uint8Array {
  return Uint8Array.from(original, (symbol, t) => {
    if (trust[t] <= TRUST_MIN) return WORD_STATE.missing;
    return symbols[t] === symbol ? WORD_STATE.intact : WORD_STATE.wrong;
  });
}
