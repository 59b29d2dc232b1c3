/** The WebAssembly kernel: made from the source beside it, and equal to the plain operations bit by bit. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PlainOperations } from "../../../bench/plain-operations.ts";
import { kernelModuleSource } from "../../../scripts/build-kernel.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { KernelOperations } from "../../../src/reader/kernel.ts";
import { KERNEL_MODULE } from "../../../src/reader/kernel-module.generated.ts";
import type { Operations } from "../../../src/reader/operations.ts";

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

/** `npm run kernel -- --check` compiles; here the checksums that the compilation left behind are enough. */
test("the committed module was compiled from the committed source", () => {
  const committed = readFileSync(
    new URL("../../../src/reader/kernel-module.generated.ts", import.meta.url),
    "utf8",
  );
  assert.equal(kernelModuleSource(Buffer.from(KERNEL_MODULE, "base64")), committed);
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

test("sparse products are equal, and equal to the product by rows", () => {
  const [rows, columns] = [64, 128];
  for (let n = 1; n <= 5; n++) {
    both((operations) => {
      const byRow = operations.bytes(rows * columns).map(() => drawn.below(255) - 127);
      const byColumn = operations.bytes(rows * columns);
      byColumn.forEach((_, i) => {
        byColumn[i] = byRow[(i % rows) * columns + Math.floor(i / rows)];
      });
      const weights = operations.bytes(rows * columns);
      weights.set(byRow);
      const scales = operations.doubles(rows).fill(0.75);
      const u = operations.doubles(n * columns);
      u.forEach((_, i) => {
        u[i] = drawn.below(4) === 0 ? number() : 0;
      });
      u.fill(0, 0, n > 3 ? columns : 0);
      const [out, expected] = [operations.doubles(n * rows), operations.doubles(n * rows)];
      operations.sparseProduct({ rows, columns, weights: byColumn, scales }, u, n, 1.4375, out);
      operations.product({ rows, columns, weights, scales }, u, n, 1.4375, expected);
      assert.deepEqual(out, expected);
      return Array.from(out);
    });
  }
});

test("sums, squares, norms and convolutions are equal", () => {
  const [width, taps] = [32, 3];
  for (let n = 1; n <= 4; n++) {
    both((operations) => {
      const make = (rows: number) => {
        const array = operations.doubles(rows * width);
        array.forEach((_, i) => {
          array[i] = number();
        });
        return array;
      };
      const [x, y, rows, weights] = [make(n), make(n), make(taps + n), make(taps)];
      const [normed, out] = [make(n), make(n)];
      operations.blend(x, 0.7, y, -1.3);
      operations.norm(x, width, normed);
      operations.convolve(rows, weights, width, out);
      operations.squareAboveZero(y);
      return [x, normed, out, y].flatMap((array) => Array.from(array));
    });
  }
});

test("attention is equal wherever the ring begins", () => {
  const [heads, size, slots, window] = [2, 16, 8, 6];
  for (const [position, n] of [
    [0, 1],
    [0, 4],
    [5, 3],
    [13, 4],
  ]) {
    both((operations) => {
      const rows = (count: number) => {
        const array = operations.doubles(count * heads * size);
        array.forEach((_, i) => {
          array[i] = number();
        });
        return array;
      };
      const ring = <Numbers>(numbers: Numbers, places = slots) => ({ heads, size, slots: places, numbers });
      const context = {
        queries: ring(operations.shorts(4 * heads * size), 4),
        keys: ring(operations.shorts(slots * heads * size)),
        values: ring(operations.doubles(slots * heads * size)),
        factors: operations.doubles(heads).fill(1e-7),
        window,
      };
      const turns = { cos: rows(20), sin: rows(20) };
      for (let before = 0; before < position; before++) {
        operations.turn(rows(1), before, turns, context.keys);
        operations.keep(rows(1), before, context.values);
      }
      operations.turn(rows(n), position, turns, context.keys);
      operations.turn(rows(n), position, turns, context.queries);
      operations.keep(rows(n), position, context.values);
      const out = rows(n);
      operations.attend(context, position, n, out);
      const { queries, keys, values } = context;
      return [queries, keys, values].flatMap(({ numbers }) => Array.from<number>(numbers)).concat(...out);
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
