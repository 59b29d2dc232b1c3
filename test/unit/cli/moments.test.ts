/** Times as people write them at a terminal. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { durationS, endMs, lifeS, localTime, momentMs } from "../../../src/cli/moments.ts";
import { inOtherTimeZones, type Zone } from "../../fixtures/time-zones.ts";

const NOW = new Date(2026, 10, 16, 12, 30).getTime();

test("a duration has a number and a unit", () => {
  const seconds = ["90s", "30m", "12h", "7d", "2w", "7 d"].map((text) => durationS("--for", text));
  assert.deepEqual(seconds, [90, 1_800, 43_200, 604_800, 1_209_600, 604_800]);
  const spelled = ["1 sec", "5 min", "5mins", "an hour", "7 days", "Two weeks", "1 month", "1y"].map((text) =>
    durationS("--for", text),
  );
  assert.deepEqual(spelled, [1, 300, 300, 3_600, 604_800, 1_209_600, 2_592_000, 31_536_000]);
  for (const text of ["", "7", "d", "0s", "-1d", "1d2h", "7ms", "7 das", "in 7d", "7d ago"])
    assert.throws(() => durationS("--for", text), /--for takes a time such as 90s/, text);
});

test("the life of a fact has the months and years of the calendar", () => {
  const days = (text: string) => lifeS("--for", text, NOW) / 86_400;
  assert.deepEqual(["90m", "2w", "1 month", "1y"].map(days), [0.0625, 14, 30, 365]);
  // From November to February there are 92 days.
  assert.equal(days("3 months"), 92);
  assert.equal(days("999999w"), 999_999 * 7);
  assert.throws(() => days("in 3 months"), /--for takes a time such as 90s/);
});

test("a moment is one of this computer's zone, or has its own", () => {
  const moments: [string, Date][] = [
    ["2h ago", new Date(2026, 10, 16, 10, 30)],
    ["5 min ago", new Date(2026, 10, 16, 12, 25)],
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
  for (const [text, date] of moments)
    assert.equal(momentMs("--to", text, "start", NOW), date.getTime(), text);
  for (const text of ["", "now", "2026-02-30", "2026-12-01 25:00", "yesterday 18", "today 12:60"])
    assert.throws(
      () => momentMs("--to", text, "start", NOW),
      /--to takes a moment such as "yesterday 18:00"/,
      text,
    );
});

/** Each with now, both in UTC. The clocks of New York go forward on 2026-03-08 and back on 2026-11-01; those of Kolkata never. */
const MOMENTS: Readonly<Record<Zone, readonly (readonly [text: string, now: string, moment: string])[]>> = {
  "America/New_York": [
    // The turn of a month there is four or five hours after that of UTC.
    ["2026-12-01", "2026-11-16T12:00:00Z", "2026-12-01T05:00:00Z"],
    ["2026-04-01", "2026-03-16T12:00:00Z", "2026-04-01T04:00:00Z"],
    ["yesterday 18:00", "2026-12-01T04:59:59Z", "2026-11-29T23:00:00Z"],
    ["yesterday 18:00", "2026-12-01T05:00:00Z", "2026-11-30T23:00:00Z"],
    // The day of the change has 23 or 25 hours.
    ["yesterday 18:00", "2026-03-09T12:00:00Z", "2026-03-08T22:00:00Z"],
    ["yesterday 18:00", "2026-03-08T12:00:00Z", "2026-03-07T23:00:00Z"],
    ["yesterday 18:00", "2026-11-02T12:00:00Z", "2026-11-01T23:00:00Z"],
    ["yesterday 18:00", "2026-11-01T12:00:00Z", "2026-10-31T22:00:00Z"],
    ["tomorrow", "2026-11-01T12:00:00Z", "2026-11-02T05:00:00Z"],
    ["24 h ago", "2026-11-02T05:00:00Z", "2026-11-01T05:00:00Z"],
    // 02:30 does not exist: an hour later it is 03:30. Of the two 01:30 it is the first.
    ["2026-03-08 02:30", "2026-03-01T12:00:00Z", "2026-03-08T07:30:00Z"],
    ["2026-11-01 01:30", "2026-10-01T12:00:00Z", "2026-11-01T05:30:00Z"],
  ],
  "Asia/Kolkata": [
    ["2026-12-01", "2026-11-16T12:00:00Z", "2026-11-30T18:30:00Z"],
    ["2026-04-01", "2026-03-16T12:00:00Z", "2026-03-31T18:30:00Z"],
    ["yesterday 18:00", "2026-11-30T18:29:59Z", "2026-11-29T12:30:00Z"],
    ["yesterday 18:00", "2026-11-30T18:30:00Z", "2026-11-30T12:30:00Z"],
    ["yesterday 18:00", "2026-03-09T12:00:00Z", "2026-03-08T12:30:00Z"],
    ["tomorrow", "2026-11-01T12:00:00Z", "2026-11-01T18:30:00Z"],
  ],
};

test("days and hours without a zone are those of the process, at a month's turn and where the clocks change", () =>
  inOtherTimeZones((zone) => {
    for (const [text, now, moment] of MOMENTS[zone])
      assert.equal(
        momentMs("--to", text, "start", Date.parse(now)),
        Date.parse(moment),
        `${text} in ${zone}, at ${now}`,
      );
  }));

test("an end is ahead, and the message says what can be said", () => {
  assert.throws(
    () => endMs("--until", "yesterday"),
    /^UsageError: --until takes a moment in the future, and "yesterday" is past: \d{4}-\S+T23:59:59\S+$/,
  );
  assert.throws(
    () => endMs("--until", "soon"),
    /^UsageError: --until takes a moment such as friday, .*, not "soon"$/,
  );
  assert.throws(() => endMs("--until", "Dec 2020"), /in the future, and "Dec 2020" is past: 2020-12-31T/);
  assert.ok(endMs("--until", "tomorrow") > Date.now() + 20 * 3_600_000);
});

test("a printed time has the hour and the offset of the zone, and can be typed again", () =>
  inOtherTimeZones((zone) => {
    const shown = ["2026-12-01T04:59:59.250Z", "2026-06-30T20:00:00Z"].map(localTime);
    assert.deepEqual(
      shown,
      zone === "Asia/Kolkata"
        ? ["2026-12-01T10:29:59.250+05:30", "2026-07-01T01:30:00+05:30"]
        : ["2026-11-30T23:59:59.250-05:00", "2026-06-30T16:00:00-04:00"],
    );
    assert.equal(momentMs("--to", shown[0], "start"), Date.parse("2026-12-01T04:59:59.250Z"));
  }));
