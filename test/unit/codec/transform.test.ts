/** The fast transform is the plain one, both ways; one carrier read alone is the same carrier read with the others. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AssertionError } from "../../../src/base/assert.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { add, inverse, multiply, N, OMEGA_POWERS, P } from "../../../src/codec/field.ts";
import { toBlock, toSpectrum, transform, transformPlain } from "../../../src/codec/transform.ts";
import { anySeed, anySymbol, randomSymbols } from "../../fixtures/blocks.ts";

const symbols = anySeed.map((seed) => randomSymbols(seededRandom(seed), N));
/** Mostly zero, or all the largest element: where carries and reductions would go wrong. */
const edges = [new Uint16Array(N), new Uint16Array(N).fill(P - 1), new Uint16Array(N).fill(1)];

test("the fast transform equals the definition in both directions", () => {
  for (const input of edges) {
    for (const backwards of [false, true])
      assert.deepEqual(transform(input, backwards), transformPlain(input, backwards));
  }
  fc.assert(
    fc.property(symbols, fc.boolean(), (input, backwards) => {
      assert.deepEqual(transform(input, backwards), transformPlain(input, backwards));
    }),
    { numRuns: 25 },
  );
});

test("a single carrier becomes its own wave ω^(kt), and nothing else", () => {
  for (let k = 0; k < N; k++) {
    const spectrum = new Uint16Array(N);
    spectrum[k] = 3;
    const block = toBlock(spectrum);
    for (let t = 0; t < N; t++) assert.equal(block[t], multiply(3, OMEGA_POWERS[(k * t) % N]));
  }
});

test("spectrum and block are each other's inverse, and neither call changes its argument", () => {
  fc.assert(
    fc.property(symbols, (input) => {
      const copy = input.slice();
      assert.deepEqual(toSpectrum(toBlock(input)), input);
      assert.deepEqual(toBlock(toSpectrum(input)), input);
      assert.deepEqual(input, copy);
    }),
  );
});

test("the transform is linear: channels do not disturb each other", () => {
  fc.assert(
    fc.property(symbols, symbols, anySymbol, anySymbol, (x, y, a, b) => {
      const mixed = x.map((value, i) => add(multiply(a, value), multiply(b, y[i])));
      const [left, right] = [toBlock(x), toBlock(y)];
      const expected = left.map((value, i) => add(multiply(a, value), multiply(b, right[i])));
      assert.deepEqual(toBlock(mixed), expected);
    }),
    { numRuns: 50 },
  );
});

test("the mean of the words is carrier 0", () => {
  fc.assert(
    fc.property(symbols, (block) => {
      const sum = block.reduce((total, value) => total + value, 0) % P;
      assert.equal(toSpectrum(block)[0], multiply(sum, inverse(N)));
    }),
    { numRuns: 20 },
  );
});

test("anything but 512 symbols is refused", () => {
  for (const length of [0, 511, 513]) {
    assert.throws(() => transform(new Uint16Array(length), false), AssertionError);
  }
});
