/** Seeded random numbers: the same everywhere for a seed, in their bounds, and even enough for tests. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesToHex } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { seededRandom } from "../../../src/base/random.ts";

const seed = fc.integer({ min: 0, max: 0xffffffff });

/** xoshiro128** as published by its authors (prng.di.unimi.it), in big integers: slow and plain. */
function publishedGenerator(state: [bigint, bigint, bigint, bigint]): () => number {
  const mask = 0xffffffffn;
  const rotate = (x: bigint, k: bigint) => ((x << k) | (x >> (32n - k))) & mask;
  return () => {
    const result = (rotate((state[1] * 5n) & mask, 7n) * 9n) & mask;
    const t = (state[1] << 9n) & mask;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= t;
    state[3] = rotate(state[3], 11n);
    return Number(result);
  };
}

/** The seeding that random.ts describes, in big integers too. */
function stateOf(seed: number): [bigint, bigint, bigint, bigint] {
  const mask = 0xffffffffn;
  let mix = BigInt(seed);
  const next = () => {
    mix = (mix + 0x9e3779b9n) & mask;
    let z = mix;
    z = ((z ^ (z >> 16n)) * 0x85ebca6bn) & mask;
    z = ((z ^ (z >> 13n)) * 0xc2b2ae35n) & mask;
    return z ^ (z >> 16n);
  };
  return [next(), next(), next(), next()];
}

test("the numbers are those of xoshiro128** for the seed", () => {
  fc.assert(
    fc.property(seed, (value) => {
      const published = publishedGenerator(stateOf(value));
      const expected = Uint8Array.from({ length: 64 }, () => published() >>> 24);
      assert.deepEqual(seededRandom(value).bytes(64), expected);
    }),
  );
});

test("a seed gives the same numbers for ever", () => {
  const random = seededRandom(1);
  assert.equal(bytesToHex(random.bytes(16)), "91c1e37d78fb5a8956db80c69c7444bb");
  assert.deepEqual([random.below(7681), random.below(7681), random.below(7681)], [5137, 5998, 2947]);
  assert.deepEqual(random.shuffle([1, 2, 3, 4, 5, 6, 7, 8]), [2, 4, 1, 5, 7, 6, 3, 8]);
});

test("numbers stay in their bounds", () => {
  fc.assert(
    fc.property(seed, fc.integer({ min: 1, max: 2 ** 48 }), (value, bound) => {
      const random = seededRandom(value);
      for (let i = 0; i < 20; i++) {
        const below = random.below(bound);
        assert.ok(Number.isInteger(below) && below >= 0 && below < bound);
        const unit = random.unit();
        assert.ok(unit >= 0 && unit < 1);
      }
    }),
  );
});

test("a shuffle keeps the items and works in place; a pick is one of them", () => {
  fc.assert(
    fc.property(seed, fc.array(fc.integer(), { minLength: 1 }), (value, items) => {
      const random = seededRandom(value);
      const copy = [...items];
      assert.equal(random.shuffle(copy), copy);
      assert.deepEqual([...copy].sort(), [...items].sort());
      assert.ok(items.includes(random.pick(items)));
    }),
  );
});

test("every order of four items comes up evenly, and so does every byte", () => {
  const random = seededRandom(2);
  const orders = new Map<string, number>();
  for (let i = 0; i < 24_000; i++) {
    const order = random.shuffle([1, 2, 3, 4]).join("");
    orders.set(order, (orders.get(order) ?? 0) + 1);
  }
  assert.equal(orders.size, 24);
  // 1,000 expected each, standard deviation 31: six of them are allowed.
  for (const [order, count] of orders) assert.ok(Math.abs(count - 1000) < 190, `${order}: ${count}`);

  const counts = new Uint32Array(256);
  for (const byte of random.bytes(256_000)) counts[byte]++;
  for (const count of counts) assert.ok(Math.abs(count - 1000) < 190, `${count}`);
});

test("neighbouring seeds are unrelated", () => {
  const firsts = new Set(
    Array.from({ length: 1000 }, (_, value) => bytesToHex(seededRandom(value).bytes(8))),
  );
  assert.equal(firsts.size, 1000);
});
