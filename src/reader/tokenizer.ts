/**
 * Bytes ↔ symbols: byte-level BPE with the merges of a weights file.
 *
 * 1. The bytes are cut into words by a rule on three classes only: letters (A–Z, a–z and every byte from 0x80),
 *    digits, and the rest. A sign or space before letters belongs to the word, a space before digits to the number.
 * 2. Within a word the pair with the lowest rank is merged, everywhere from the left, until no pair has a rank.
 * 3. Symbols 0–255 are the bytes, 256 + r is merge r, and the one after the last merge ends a value.
 *
 * No Unicode tables and no regular expressions: every engine splits alike, and any bytes can be split.
 * training/tokenizer.py has the same rule.
 */

import { assertInteger } from "../base/assert.ts";

const SPACE = 0x20;
const NO_RANK = 0x7fffffff;

const LETTER = 0;
const DIGIT = 1;
const OTHER = 2;
const CLASS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80 || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)) return LETTER;
  return byte >= 0x30 && byte <= 0x39 ? DIGIT : OTHER;
});

export class Tokenizer {
  /** The symbol that ends a value. */
  readonly end: number;
  readonly #pieces: Uint8Array[];
  /** left * 2^16 + right → rank of the merge. */
  readonly #ranks = new Map<number, number>();

  /** `merges`: pairs of symbols, in the order in which they were learnt. */
  constructor(merges: Uint16Array) {
    const count = merges.length / 2;
    this.#pieces = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
    for (let rank = 0; rank < count; rank++) {
      const left = merges[2 * rank];
      const right = merges[2 * rank + 1];
      this.#ranks.set(left * 65536 + right, rank);
      this.#pieces.push(Uint8Array.of(...this.#pieces[left], ...this.#pieces[right]));
    }
    this.end = 256 + count;
  }

  bytesOf(symbol: number): Uint8Array {
    assertInteger(symbol, 0, this.end - 1, "symbol");
    return this.#pieces[symbol];
  }

  split(value: Uint8Array): number[] {
    const symbols: number[] = [];
    for (let start = 0; start < value.length; ) {
      const stop = wordEnd(value, start);
      for (const symbol of this.#mergeWord(value.subarray(start, stop))) symbols.push(symbol);
      start = stop;
    }
    return symbols;
  }

  #mergeWord(word: Uint8Array): number[] {
    let symbols: number[] = Array.from(word);
    while (symbols.length > 1) {
      let best = NO_RANK;
      for (let i = 0; i + 1 < symbols.length; i++) {
        const rank = this.#ranks.get(symbols[i] * 65536 + symbols[i + 1]);
        if (rank !== undefined && rank < best) best = rank;
      }
      if (best === NO_RANK) break;
      symbols = this.#mergeRank(symbols, best);
    }
    return symbols;
  }

  #mergeRank(symbols: readonly number[], rank: number): number[] {
    const merged: number[] = [];
    for (let i = 0; i < symbols.length; i++) {
      const isPair = i + 1 < symbols.length && this.#ranks.get(symbols[i] * 65536 + symbols[i + 1]) === rank;
      merged.push(isPair ? 256 + rank : symbols[i]);
      if (isPair) i++;
    }
    return merged;
  }
}

/** Where the word that begins at `start` ends. */
export function wordEnd(value: Uint8Array, start: number): number {
  const kind = CLASS[value[start]];
  if (kind !== OTHER) return runEnd(value, start, kind);
  const next = start + 1;
  if (next === value.length) return next;
  const nextKind = CLASS[value[next]];
  if (nextKind === LETTER) return runEnd(value, next, LETTER);
  if (nextKind === DIGIT) return value[start] === SPACE ? runEnd(value, next, DIGIT) : next;
  const stop = runEnd(value, start, OTHER);
  // The last sign of a run goes with the word or number that follows it.
  return stop === value.length ? stop : stop - 1;
}

function runEnd(value: Uint8Array, start: number, kind: number): number {
  let stop = start;
  while (stop < value.length && CLASS[value[stop]] === kind) stop++;
  return stop;
}
