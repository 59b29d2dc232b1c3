/** Months and days in UTC, wherever the process runs. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { dayOf, quotaWindow } from "../../../src/memory/quota.ts";
import { inOtherTimeZones } from "../../fixtures/time-zones.ts";

const at = (time: string) => Date.parse(time);

function checkMonths(): void {
  const december = {
    month: "2026-12",
    startMs: at("2026-12-01T00:00:00Z"),
    endMs: at("2027-01-01T00:00:00Z"),
  };
  assert.deepEqual(quotaWindow(december.startMs), december);
  assert.deepEqual(quotaWindow(december.endMs - 1), december);
  assert.equal(quotaWindow(december.endMs).month, "2027-01");
  assert.equal(quotaWindow(december.startMs - 1).month, "2026-11");
}

function checkDays(): void {
  for (const time of ["2026-01-02T00:00:00.000Z", "2028-02-29T23:59:59.999Z", "2026-12-31T12:00:00.000Z"])
    assert.equal(dayOf(at(time)), time.slice(0, 10));
}

test("a month begins with its first millisecond and ends with the next month's", checkMonths);

test("a day is written as in ISO 8601", checkDays);

test("months and days are those of UTC in every time zone", () =>
  inOtherTimeZones(() => {
    checkMonths();
    checkDays();
  }));
