/** The tail: shares that fill the whole, found again by any target, and the formula of docs/FORMAT.md worked out in full. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../src/base/random.ts";
import { Tail } from "../../../src/reader/tail.ts";

const SYMBOLS = 64;
const TOTAL = 2 ** 20;

/** A table of the model: at least 1 each, together 2^20. */
function anyTable(random: ReturnType<typeof seededRandom>): Uint32Array {
  const table = Uint32Array.from({ length: SYMBOLS }, () => 1 + random.below(10_000));
  table[random.below(SYMBOLS)] += TOTAL - table.reduce((sum, frequency) => sum + frequency, 0);
  return table;
}

/** The oracle: the shares of all symbols, by the formula. */
function sharesOf(symbols: readonly number[], tables: readonly Uint32Array[]): number[] {
  const [before, last] = symbols.slice(-2);
  const mean = (some: readonly Uint32Array[], s: number) =>
    some.length === 0 ? 0 : Math.floor(some.reduce((sum, table) => sum + table[s], 0) / some.length);
  const afterLast = tables.filter((_, i) => i > 0 && symbols[i - 1] === last);
  const followers = symbols.filter((_, i) => i > 0 && symbols[i - 1] === last);
  const pairs = symbols.filter((_, i) => i > 1 && symbols[i - 1] === last && symbols[i - 2] === before);
  const part = (found: readonly number[], weight: number, s: number) =>
    found.length === 0
      ? 0
      : found.filter((symbol) => symbol === s).length *
        Math.floor((weight * Math.min(found.length, 8) * TOTAL) / found.length);
  return Array.from(
    { length: SYMBOLS },
    (_, s) =>
      mean(tables, s) +
      2 * Math.min(afterLast.length, 8) * mean(afterLast, s) +
      part(followers, 1, s) +
      part(pairs, 3, s),
  );
}

test("at every step the shares are those of the formula, fill the total, and are found by any target", () => {
  for (let seed = 0; seed < 12; seed++) {
    const random = seededRandom(seed);
    const used = 1 + random.below(SYMBOLS);
    const tail = new Tail();
    const symbols: number[] = [];
    const tables: Uint32Array[] = [];
    for (let i = 0; i < 60; i++) {
      const symbol = random.below(used);
      const table = i < 12 ? anyTable(random) : undefined;
      if (table !== undefined) tables.push(table);
      else {
        const shares = sharesOf(symbols, tables);
        const all = shares.reduce((sum, share) => sum + share, 0);
        let sum = 0;
        for (let s = 0; s < SYMBOLS; s++) {
          const start = s + Math.floor((sum * (TOTAL - SYMBOLS)) / all);
          sum += shares[s];
          const end = s + 1 + Math.floor((sum * (TOTAL - SYMBOLS)) / all);
          const expected = { start, size: end - start };
          assert.deepEqual(tail.interval(s), expected);
          for (const target of [start, end - 1])
            assert.deepEqual(tail.find(target), { symbol: s, ...expected });
        }
        assert.equal(SYMBOLS + Math.floor((sum * (TOTAL - SYMBOLS)) / all), TOTAL);
      }
      tail.push(symbol, table);
      symbols.push(symbol);
    }
  }
});

test("a tail without the model's tables is the programmer's error", () => {
  const tail = new Tail();
  tail.push(1);
  assert.throws(() => tail.interval(1), /the model goes first/);
});
