/**
 * Counts the tokens of blocks. A block `[MEM] w1 … w512 [/MEM]` passes where its tokens are, one by one, those of
 * `[MEM]`, then the one token of ` w1`, …, the one token of ` w512`, then those of ` [/MEM]`. That is stricter
 * than a count: nothing merges across a word's edge, and the body is exactly 512 tokens.
 */

import { type Random, seededRandom } from "../../src/base/random.ts";
import { CLASS_SIZE, wordOf } from "../../src/codec/alphabet.ts";
import type { Vocabulary } from "./vocabularies.ts";

const BLOCK_WORDS = 512;
const OPENING = "[MEM]";
const CLOSING = " [/MEM]";

export interface Measurement {
  blocks: number;
  /** Tokens that the two markers add to the 512 of the body. */
  markerTokens: number;
  /** What was wrong, block by block. */
  faults: string[];
}

export function measureBlocks(vocabulary: Vocabulary, blocks: number, seed: number): Measurement {
  const random = seededRandom(seed);
  const opening = vocabulary.encode(OPENING);
  const closing = vocabulary.encode(CLOSING);
  const markerTokens = opening.length + closing.length;
  const tokenOf = new Map<string, number[]>();
  const faults: string[] = [];
  for (let block = 0; block < blocks; block++) {
    const words = randomWords(random);
    const tokens = vocabulary.encode(`${OPENING} ${words.join(" ")}${CLOSING}`);
    const expected = [...opening];
    for (const word of words) {
      if (!tokenOf.has(word)) tokenOf.set(word, vocabulary.encode(` ${word}`));
      expected.push(...tokenOf.get(word)!);
    }
    expected.push(...closing);
    const fault = tokens.findIndex((token, position) => token !== expected[position]);
    if (tokens.length !== BLOCK_WORDS + markerTokens || fault !== -1) {
      const word = words[fault - opening.length];
      faults.push(`block ${block}: ${tokens.length - markerTokens} body tokens, fault near ${word}`);
    }
  }
  return { blocks, markerTokens, faults };
}

/** The words that are not exactly one token, with that token's text exactly ` word`. */
export function wordsNotOneToken(vocabulary: Vocabulary): string[] {
  const faults: string[] = [];
  for (const wordClass of [0, 1] as const) {
    for (let index = 0; index < CLASS_SIZE; index++) {
      const word = wordOf(wordClass, index);
      const tokens = vocabulary.encode(` ${word}`);
      if (tokens.length !== 1 || vocabulary.decode(tokens[0]) !== ` ${word}`) faults.push(word);
    }
  }
  return faults;
}

/** Any fixed sequence of classes will do here; this one is Thue–Morse, the parity of the position's bits. */
function randomWords(random: Random): string[] {
  return Array.from({ length: BLOCK_WORDS }, (_, position) => {
    let parity = 0;
    for (let bits = position; bits > 0; bits &= bits - 1) parity ^= 1;
    return wordOf(parity as 0 | 1, random.below(CLASS_SIZE));
  });
}
