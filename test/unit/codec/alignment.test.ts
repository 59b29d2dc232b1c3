/** Words are put back at their places, whatever was lost, added, replaced or wrapped around them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Random, seededRandom } from "../../../src/base/random.ts";
import {
  ALIGNMENT_WORDS_MAX,
  type Placement,
  placeInOrder,
  placements,
} from "../../../src/codec/alignment.ts";
import { CLASS_SIZE, POSITION_CLASSES } from "../../../src/codec/alphabet.ts";
import { N } from "../../../src/codec/field.ts";
import { UNKNOWN_WORD } from "../../../src/codec/framing.ts";
import { locateBlock } from "../../../src/codec/locate.ts";
import { anySeed, randomSymbols } from "../../fixtures/blocks.ts";

function blockWords(random: Random): number[] {
  return Array.from(randomSymbols(random, N), (symbol, t) => POSITION_CLASSES[t] * CLASS_SIZE + symbol);
}

function foreignWords(random: Random, count: number): number[] {
  return Array.from({ length: count }, () =>
    random.below(4) === 0 ? UNKNOWN_WORD : random.below(2 * CLASS_SIZE),
  );
}

/** Places that are trusted and hold what was written there, and those that are trusted and wrong. */
function score({ symbols, trust }: Placement, written: readonly number[]): { right: number; wrong: number } {
  let right = 0;
  let wrong = 0;
  for (let t = 0; t < N; t++) {
    assert.ok(trust[t] >= 0 && trust[t] <= 1 + 1e-6, `trust ${trust[t]}`);
    if (trust[t] <= 0.5) continue;
    if (symbols[t] === written[t] % CLASS_SIZE) right++;
    else wrong++;
  }
  return { right, wrong };
}

function first(words: readonly number[]): Placement {
  for (const placement of placements(Int32Array.from(words))) return placement;
  throw new Error("there is always a placement");
}

test("a whole block is placed whole, alone and inside other text", () => {
  const random = seededRandom(1);
  const block = blockWords(random);
  for (const [before, after] of [
    [0, 0],
    [100, 0],
    [0, 100],
    [300, 300],
  ]) {
    const text = [...foreignWords(random, before), ...block, ...foreignWords(random, after)];
    const { right, wrong } = score(first(text), block);
    assert.ok(right >= N - 4 && wrong <= 4, `${right} right and ${wrong} wrong of ${N}`);
  }
});

test("in order, words of the right class are placed and others are lost", () => {
  const random = seededRandom(2);
  const block = blockWords(random);
  const words = Int32Array.from(block);
  words[5] = UNKNOWN_WORD;
  words[6] = (block[6] + CLASS_SIZE) % (2 * CLASS_SIZE);
  const { symbols, trust } = placeInOrder(words);
  assert.equal(trust[5], 0);
  assert.equal(trust[6], 0);
  assert.deepEqual(score({ symbols, trust }, block), { right: N - 2, wrong: 0 });
});

test("a cut from either end or from the middle loses no other word's place, but for a few at the edges", () => {
  fc.assert(
    fc.property(anySeed, fc.constantFrom("start", "middle", "end"), (seed, where) => {
      const random = seededRandom(seed);
      const block = blockWords(random);
      const lost = 50 + random.below(350);
      const from = where === "start" ? 0 : where === "end" ? N - lost : 30 + random.below(N - lost - 60);
      const { right, wrong } = score(first([...block.slice(0, from), ...block.slice(from + lost)]), block);
      assert.ok(right >= N - lost - 12, `${right} of ${N - lost} placed`);
      assert.ok(wrong <= 6, `${wrong} misplaced`);
    }),
    { numRuns: 12, seed: 1 },
  );
});

test("words lost, inserted and replaced here and there leave most others at their places", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const random = seededRandom(seed);
      const block = blockWords(random);
      const worn = block.flatMap((word) => {
        const fate = random.below(40);
        if (fate === 0) return [];
        if (fate === 1) return [word, random.below(2 * CLASS_SIZE)];
        return [fate === 2 ? UNKNOWN_WORD : word];
      });
      const { right, wrong } = score(first(worn), block);
      assert.ok(right >= 0.85 * N, `${right} placed`);
      assert.ok(wrong <= 0.07 * N, `${wrong} misplaced`);
    }),
    { numRuns: 12, seed: 1 },
  );
});

test("foreign words alone are trusted nowhere for long", () => {
  const random = seededRandom(4);
  const { trust } = first(foreignWords(random, 600));
  assert.ok(trust.filter((value) => value > 0.95).length < 40);
});

test("a single word, unknown words and the longest stretch are aligned without harm", () => {
  const random = seededRandom(5);
  for (const words of [[], [1], [UNKNOWN_WORD], new Array(600).fill(UNKNOWN_WORD), new Array(1280).fill(3)]) {
    for (const { trust } of placements(Int32Array.from(words)))
      for (const value of trust) assert.ok(value <= 1.001);
  }
  const long = foreignWords(random, ALIGNMENT_WORDS_MAX);
  for (const { trust } of placements(Int32Array.from(long)))
    for (const value of trust) assert.ok(value <= 1.001);
});

test("a block is found in a long text, wherever it stands", () => {
  const random = seededRandom(6);
  const block = blockWords(random);
  for (const [before, after] of [
    [0, 3000],
    [3000, 0],
    [1000, 1000],
    [50_000, 50_000],
    [400, 900],
  ]) {
    const text = [...foreignWords(random, before), ...block, ...foreignWords(random, after)];
    const stretch = locateBlock(Int32Array.from(text));
    assert.equal(stretch.length, ALIGNMENT_WORDS_MAX);
    assert.ok([...stretch].join().includes(block.join()), `lost behind ${before} and before ${after} words`);
  }
});

test("a worn block is found in a long text too", () => {
  const random = seededRandom(7);
  let found = 0;
  for (let trial = 0; trial < 10; trial++) {
    const block = blockWords(random);
    const worn = block.filter(() => random.below(10) > 0);
    const text = [...foreignWords(random, 5000), ...worn, ...foreignWords(random, 5000)];
    const stretch = [...locateBlock(Int32Array.from(text))].join();
    if (stretch.includes(worn.join())) found++;
  }
  assert.ok(found >= 9, `${found} of 10`);
});
