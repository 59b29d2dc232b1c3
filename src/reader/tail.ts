/**
 * Codes the symbols that come after those of the model. Their frequencies come from the tables that the model gave
 * earlier in the value, at a fraction of its cost. A symbol's share (docs/FORMAT.md has the formulas) is a mixture of
 *
 *   its mean in all tables that the model gave for this value,
 *   its mean in those that the model gave right after the symbol that is now the last,
 *   how often it followed the last symbol so far, and how often the last two.
 *
 * The first two know the language, so that prose takes about half of its plain code; the others know what the value
 * repeats. Integers throughout; only the sums that are asked for are computed, never a whole table.
 */

import { assert } from "../base/assert.ts";
import type { Interval } from "../codec/predictor.ts";
import { FREQUENCY_TOTAL } from "./operations.ts";

/** Evidence counts up to this many observations. */
const EVIDENCE_MAX = 8;
const MODEL_WEIGHT = 2;
const PAIR_WEIGHT = 3;
/** Before the first symbol, and where the model gave no table. */
const NOWHERE = -1;

/** How often each symbol came. */
type Counts = Map<number, number>;

export class Tail {
  #before = NOWHERE;
  #last = NOWHERE;
  /** What followed a symbol, and what followed two. */
  readonly #afterLast = new Map<number, Counts>();
  readonly #afterPair = new Map<number, Counts>();
  /** The model's tables, all of them and by the symbol before. */
  readonly #tables: Uint32Array[] = [];
  readonly #tablesAfter = new Map<number, Uint32Array[]>();
  /** What the model adds to the sums C, by the symbol before. */
  readonly #sums = new Map<number, Uint32Array>();
  #means: Uint32Array | undefined;

  /** Takes the next symbol, and the model's table for it where there is one. */
  push(symbol: number, table?: Uint32Array): void {
    if (table !== undefined) {
      const own = table.slice();
      this.#tables.push(own);
      entry(this.#tablesAfter, this.#last, () => []).push(own);
    }
    for (const counts of this.#counts()) counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
    [this.#before, this.#last] = [this.#last, symbol];
  }

  /** The share that a symbol has at the next place. */
  interval(symbol: number): Interval {
    const startOf = this.#starts();
    const start = startOf(symbol);
    return { start, size: startOf(symbol + 1) - start };
  }

  /** The symbol whose share holds `target`. */
  find(target: number): Interval & { readonly symbol: number } {
    const startOf = this.#starts();
    let [symbol, above] = [0, this.#tables[0].length];
    while (above - symbol > 1) {
      const middle = (symbol + above) >> 1;
      if (startOf(middle) <= target) symbol = middle;
      else above = middle;
    }
    const start = startOf(symbol);
    return { symbol, start, size: startOf(above) - start };
  }

  /** Where each symbol's share of [0, 2^20) begins. */
  #starts(): (symbol: number) => number {
    const sums = this.#sumsAfter(this.#last);
    const repeated = this.#repeated();
    const sumBefore = (symbol: number) => {
      let sum = sums[symbol];
      for (const [follower, share] of repeated) if (follower < symbol) sum += share;
      return sum;
    };
    const symbols = sums.length - 1;
    const all = sumBefore(symbols);
    // A number below 2^46 over one below 2^26: the floor of the double is the floor of the exact fraction.
    return (symbol) => symbol + Math.floor((sumBefore(symbol) * (FREQUENCY_TOTAL - symbols)) / all);
  }

  /** What the value itself adds to the shares of symbols that followed the last one, or the last two, before. */
  #repeated(): Map<number, number> {
    const shares = new Map<number, number>();
    this.#counts().forEach((counts, i) => {
      let all = 0;
      for (const count of counts.values()) all += count;
      const weight = (i === 0 ? 1 : PAIR_WEIGHT) * Math.min(all, EVIDENCE_MAX);
      const share = Math.floor((weight * FREQUENCY_TOTAL) / all);
      for (const [symbol, count] of counts) shares.set(symbol, (shares.get(symbol) ?? 0) + count * share);
    });
    return shares;
  }

  /** What followed the last symbol so far, and what followed the last two. */
  #counts(): readonly Counts[] {
    const pair = this.#before * 2 ** 16 + this.#last;
    return [
      entry(this.#afterLast, this.#last, () => new Map()),
      entry(this.#afterPair, pair, () => new Map()),
    ];
  }

  #sumsAfter(last: number): Uint32Array {
    assert(this.#tables.length > 0, "the model goes first");
    this.#means ??= meansOf(this.#tables);
    const all = this.#means;
    const tables = this.#tablesAfter.get(last);
    return entry(this.#sums, tables === undefined ? NOWHERE : last, () => {
      const weight = MODEL_WEIGHT * Math.min(tables?.length ?? 0, EVIDENCE_MAX);
      const means = tables === undefined ? all : meansOf(tables);
      const sums = new Uint32Array(all.length + 1);
      for (let i = 0; i < all.length; i++) sums[i + 1] = sums[i] + all[i] + weight * means[i];
      return sums;
    });
  }
}

function entry<V>(map: Map<number, V>, key: number, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

function meansOf(tables: readonly Uint32Array[]): Uint32Array {
  const sums = new Uint32Array(tables[0].length);
  for (const table of tables) for (let i = 0; i < sums.length; i++) sums[i] += table[i];
  return sums.map((sum) => Math.floor(sum / tables.length));
}
