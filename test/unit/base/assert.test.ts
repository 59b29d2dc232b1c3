/** Assertions stop the programmer's errors and let everything else pass. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AssertionError, assertInteger, assert as assertThat } from "../../../src/base/assert.ts";

test("assert lets what is true pass and throws the message for what is not", () => {
  for (const value of [true, 1, "0", [], {}]) assertThat(value, "never thrown");
  for (const value of [false, 0, "", null, undefined, Number.NaN]) {
    assert.throws(() => assertThat(value, "the reason"), { name: "AssertionError", message: "the reason" });
  }
});

test("assertInteger accepts exactly the integers from min to max", () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat(), fc.integer(), (min, span, value) => {
      const max = min + span;
      if (value >= min && value <= max) assertInteger(value, min, max, "n");
      else assert.throws(() => assertInteger(value, min, max, "n"), AssertionError);
    }),
  );
  for (const bound of [-7, 7]) assertInteger(bound, -7, 7, "n");
});

test("assertInteger refuses fractions, infinities, NaN and other types, and says the name and the bounds", () => {
  for (const value of [0.5, Number.POSITIVE_INFINITY, Number.NaN, "1", null, undefined]) {
    assert.throws(
      () => assertInteger(value as number, 0, 9, "channel"),
      /channel must be an integer from 0 to 9/,
    );
  }
});
