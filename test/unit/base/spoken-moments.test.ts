/** Moments as people say them: a table by zone, with the days on which the clocks change, and comparison with Date. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../src/base/random.ts";
import {
  type MomentUse,
  ownZone,
  parseDuration,
  parseMoment,
  type Zone,
} from "../../../src/base/spoken-moments.ts";
import { inOtherTimeZones } from "../../fixtures/time-zones.ts";

type Row = readonly [text: string, moment: string | undefined];

/** A Wednesday, half past eleven in Berlin. */
const NOW = "2026-11-18T10:30:00Z";

const ENDS: readonly Row[] = [
  ["friday", "2026-11-20T22:59:59Z"],
  ["Fri", "2026-11-20T22:59:59Z"],
  ["on Friday", "2026-11-20T22:59:59Z"],
  ["this friday", "2026-11-20T22:59:59Z"],
  ["until friday 17:00", "2026-11-20T16:00:00Z"],
  ["friday at 5pm", "2026-11-20T16:00:00Z"],
  ["friday, 5:30 pm", "2026-11-20T16:30:00Z"],
  ["next friday", "2026-11-27T22:59:59Z"],
  ["next monday", "2026-11-23T22:59:59Z"],
  ["next monday 9:00", "2026-11-23T08:00:00Z"],
  ["monday", "2026-11-23T22:59:59Z"],
  ["thurs", "2026-11-19T22:59:59Z"],
  ["sunday noon", "2026-11-22T11:00:00Z"],
  // It is Wednesday: today as long as it lasts, and then the next one.
  ["wednesday", "2026-11-18T22:59:59Z"],
  ["wednesday 12:00", "2026-11-18T11:00:00Z"],
  ["wednesday 11:00", "2026-11-25T10:00:00Z"],
  ["today", "2026-11-18T22:59:59Z"],
  ["tonight", "2026-11-18T22:59:59Z"],
  ["tomorrow", "2026-11-19T22:59:59Z"],
  ["Tomorrow 9:00", "2026-11-19T08:00:00Z"],
  ["the day after tomorrow", "2026-11-20T22:59:59Z"],
  ["18:00", "2026-11-18T17:00:00Z"],
  ["11:00", "2026-11-19T10:00:00Z"],
  ["in 3 days", "2026-11-21T10:30:00Z"],
  ["3d", "2026-11-21T10:30:00Z"],
  ["3 days from now", "2026-11-21T10:30:00Z"],
  ["in two weeks", "2026-12-02T10:30:00Z"],
  ["in an hour", "2026-11-18T11:30:00Z"],
  ["in half an hour", "2026-11-18T11:00:00Z"],
  ["the 20th", "2026-11-20T22:59:59Z"],
  ["by the 3rd", "2026-12-03T22:59:59Z"],
  ["18th", "2026-11-18T22:59:59Z"],
  ["the 31st", "2026-12-31T22:59:59Z"],
  ["the 20th at 9:00", "2026-11-20T08:00:00Z"],
  ["the 32nd", undefined],
  ["20", undefined],
  ["90m", "2026-11-18T12:00:00Z"],
  ["in 1 month", "2026-12-18T10:30:00Z"],
  ["1y", "2027-11-18T10:30:00Z"],
  ["in a year", "2027-11-18T10:30:00Z"],
  // The clocks go forward in between: it is as late as now all the same.
  ["in 6 months", "2027-05-18T09:30:00Z"],
  ["2026-12-31", "2026-12-31T22:59:59Z"],
  ["2026-12-31 18:00", "2026-12-31T17:00:00Z"],
  ["2026-12-31T18:00:30", "2026-12-31T17:00:30Z"],
  ["2026-12-31T18:00:00Z", "2026-12-31T18:00:00Z"],
  ["2026-12-31 18:00+05:30", "2026-12-31T12:30:00Z"],
  ["31 Dec", "2026-12-31T22:59:59Z"],
  ["Dec 31", "2026-12-31T22:59:59Z"],
  ["31st of December", "2026-12-31T22:59:59Z"],
  ["December 31st, 2027", "2027-12-31T22:59:59Z"],
  ["31. Dec 2027 8am", "2027-12-31T07:00:00Z"],
  ["31.12.2027", "2027-12-31T22:59:59Z"],
  ["31.12.", "2026-12-31T22:59:59Z"],
  // What has passed this year is next year's.
  ["1 Nov", "2027-11-01T22:59:59Z"],
  ["1 July", "2027-07-01T21:59:59Z"],
  ["18 Nov", "2026-11-18T22:59:59Z"],
  ["29 Feb", "2028-02-29T22:59:59Z"],
  ["end of week", "2026-11-22T22:59:59Z"],
  ["end of the month", "2026-11-30T22:59:59Z"],
  ["the end of the year", "2026-12-31T22:59:59Z"],
  ["end of month", "2026-11-30T22:59:59Z"],
  ["end of next month", "2026-12-31T22:59:59Z"],
  ["end of month 17:00", "2026-11-30T16:00:00Z"],
  ["end of day", "2026-11-18T22:59:59Z"],
  // A week, a month and a year count to their last second, as a day does.
  ["this week", "2026-11-22T22:59:59Z"],
  ["next week", "2026-11-29T22:59:59Z"],
  ["next month", "2026-12-31T22:59:59Z"],
  ["next year", "2027-12-31T22:59:59Z"],
  ["March", "2027-03-31T21:59:59Z"],
  ["end of March", "2027-03-31T21:59:59Z"],
  ["the end of Nov", "2026-11-30T22:59:59Z"],
  ["end of March 2028", "2028-03-31T21:59:59Z"],
  ["Dec 2027", "2027-12-31T22:59:59Z"],
  ["until Feb. 2028", "2028-02-29T22:59:59Z"],
  ["2027", "2027-12-31T22:59:59Z"],
  ["end of 2027", "2027-12-31T22:59:59Z"],
  ["Dec 2025", "2025-12-31T22:59:59Z"],
  ["tomorrow morning", "2026-11-19T10:59:59Z"],
  ["tomorrow afternoon", "2026-11-19T16:59:59Z"],
  ["tomorrow evening", "2026-11-19T22:59:59Z"],
  ["friday in the morning", "2026-11-20T10:59:59Z"],
  ["this evening", "2026-11-18T22:59:59Z"],
  ["2h ago", "2026-11-18T08:30:00Z"],
  ["yesterday", "2026-11-17T22:59:59Z"],
];

