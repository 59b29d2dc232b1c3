/** Times as people write them at a terminal. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { durationS, momentMs } from "../../../src/cli/moments.ts";

const NOW = new Date(2026, 10, 16, 12, 30).getTime();

test("a duration has a number and a unit", () => {
  const seconds = ["90s", "30m", "12h", "7d", "2w", "7 d"].map((text) => durationS("--for", text));
  assert.deepEqual(seconds, [90, 1_800, 43_200, 604_800, 1_209_600, 604_800]);
  for (const text of ["", "7", "d", "0s", "-1d", "1y", "1d2h", "7 days"])
    assert.throws(() => durationS("--for", text), /--for takes a time such as 90s/, text);
});

test("a moment is one of this computer's zone, or has its own", () => {
  const moments: [string, Date][] = [
    ["2h ago", new Date(2026, 10, 16, 10, 30)],
    ["yesterday 18:00", new Date(2026, 10, 15, 18)],
    ["yesterday", new Date(2026, 10, 15)],
    ["today 9:05", new Date(2026, 10, 16, 9, 5)],
    ["tomorrow 09:00", new Date(2026, 10, 17, 9)],
    ["2026-12-01", new Date(2026, 11, 1)],
    ["2026-12-01 18:00", new Date(2026, 11, 1, 18)],
    ["2026-12-01T18:00:30", new Date(2026, 11, 1, 18, 0, 30)],
    ["2026-12-01T18:00:00Z", new Date("2026-12-01T18:00:00Z")],
    ["2026-12-01T18:00+01:00", new Date("2026-12-01T17:00:00Z")],
  ];
  for (const [text, date] of moments) assert.equal(momentMs("--to", text, NOW), date.getTime(), text);
  for (const text of ["", "now", "2026-02-30", "2026-12-01 25:00", "yesterday 18", "18:00", "today 12:60"])
    assert.throws(() => momentMs("--to", text, NOW), /--to takes a moment such as "yesterday 18:00"/, text);
});
