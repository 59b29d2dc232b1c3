/** Moments as texts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { momentOf } from "../../../src/base/clock.ts";

test("clock: a moment that does not exist is none", () => {
  assert.equal(momentOf("2027-01-31"), Date.UTC(2027, 0, 31));
  assert.equal(momentOf("2028-02-29T12:00:00Z"), Date.UTC(2028, 1, 29, 12));
  assert.equal(momentOf("2027-12-31T23:30:00-01:00"), Date.UTC(2028, 0, 1, 0, 30));
  for (const text of [
    "2027-02-30",
    "2027-02-29T00:00:00Z",
    "2027-13-01",
    "2027-04-31",
    "soon",
    "",
    "1799999999",
  ]) {
    assert.equal(momentOf(text), undefined, text);
  }
});