const STARTS: readonly Row[] = [
  ["friday", "2026-11-12T23:00:00Z"],
  ["wednesday", "2026-11-17T23:00:00Z"],
  ["wednesday 12:00", "2026-11-11T11:00:00Z"],
  ["last wednesday", "2026-11-10T23:00:00Z"],
  ["last monday", "2026-11-15T23:00:00Z"],
  ["since monday", "2026-11-15T23:00:00Z"],
  ["yesterday 18:00", "2026-11-17T17:00:00Z"],
  ["18:00", "2026-11-17T17:00:00Z"],
  ["2d", "2026-11-16T10:30:00Z"],
  ["in 2 days", "2026-11-20T10:30:00Z"],
  ["2 months ago", "2026-09-18T09:30:00Z"],
  ["31 Dec", "2025-12-30T23:00:00Z"],
  ["2026-12-01", "2026-11-30T23:00:00Z"],
  ["last week", "2026-11-08T23:00:00Z"],
  ["this month", "2026-10-31T23:00:00Z"],
  ["last year", "2024-12-31T23:00:00Z"],
  ["March", "2026-02-28T23:00:00Z"],
  ["2025", "2024-12-31T23:00:00Z"],
  ["yesterday evening", "2026-11-17T17:00:00Z"],
];

const NOTHING = [
  ...[
    "",
    " ",
    "soon",
    "later",
    "now",
    "week",
    "next week 9:00",
    "March 9:00",
    "end of soon",
    "soon 2027",
    "soon evening",
    "0027",
    "frid ay",
    "frix",
    "mo",
    "2026-13-01",
    "2026-02-30",
    "30 Feb",
  ],
  ...[
    "31.13.",
    "12/31/2026",
    "12/31",
    "25:00",
    "today 12:60",
    "13pm",
    "0am",
    "friday 18",
    "in",
    "in days",
    "0d",
  ],
  ...["in zero days", "in some days", "1d2h", "7ms", "-1d", "999999999y", "999999999 h", "31 Decembre"],
  ...[
    "2026-12-31T25:00:00Z",
    "next",
    "last",
    "friday friday",
    "tomorrow tomorrow",
    "a",
    "an",
    "0 Dec",
    "1e3d",
  ],
];

/** By the tables of Intl. */
function zoneOf(name: string): Zone {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: name,
    hourCycle: "h23",
    ...({ year: "numeric", month: "numeric", day: "numeric" } as const),
    ...({ hour: "numeric", minute: "numeric", second: "numeric" } as const),
  });
  return (ms) => {
    const parts = format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]);
    const { year, month, day, hour, minute, second } = Object.fromEntries(parts);
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
  };
}

function said(text: string, use: MomentUse, now: string, zone: string): string | undefined {
  const ms = parseMoment(text, use, Date.parse(now), zoneOf(zone));
  return ms === undefined ? undefined : new Date(ms).toISOString().replace(".000Z", "Z");
}

