/** Moments as texts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { momentOf } from "../../../src/base/clock.ts";
import { inOtherTimeZones } from "../../fixtures/time-zones.ts";

function checkMoments(): void {
  assert.equal(momentOf("2027-01-31"), Date.UTC(2027, 0, 31));
  assert.equal(momentOf("2028-02-29T12:00:00Z"), Date.UTC(2028, 1, 29, 12));
  assert.equal(momentOf("2027-12-31T23:30:00-01:00"), Date.UTC(2028, 0, 1, 0, 30));
  assert.equal(momentOf("2027-12-31 23:30:00.5+00:00"), Date.UTC(2027, 11, 31, 23, 30, 0, 500));
  assert.equal(momentOf("2027-12-31t23:30z"), Date.UTC(2027, 11, 31, 23, 30));
  for (const text of [
    "2027-02-30",
    "2027-02-29T00:00:00Z",
    "2027-13-01",
    "2027-04-31",
    "soon",
    "",
    "1799999999",
    "2027-01-31T noon Z",
  ]) {
    assert.equal(momentOf(text), undefined, text);
  }
}

test("clock: a moment that does not exist is none", checkMoments);

test("clock: a text is the same moment in every time zone, and a time without its zone is none", async () => {
  await inOtherTimeZones(checkMoments);
  for (const text of [
    "2027-01-31T12:00",
    "2027-01-31T12:00:00",
    "2027-01-31T12:00:00.000",
    "2027-01-31 12:00",
  ])
    assert.equal(momentOf(text), undefined, text);
});
