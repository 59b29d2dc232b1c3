/** The WebAssembly kernel: made from the source beside it, and equal to the plain operations bit by bit. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compileKernel, kernelModuleSource } from "../../../scripts/build-kernel.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { KernelOperations } from "../../../src/reader/kernel.ts";
import { type Operations, PlainOperations } from "../../../src/reader/operations.ts";

const random = seededRandom(4);

/** The same numbers in a place of each implementation. */
function both(fill: (operations: Operations) => (number | bigint)[]): void {
  const seed = random.below(2 ** 31);
  const results = [new PlainOperations(), new KernelOperations(4_000_000)].map((operations) => {
    drawn = seededRandom(seed);
    return fill(operations);
  });
  assert.deepEqual(results[1], results[0]);
}

let drawn = seededRandom(1);

/** Numbers of very different sizes, some of them zero. */
const number = () => (drawn.below(20) === 0 ? 0 : (drawn.unit() - 0.5) * 2 ** (drawn.below(24) - 12));

test("the committed module is what the source compiles to", async () => {
  const committed = readFileSync(
    new URL("../../../src/reader/kernel-module.generated.ts", import.meta.url),
    "utf8",
  );
  assert.equal(kernelModuleSource(await compileKernel()), committed);
});

test("products are equal for every number of positions", () => {
  for (const [rows, columns] of [
    [4, 16],
    [32, 64],
    [12, 1024],
  ]) {
    for (let n = 1; n <= 9; n++) {
      both((operations) => {
        const weights = operations.bytes(rows * columns).map(() => drawn.below(255) - 127);
        const own = operations.bytes(rows * columns);
        own.set(weights);
        const scales = operations.doubles(rows);
        scales.forEach((_, i) => {
          scales[i] = Math.fround(drawn.unit());
        });
        const u = operations.doubles(n * columns);
        u.forEach((_, i) => {
          u[i] = number();
        });
        if (n > 2) u.fill(0, 0, columns);
        const out = operations.doubles(n * rows);
        operations.product({ rows, columns, weights: own, scales }, u, n, 1.4375, out);
        return Array.from(out);
      });
    }
  }
});

test("the largest weights and activations do not overflow 32 bits", () => {
  both((operations) => {
    const weights = operations.bytes(4 * 1024);
    weights.fill(127);
    const scales = operations.doubles(4);
    scales.fill(1);
    const u = operations.doubles(1024);
    u.fill(1);
    const out = operations.doubles(4);
    operations.product({ rows: 4, columns: 1024, weights, scales }, u, 1, 1, out);
    assert.ok(Math.abs(out[0] - 127 * 1024) < 1e-9);
    return Array.from(out);
  });
});

test("attention is equal wherever the ring begins", () => {
  for (const [first, count] of [
    [0, 1],
    [0, 7],
    [5, 8],
    [3, 3],
  ]) {
    both((operations) => {
      const [heads, size, slots] = [2, 16, 8];
      const width = heads * size;
      const query = operations.shorts(width);
      const keys = operations.shorts(slots * width);
      for (const array of [query, keys])
        array.forEach((_, i) => {
          array[i] = drawn.below(20000) - 10000;
        });
      const values = operations.doubles(slots * width);
      values.forEach((_, i) => {
        values[i] = number();
      });
      const factors = operations.doubles(heads);
      factors.fill(1e-8);
      const out = operations.doubles(width);
      operations.attend(query, { keys, values, slots, first, count }, factors, out);
      return Array.from(out);
    });
  }
});

test("frequencies are equal, at least 1, and add up to the total", () => {
  for (let run = 0; run < 20; run++) {
    both((operations) => {
      const scores = operations.doubles(4096);
      scores.forEach((_, i) => {
        scores[i] = run === 0 ? 0 : number() / 64;
      });
      const out = operations.counts(4096);
      operations.frequencies(scores, out);
      assert.ok(out.every((frequency) => frequency >= 1));
      assert.equal(
        out.reduce((sum, frequency) => sum + frequency, 0),
        2 ** 20,
      );
      return Array.from(out);
    });
  }
});
