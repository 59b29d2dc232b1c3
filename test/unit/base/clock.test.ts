/** Moments as texts, and clocks that may be wrong. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CorrectedClock, clockFault, momentOf, SteadyClock } from "../../../src/base/clock.ts";
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

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
const NOW_MS = Date.UTC(2026, 10, 15);

test("clock: a machine's wrong clock is corrected by what another one says, whatever becomes of it", () => {
  let [systemMs, monotonicMs] = [NOW_MS + 14 * DAY_MS, 5_000];
  const clock = new CorrectedClock({ now: () => systemMs }, { now: () => monotonicMs });
  assert.throws(() => clock.now());
  clock.measure(NOW_MS, 4_900, 5_000);
  assert.equal(clock.now(), NOW_MS + 50, "half way between the question and the answer");
  assert.equal(clock.aheadMs, 14 * DAY_MS - 50);
  assert.equal(clock.settledMs(), clock.now());
  monotonicMs += 1_000.6;
  systemMs = 0;
  assert.equal(clock.now(), NOW_MS + 1_050);
  assert.equal(clock.settledMs(), 0, "nothing is removed by a clock that is ahead of this one");
  assert.equal(clock.aheadMs, -NOW_MS - 1_050);
});

test("clock: a slow answer does not make the correction worse, and another clock moves it", () => {
  const clock = new CorrectedClock({ now: () => NOW_MS }, { now: () => 0 });
  clock.measure(NOW_MS, -1, 1);
  clock.measure(NOW_MS + 1_900, 0, 2_000);
  assert.equal(clock.now(), NOW_MS);
  clock.measure(NOW_MS + 5, 0, 2);
  assert.equal(clock.now(), NOW_MS + 3);
  clock.measure(NOW_MS - DAY_MS, 0, 0);
  assert.equal(clock.now(), NOW_MS - DAY_MS);
});

/** A clock that goes by what the test sets. */
function steadyClock(noted?: { believedMs: number }) {
  const system = { ms: NOW_MS };
  const clock = new SteadyClock({ now: () => system.ms }, noted);
  const at = (ms: number) => {
    system.ms = ms;
  };
  return { clock, at };
}

test("clock: a jump of a day is believed, one of more is shown but settles nothing for an hour", () => {
  const { clock, at } = steadyClock();
  at(NOW_MS + DAY_MS);
  assert.equal(clock.settledMs(), NOW_MS + DAY_MS);
  const jumpMs = NOW_MS + 3 * DAY_MS;
  for (const ms of [jumpMs, jumpMs + HOUR_MS - 1]) {
    at(ms);
    assert.deepEqual([clock.now(), clock.settledMs()], [ms, NOW_MS + DAY_MS]);
  }
  at(jumpMs + HOUR_MS);
  assert.equal(clock.settledMs(), jumpMs + HOUR_MS);
});

test("clock: a clock that was set back has not stayed ahead", () => {
  const { clock, at } = steadyClock();
  at(NOW_MS + 14 * DAY_MS);
  assert.equal(clock.settledMs(), NOW_MS);
  at(NOW_MS + HOUR_MS);
  assert.equal(clock.settledMs(), NOW_MS + HOUR_MS);
  at(NOW_MS + 15 * DAY_MS);
  assert.equal(clock.settledMs(), NOW_MS + HOUR_MS);
  // From further ahead to less far ahead: the hour begins anew.
  at(NOW_MS + 5 * DAY_MS);
  clock.now();
  at(NOW_MS + 5 * DAY_MS + HOUR_MS - 1);
  assert.equal(clock.settledMs(), NOW_MS + HOUR_MS);
});

test("clock: the time does not go back, unless the clock stays more than a day behind for an hour", () => {
  const { clock, at } = steadyClock();
  at(NOW_MS - DAY_MS);
  assert.deepEqual([clock.now(), clock.settledMs()], [NOW_MS, NOW_MS - DAY_MS]);
  const backMs = NOW_MS - 30 * DAY_MS;
  at(backMs);
  assert.deepEqual([clock.now(), clock.settledMs()], [NOW_MS, backMs]);
  at(backMs + HOUR_MS);
  assert.equal(clock.now(), backMs + HOUR_MS);
});

test("clock: what was noted counts after a start; days that nobody saw are believed when more time has passed", () => {
  const { clock, at } = steadyClock({ believedMs: NOW_MS - 2 * DAY_MS });
  assert.equal(clock.settledMs(), NOW_MS - 2 * DAY_MS);
  at(NOW_MS + 2 * DAY_MS);
  assert.equal(clock.settledMs(), NOW_MS, "it was there two days ago");
});

test("clock: a node is told that it is wrong above 2 s, and takes no traffic above 60 s", () => {
  const at = (aheadMs: number) => clockFault({ aheadMs });
  assert.deepEqual([at(2_000), at(-2_000)], [undefined, undefined]);
  assert.deepEqual([at(2_001)?.stops, at(-60_000)?.stops, at(60_001)?.stops], [false, false, true]);
  assert.match(at(-60_001)!.line, /60\.0 s behind the database's.*takes no traffic/);
});
