/** The plain predictor splits [0, total) fully at every step, the same way for the writer and for the reader. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { plainPredictor } from "../../../src/codec/plain-predictor.ts";
import { type Interval, TOTAL_MAX } from "../../../src/codec/predictor.ts";
import { anyCharacter } from "../../fixtures/characters.ts";

const { total, end } = plainPredictor;
const anyValue = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.string({ unit: anyCharacter, maxLength: 80 }).map((text) => new TextEncoder().encode(text)),
  // Starts of characters without their rest, and rests without a start.
  fc.array(fc.constantFrom(0xf0, 0xe2, 0xc3, 0x80, 0xbf, 0xff, 0x41), { maxLength: 100 }).map((bytes) => {
    return Uint8Array.from(bytes);
  }),
);

/** The intervals of all symbols after a prefix. */
function tableAfter(prefix: readonly number[]): Interval[] {
  return Array.from(
    { length: 257 },
    (_, symbol) => [...plainPredictor.intervals(0, [...prefix, symbol])][prefix.length],
  );
}

test("the total is a power of two that the range coder takes", () => {
  assert.ok(Number.isInteger(Math.log2(total)) && total <= TOTAL_MAX);
});

test("at every step the intervals of all symbols fill [0, total) without gap or overlap", () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      let next = 0;
      for (const { start, size } of tableAfter([...value])) {
        assert.equal(start, next);
        assert.ok(Number.isInteger(size) && size >= 1);
        next += size;
      }
      assert.equal(next, total);
    }),
    { numRuns: 40 },
  );
});

test("a cursor finds, for any target, the interval that the writer was given", () => {
  fc.assert(
    fc.property(anyValue, fc.nat(), (value, pick) => {
      const symbols = [...plainPredictor.split(value), end];
      const intervals = [...plainPredictor.intervals(7, symbols)];
      const cursor = plainPredictor.cursor(7);
      symbols.forEach((symbol, i) => {
        const { start, size } = intervals[i];
        // The first, the last, or any target between.
        const target = [start, start + size - 1, start + (pick % size)][(pick + i) % 3];
        assert.deepEqual({ ...cursor.next(target) }, { symbol, start, size });
      });
    }),
  );
});

test("a value's symbols stand for its bytes, whatever they are", () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const bytes = plainPredictor.split(value).flatMap((symbol) => [...plainPredictor.bytesOf(symbol)]);
      assert.deepEqual(Uint8Array.from(bytes), value);
    }),
  );
});

test("a value does not depend on the values before it", () => {
  const value = [...new TextEncoder().encode("the same again")];
  const first = [...plainPredictor.intervals(0, value)];
  const other = [...new TextEncoder().encode("zzzzzzzzzzz, něco jiného")];
  assert.equal([...plainPredictor.intervals(0, other)].length, other.length);
  assert.deepEqual([...plainPredictor.intervals(0, value)], first);
});