test("an end is as people say it, and a day counts to its last second", () => {
  for (const [text, moment] of ENDS) assert.equal(said(text, "end", NOW, "Europe/Berlin"), moment, text);
});

test("a start is the last such moment, and a day is its first one", () => {
  for (const [text, moment] of STARTS) assert.equal(said(text, "start", NOW, "Europe/Berlin"), moment, text);
});

test("what says no moment is none, as an end and as a start", () => {
  for (const text of NOTHING)
    for (const use of ["end", "start"] as const)
      assert.equal(said(text, use, NOW, "Europe/Berlin"), undefined, `"${text}"`);
});

/** The clocks go forward on 2026-03-29 in Berlin, 03-08 in New York, 09-27 in Auckland and at midnight of 04-24 in Cairo. */
const ZONES: readonly (readonly [text: string, now: string, zone: string, moment: string])[] = [
  ["friday", NOW, "America/Los_Angeles", "2026-11-21T07:59:59Z"],
  ["friday", NOW, "Asia/Kolkata", "2026-11-20T18:29:59Z"],
  ["friday", NOW, "UTC", "2026-11-20T23:59:59Z"],
  // It is Thursday there already.
  ["thursday", "2026-11-18T12:00:00Z", "Pacific/Auckland", "2026-11-19T10:59:59Z"],
  ["tomorrow", "2026-11-18T23:30:00Z", "America/New_York", "2026-11-20T04:59:59Z"],
  ["tomorrow", "2026-11-18T23:30:00Z", "Asia/Tokyo", "2026-11-20T14:59:59Z"],
  // A day of 23 hours, and one of 25.
  ["2026-03-29", NOW, "Europe/Berlin", "2026-03-29T21:59:59Z"],
  ["2026-10-25", NOW, "Europe/Berlin", "2026-10-25T22:59:59Z"],
  ["in 1 day", "2026-03-28T11:00:00Z", "Europe/Berlin", "2026-03-29T10:00:00Z"],
  ["in 24 hours", "2026-03-28T11:00:00Z", "Europe/Berlin", "2026-03-29T11:00:00Z"],
  ["in 1 day", "2026-10-24T10:00:00Z", "Europe/Berlin", "2026-10-25T11:00:00Z"],
  // 02:30 does not exist: it is 03:30. Of the two 02:30 it is the first.
  ["2026-03-29 02:30", NOW, "Europe/Berlin", "2026-03-29T01:30:00Z"],
  ["2026-10-25 02:30", NOW, "Europe/Berlin", "2026-10-25T00:30:00Z"],
  ["2026-03-08 02:30", NOW, "America/New_York", "2026-03-08T07:30:00Z"],
  ["2026-09-27 02:30", NOW, "Pacific/Auckland", "2026-09-26T14:30:00Z"],
  // The day begins at one o'clock.
  ["2026-04-23", NOW, "Africa/Cairo", "2026-04-23T21:59:59Z"],
  // The last day of a shorter month, and of a year that is none.
  ["in 1 month", "2026-01-31T12:00:00Z", "UTC", "2026-02-28T12:00:00Z"],
  ["1y", "2028-02-29T12:00:00Z", "UTC", "2029-02-28T12:00:00Z"],
  ["end of the month", "2026-12-05T12:00:00Z", "UTC", "2026-12-31T23:59:59Z"],
  ["next monday", "2026-11-22T12:00:00Z", "UTC", "2026-11-23T23:59:59Z"],
  ["sunday", "2026-11-22T12:00:00Z", "UTC", "2026-11-22T23:59:59Z"],
];

test("days are those of the zone, also where the clocks change", () => {
  for (const [text, now, zone, moment] of ZONES)
    assert.equal(said(text, "end", now, zone), moment, `${text} in ${zone}, at ${now}`);
});

test("a day and an hour of the process's zone are what Date makes of them", () =>
  inOtherTimeZones((zone) => {
    const random = seededRandom(43);
    for (let count = 0; count < 200; count++) {
      const [month, day, hour, minute] = [12, 28, 24, 60].map((below) => random.below(below));
      const year = 2020 + random.below(20);
      const two = (number: number) => String(number).padStart(2, "0");
      const text = `${year}-${two(month + 1)}-${two(day + 1)} ${two(hour)}:${two(minute)}`;
      const expected = new Date(year, month, day + 1, hour, minute).getTime();
      assert.equal(parseMoment(text, "end", 0, ownZone), expected, `${text} in ${zone}`);
    }
  }));

test("the length of a time is a number and a unit", () => {
  assert.deepEqual(
    ["90s", "a week", "2 months", "1 yr"].map(parseDuration),
    [90, 604_800, 5_184_000, 31_536_000],
  );
  for (const text of ["", "0d", "in 3 days", "3 days ago", "friday"])
    assert.equal(parseDuration(text), undefined);
});
