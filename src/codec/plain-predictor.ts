/**
 * The plain predictor: bytes with adaptive frequencies, no model, no memory of other values. It codes the values that
 * the reader model predicts badly, and stands in for the model in tests.
 *
 * Half of the total is fixed, a rough idea of text in which every byte has a share. The other half belongs to the last
 * 64 bytes of the value itself, so that digits, base64 and other scripts get cheaper as the value goes on. There are
 * two such tables, one for the byte that begins a character and one for the bytes that go on with it (UTF-8). Integer
 * arithmetic alone, and the total never changes.
 */

import type { Interval, Predictor, PredictorCursor } from "./predictor.ts";

const END = 256;
const SYMBOLS = 257;
const TOTAL = 2 ** 16;
/** Bytes that the adaptive half remembers, and the share of each. */
const MEMORY = 64;
const MEMORY_SHARE = TOTAL / 2 / MEMORY;
/** Frequencies are also summed in groups of 16 symbols, so that a search takes 33 steps and not 257. */
const GROUP_SHIFT = 4;
const GROUPS = (SYMBOLS >> GROUP_SHIFT) + 1;

/** The table before the first byte, and the bytes that it remembers then. */
interface Prior {
  readonly frequencies: Uint16Array;
  readonly memory: Uint8Array;
}

/** Weights → a prior: at least 1 for every symbol, the rest by weight; the end gets what rounding leaves over. */
function priorOf(weights: Uint16Array, memory: Uint8Array): Prior {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const share = TOTAL / 2 - SYMBOLS;
  const frequencies = weights.map((weight) => 1 + Math.floor((weight * share) / sum));
  frequencies[END]! += TOTAL / 2 - frequencies.reduce((total, frequency) => total + frequency, 0);
  for (const byte of memory) frequencies[byte]! += MEMORY_SHARE;
  return { frequencies, memory };
}

const BEGIN: Prior = (() => {
  const weights = new Uint16Array(SYMBOLS);
  const give = (characters: string, weight: number) => {
    for (const character of characters) weights[character.charCodeAt(0)] = weight;
  };
  for (let byte = 0x20; byte < 0x7f; byte++) weights[byte] = 3;
  for (let byte = 0xc2; byte < 0xf5; byte++) weights[byte] = 2;
  give("0123456789-./,:_", 10);
  give("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 7);
  give("bcdfghjklmpquvwxyz", 18);
  give("etaoinsr", 40);
  give(" ", 60);
  weights[END] = 24;
  // About how often letters come in English.
  const text = "          eeeeeeettttttaaaaaooooiiiinnnnsssrrrhhhlldddccuummpgfwybvk";
  return priorOf(weights, Uint8Array.from(text, (character) => character.charCodeAt(0)).slice(0, MEMORY));
})();

const CONTINUE: Prior = (() => {
  const weights = new Uint16Array(SYMBOLS);
  for (let byte = 0x80; byte < 0xc0; byte++) weights[byte] = 1;
  return priorOf(
    weights,
    Uint8Array.from({ length: MEMORY }, (_, i) => 0x80 + i),
  );
})();

class Table {
  readonly #frequencies: Uint16Array;
  readonly #groups = new Uint32Array(GROUPS);
  readonly #memory: Uint8Array;
  #oldest = 0;

  constructor({ frequencies, memory }: Prior) {
    this.#frequencies = frequencies.slice();
    this.#memory = memory.slice();
    for (let symbol = 0; symbol < SYMBOLS; symbol++)
      this.#groups[symbol >> GROUP_SHIFT]! += frequencies[symbol]!;
  }

  interval(symbol: number): Interval {
    let start = 0;
    for (let group = 0; group < symbol >> GROUP_SHIFT; group++) start += this.#groups[group]!;
    for (let s = symbol & ~15; s < symbol; s++) start += this.#frequencies[s]!;
    return { start, size: this.#frequencies[symbol]! };
  }

  find(target: number): Interval & { symbol: number } {
    let start = 0;
    let group = 0;
    for (; target >= start + this.#groups[group]!; group++) start += this.#groups[group]!;
    let symbol = group << GROUP_SHIFT;
    for (; target >= start + this.#frequencies[symbol]!; symbol++) start += this.#frequencies[symbol]!;
    return { symbol, start, size: this.#frequencies[symbol]! };
  }

  /** Remembers a byte in place of the oldest. */
  learn(byte: number): void {
    const forgotten = this.#memory[this.#oldest]!;
    this.#memory[this.#oldest] = byte;
    this.#oldest = (this.#oldest + 1) % MEMORY;
    this.#frequencies[forgotten]! -= MEMORY_SHARE;
    this.#groups[forgotten >> GROUP_SHIFT]! -= MEMORY_SHARE;
    this.#frequencies[byte]! += MEMORY_SHARE;
    this.#groups[byte >> GROUP_SHIFT]! += MEMORY_SHARE;
  }
}

/** The two tables of one value, and which of them comes next. */
class PlainCursor implements PredictorCursor {
  readonly #begin = new Table(BEGIN);
  readonly #continue = new Table(CONTINUE);
  /** Continuation bytes that the current character still lacks. */
  #lacking = 0;

  next(target: number): Interval & { symbol: number } {
    const found = this.#table.find(target);
    this.#pass(found.symbol);
    return found;
  }

  /** The interval of a known symbol; moves on past it. */
  take(symbol: number): Interval {
    const interval = this.#table.interval(symbol);
    this.#pass(symbol);
    return interval;
  }

  get #table(): Table {
    return this.#lacking > 0 ? this.#continue : this.#begin;
  }

  #pass(symbol: number): void {
    if (symbol === END) return;
    this.#table.learn(symbol);
    const isContinuation = symbol >= 0x80 && symbol < 0xc0;
    if (this.#lacking > 0 && isContinuation) this.#lacking--;
    else this.#lacking = symbol >= 0xf0 ? 3 : symbol >= 0xe0 ? 2 : symbol >= 0xc0 ? 1 : 0;
  }
}

const BYTES: readonly Uint8Array[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));

export const plainPredictor: Predictor = {
  total: TOTAL,
  end: END,
  split: (value) => Array.from(value),
  bytesOf: (symbol) => BYTES[symbol]!,
  *intervals(_channel, symbols) {
    const cursor = new PlainCursor();
    for (const symbol of symbols) yield cursor.take(symbol);
  },
  cursor: () => new PlainCursor(),
};
