/** The spectral Reed–Solomon decoder mends whatever 2e + f ≤ G allows, and agrees with plain linear algebra. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AssertionError } from "../../../src/base/assert.ts";
import { type Random, seededRandom } from "../../../src/base/random.ts";
import { N, P } from "../../../src/codec/field.ts";
import { type Candidate, correctErrors, GUARD_MIN } from "../../../src/codec/reed-solomon.ts";
import { toBlock } from "../../../src/codec/transform.ts";
import { anySeed, randomSymbols } from "../../fixtures/blocks.ts";
import { correctionsOf } from "../../fixtures/linear-solver.ts";

const GUARD_MAX = 500;

interface Damaged {
  readonly written: Uint16Array;
  readonly received: Uint16Array;
  readonly erased: Uint8Array;
  readonly erasedPlaces: number[];
}

/** A spectrum with `guard` silent carriers, and its block with e words wrong and f erased. */
function damage(random: Random, guard: number, e: number, f: number): Damaged {
  const written = new Uint16Array(N);
  written.set(randomSymbols(random, N - guard));
  // The last carrier in use is not silent by chance.
  written[N - guard - 1] ||= 1;
  const received = toBlock(written);
  const places = random.shuffle(Array.from({ length: N }, (_, t) => t));
  for (const t of places.slice(0, e)) received[t] = (received[t] + 1 + random.below(P - 1)) % P;
  const erased = new Uint8Array(N);
  const erasedPlaces = places.slice(e, e + f);
  for (const t of erasedPlaces) {
    erased[t] = 1;
    received[t] = random.below(P);
  }
  return { written, received, erased, erasedPlaces };
}

function candidateWith(written: Uint16Array, candidates: Iterable<Candidate>): Candidate | undefined {
  for (const candidate of candidates) {
    if (candidate.spectrum.every((digit, k) => digit === written[k])) return candidate;
  }
  return undefined;
}

function mustMend(random: Random, guard: number, e: number, f: number): void {
  const { written, received, erased } = damage(random, guard, e, f);
  const copy = received.slice();
  const found = candidateWith(written, correctErrors(received, erased, GUARD_MAX));
  assert.ok(found !== undefined, `G = ${guard}, e = ${e}, f = ${f} is not mended`);
  assert.equal(found.badPlaces, e + f);
  assert.ok(found.guard <= guard, "mended with carriers that are not silent");
  assert.deepEqual(received, copy, "the argument is left alone");
}

const anyGuard = fc.integer({ min: GUARD_MIN, max: GUARD_MAX });

test("e wrong and f erased words are mended wherever 2e + f < G, for every G", () => {
  fc.assert(
    fc.property(anySeed, anyGuard, (seed, guard) => {
      const random = seededRandom(seed);
      const e = random.below(Math.floor((guard - 1) / 2) + 1);
      mustMend(random, guard, e, random.below(guard - 2 * e));
      mustMend(random, guard, e, guard - 2 * e - 1);
      mustMend(random, guard, Math.floor((guard - 1) / 2), 0);
    }),
    { numRuns: 40 },
  );
});

test("2e + f = G is mended where no word is wrong, or G is a multiple of 8", () => {
  fc.assert(
    fc.property(anySeed, anyGuard, (seed, guard) => {
      const random = seededRandom(seed);
      mustMend(random, guard, 0, guard);
      const eights = guard - (guard % 8);
      const e = random.below(eights / 2 + 1);
      mustMend(random, eights, e, eights - 2 * e);
      mustMend(random, eights, eights / 2, 0);
    }),
    { numRuns: 40 },
  );
});

test("an undamaged block is its own and only candidate", () => {
  const { written, received, erased } = damage(seededRandom(1), 32, 0, 0);
  const candidates = [...correctErrors(received, erased, GUARD_MAX)];
  assert.equal(candidates.length, 1);
  assert.deepEqual(candidates[0].spectrum, written);
  assert.equal(candidates[0].badPlaces, 0);
});

test("words in a row at either end, all of one value, or right words erased are mended as well", () => {
  const random = seededRandom(2);
  for (const from of [0, N - 100, 200]) {
    const { written, received, erased } = damage(random, 104, 0, 0);
    const right = received.slice();
    for (let t = from; t < from + 100; t++) erased[t] = 1;
    assert.equal(candidateWith(written, correctErrors(right, erased, GUARD_MAX))?.badPlaces, 100);
    erased.fill(0);
    for (let t = from; t < from + 50; t++) received[t] = 7;
    const bad = Array.from({ length: 50 }, (_, i) => from + i).filter((t) => right[t] !== 7).length;
    assert.equal(candidateWith(written, correctErrors(received, erased, GUARD_MAX))?.badPlaces, bad);
  }
});

test("every candidate agrees with what was received, but for as many places as it says", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const random = seededRandom(seed);
      const guard = 32 + random.below(100);
      const { received, erased } = damage(random, guard, random.below(80), random.below(80));
      for (const { spectrum, badPlaces, guard: used } of correctErrors(received, erased, GUARD_MAX)) {
        const block = toBlock(spectrum);
        let differing = 0;
        for (let t = 0; t < N; t++) if (erased[t] || block[t] !== received[t]) differing++;
        assert.equal(differing, badPlaces);
        for (let k = N - used; k < N; k++) assert.equal(spectrum[k], 0);
      }
    }),
    { numRuns: 40 },
  );
});

test("Gaussian elimination over all places agrees, for one wrong word and a few erased", () => {
  const random = seededRandom(3);
  for (const [e, f] of [
    [0, 0],
    [1, 0],
    [0, 5],
    [1, 3],
    [1, 6],
  ]) {
    const { written, received, erased, erasedPlaces } = damage(random, GUARD_MIN, e, f);
    const solutions = correctionsOf(received, erasedPlaces, e, GUARD_MIN);
    assert.equal(solutions.length, 1, `e = ${e}, f = ${f}`);
    assert.deepEqual(solutions[0], toBlock(written));
    assert.ok(candidateWith(written, correctErrors(received, erased, GUARD_MAX)) !== undefined);
  }
});

test("beyond the bound nothing throws, and what is offered is never longer than the classes", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const random = seededRandom(seed);
      const { received, erased } = damage(random, 32, random.below(N / 2), random.below(N / 2));
      assert.ok([...correctErrors(received, erased, GUARD_MAX)].length <= GUARD_MAX);
    }),
    { numRuns: 40 },
  );
  for (const value of [0, 1, P - 1]) {
    for (const lost of [0, 1]) {
      assert.ok(
        [...correctErrors(new Uint16Array(N).fill(value), new Uint8Array(N).fill(lost), GUARD_MAX)].length <
          500,
      );
    }
  }
});

test("other than 512 symbols is the programmer's error", () => {
  assert.throws(() => [...correctErrors(new Uint16Array(511), new Uint8Array(N), 32)], AssertionError);
  assert.throws(() => [...correctErrors(new Uint16Array(N), new Uint8Array(511), 32)], AssertionError);
});
