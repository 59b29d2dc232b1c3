/**
 * Moments as people say them: "friday", "next monday 9:00", "in 3 days", "end of March", "31 Dec", "2h ago", "2026-12-31". Days and
 * hours are those of a time zone, which is given as its offset at any moment. Where the clocks go forward, an hour that does not exist is the one
 * after it; where they go back, the first of two counts.
 *
 * As an end, a day counts to its last second, and so do an evening, a week, a month and a year; "friday" is the coming one,
 * today as well. As a start, each is its first moment, "friday" is the last one, and "2d" is two days ago. "Next" is the week
 * after this one; weeks begin on Monday.
 */

import { momentOf } from "./clock.ts";

export type MomentUse = "start" | "end";

/** How many milliseconds the clocks of a zone are ahead of UTC at a moment. */
export type Zone = (ms: number) => number;

/** The zone of this process. */
export const ownZone: Zone = (ms) => -60_000 * new Date(ms).getTimezoneOffset();

/** For messages: what can be said. */
export const SPOKEN_ENDS =
  'friday, "next monday 9:00", tomorrow, "in 3 days", "next week", "end of March", "31 Dec", 2026-12-31 or 2026-12-01T18:00:00Z';
export const SPOKEN_STARTS =
  '"yesterday 18:00", monday, "2h ago", "1 Dec", "2026-12-01 18:00" or 2026-12-01T18:00:00Z';

interface Day {
  readonly year: number;
  /** From 0. */
  readonly month: number;
  readonly day: number;
}
interface LocalTime extends Day {
  /** Seconds since the day began, as a clock on the wall counts them. */
  readonly second: number;
}

const [SECOND_MS, DAY_MS] = [1_000, 86_400_000];
const WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split(" ");
const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);
/** In seconds; the last two are about so long. */
const UNIT_S = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800, mo: 2_592_000, y: 31_536_000 };
const NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
const NAMED_DAYS: Readonly<Record<string, number>> = {
  "the day before yesterday": -2,
  yesterday: -1,
  today: 0,
  tonight: 0,
  "end of day": 0,
  tomorrow: 1,
  "the day after tomorrow": 2,
  "day after tomorrow": 2,
};
const TIME =
  /(?:^|[ ,]|(?<=\d)t)(?:at )?(?:(\d{1,2})(?::(\d{2})(?::(\d{2}))?)? ?(am|pm)|(\d{1,2}):(\d{2})(?::(\d{2}))?|(noon))$/;
const DURATION =
  /^(in )?(\d{1,9}|[a-z]{1,6}) ?(s|m|h|d|w|mo|y|(?:sec|second|min|minute|hr|hour|day|week|month|yr|year)s?)( ago| from now)?$/;
/** A name of a day or a month may be cut: fri, thurs, sept. */
const WEEKDAY = /^(?:(this|coming|next|last) )?([a-z]{3,9})$/;
/** Their first hour, and the one after their last. */
const DAY_PARTS: Readonly<Record<string, readonly [fromH: number, toH: number]>> = {
  morning: [6, 12],
  afternoon: [12, 18],
  evening: [18, 24],
  night: [18, 24],
};
const DAY_PART = /(?:^| )(?:in the )?(morning|afternoon|evening|night)$/;
/** "next week", "end of month", "March", "end of March 2027", "2027". */
const PERIOD =
  /^((?:the )?end of (?:the )?)?(?:(?:(this|next|last) )?(week|month|year)|([a-z]{3,9})\.?(?:,? ([12]\d{3}))?|([12]\d{3}))$/;
const ISO_DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const DOTTED_DAY = /^(\d{1,2})\.(\d{1,2})\.(\d{4})?$/;
const DAY_MONTH = /^(\d{1,2})(?:st|nd|rd|th|\.)?(?: of)? ([a-z]{3,9})\.?(?:,? (\d{4}))?$/;
/** "the 20th" of this month, or of the one where it comes. */
const DAY_ALONE = /^(?:the )?(\d{1,2})(?:st|nd|rd|th)$/;
const MONTH_DAY = /^([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?$/;
/** Nobody means more, and calendars end somewhere. */
const DAYS_MAX = 366_000;

/** The moment in milliseconds since 1970, or undefined where the text says none. */
export function parseMoment(text: string, use: MomentUse, nowMs: number, zone: Zone): number | undefined {
  const said = text
    .trim()
    .toLowerCase()
    .replace(/\s+/g, " ")
    .replace("half an hour", "30 minutes")
    .replace(/^(?:on|by|until|till|through|since) /, "");
  return durationMs(said, use, nowMs, zone) ?? dayMs(said, use, nowMs, zone) ?? zonedMs(text);
}

/** RFC 3339 with its zone: a day alone is one of the person's zone. */
function zonedMs(text: string): number | undefined {
  return ISO_DAY.test(text) ? undefined : momentOf(text.trim());
}

/** The length of a time such as 90s, 7d, "2 weeks" or 1y, in seconds. A month has 30 days, a year 365. */
export function parseDuration(text: string): number | undefined {
  const [, ahead, number, unit, ago] = DURATION.exec(text.trim().toLowerCase()) ?? [];
  if (unit === undefined || ahead !== undefined || ago !== undefined) return undefined;
  return sizeOf(number) * UNIT_S[unitOf(unit)] || undefined;
}

function unitOf(unit: string): keyof typeof UNIT_S {
  return (unit.startsWith("mo") ? "mo" : unit[0]) as keyof typeof UNIT_S;
}

function sizeOf(number = ""): number {
  if (/^\d/.test(number)) return Number(number);
  return /^an?$/.test(number) ? 1 : Math.max(0, NUMBERS.indexOf(number));
}

/** "in 3 days", "3 days", "2h ago". */
function durationMs(said: string, use: MomentUse, nowMs: number, zone: Zone): number | undefined {
  const [, ahead, number, unit, ago] = DURATION.exec(said) ?? [];
  if (unit === undefined) return undefined;
  const size = sizeOf(number);
  if (size === 0) return undefined;
  const isBack = ago === " ago" || (use === "start" && ahead === undefined && ago === undefined);
  return laterMs(isBack ? -size : size, unit, nowMs, zone);
}

/** Days and what is longer go by the calendar: in 3 days it is as late as now. */
function laterMs(size: number, unit: string, nowMs: number, zone: Zone): number | undefined {
  const name = unitOf(unit);
  if (Math.abs(size) * UNIT_S[name] > DAYS_MAX * UNIT_S.d) return undefined;
  if (UNIT_S[name] < UNIT_S.d) return nowMs + size * UNIT_S[name] * SECOND_MS;
  const now = localTimeAt(nowMs, zone);
  if (name === "d" || name === "w")
    return instantMs({ ...daysLater(now, name === "d" ? size : 7 * size), second: now.second }, zone);
  const month = now.month + size * (name === "mo" ? 1 : 12);
  // A month after the 31st of January is its last day.
  const first = daysLater({ year: now.year, month, day: 1 }, 0);
  const last = daysLater({ ...first, month: first.month + 1 }, -1);
  return instantMs({ ...first, day: Math.min(now.day, last.day), second: now.second }, zone);
}

/** A day, perhaps with a time; or a time alone. */
function dayMs(said: string, use: MomentUse, nowMs: number, zone: Zone): number | undefined {
  const time = TIME.exec(said);
  const part = time === null ? DAY_PART.exec(said) : null;
  const second = time !== null ? secondOf(time) : part !== null ? partSecond(part[1]!, use) : undefined;
  if (time !== null && second === undefined) return undefined;
  const now = localTimeAt(nowMs, zone);
  const rest = said.slice(0, (time ?? part)?.index).replace(/,$/, "");
  const isToday = part !== null && /^(?:this)?$/.test(rest);
  const days =
    rest === "" && time !== null
      ? [-1, 0, 1].map((n) => daysLater(now, n))
      : daysOf(isToday ? "today" : rest, now, second === undefined ? use : undefined);
  const moments = days.map((day) => {
    if (second !== undefined) return instantMs({ ...day, second }, zone);
    const startMs = (of: Day) => instantMs({ ...of, second: 0 }, zone);
    return use === "end" ? startMs(daysLater(day, 1)) - SECOND_MS : startMs(day);
  });
  if (moments.length === 1) return moments[0];
  return use === "end" ? moments.find((ms) => ms > nowMs) : moments.findLast((ms) => ms <= nowMs);
}

function secondOf([
  ,
  hour,
  minute = "0",
  second = "0",
  half,
  hour24,
  minute24,
  second24,
  noon,
]: RegExpExecArray) {
  if (noon !== undefined) return 43_200;
  const [h, m] = [Number(hour ?? hour24), Number(half === undefined ? minute24 : minute)];
  const s = Number(second24 ?? second);
  const isReal = half === undefined ? h < 24 : h >= 1 && h <= 12;
  if (!isReal || m > 59 || s > 59) return undefined;
  return (half === undefined ? h : (h % 12) + (half === "pm" ? 12 : 0)) * 3_600 + m * 60 + s;
}

function partSecond(part: string, use: MomentUse): number {
  const [fromH, toH] = DAY_PARTS[part]!;
  return use === "end" ? toH * UNIT_S.h - 1 : fromH * UNIT_S.h;
}

/**
 * The days that the words can mean, the earliest first; one where they leave no choice.
 * @param use undefined where an hour is named: then a week, a month or a year says no day
 */
function daysOf(said: string, today: Day, use: MomentUse | undefined): Day[] {
  const ahead = NAMED_DAYS[said];
  if (ahead !== undefined) return [daysLater(today, ahead)];
  const [, which, weekday] = WEEKDAY.exec(said) ?? [];
  const weekdayAt = WEEKDAYS.findIndex((name) => weekday !== undefined && name.startsWith(weekday));
  if (weekdayAt >= 0) return weekdays(which, weekdayAt, today);
  const [, dayAlone] = DAY_ALONE.exec(said) ?? [];
  if (dayAlone !== undefined)
    return [-2, -1, 0, 1, 2]
      .map((months) => daysLater({ ...today, month: today.month + months, day: 1 }, 0))
      .map((first) => ({ ...first, day: Number(dayAlone) }))
      .filter(isDay);
  // Nine years have a 29th of February among them.
  const yearsOf = (year: string | undefined) =>
    year === undefined ? Array.from({ length: 19 }, (_, i) => today.year - 9 + i) : [Number(year)];
  const dated = dateOf(said);
  if (dated === undefined) return periodDays(said, today, use, yearsOf);
  const [day, month, year] = dated;
  return yearsOf(year)
    .map((of) => ({ year: of, month, day }))
    .filter(isDay);
}

/** The first or the last day of each week, month or year that the words can mean. */
function periodDays(
  said: string,
  today: Day,
  use: MomentUse | undefined,
  yearsOf: (year: string | undefined) => number[],
): Day[] {
  const [, end, which, unit, monthName, monthYear, year] = PERIOD.exec(said) ?? [];
  const isNamed = (which ?? monthName ?? year) !== undefined;
  if (end === undefined && (use === undefined || !isNamed)) return [];
  const month = monthName === undefined ? 0 : monthOf(monthName);
  if (month < 0) return [];
  const away = which === "next" ? 1 : which === "last" ? -1 : 0;
  const first: Readonly<Record<string, Day>> = {
    week: daysLater(today, 7 * away - weekdayOf(today)),
    month: daysLater({ ...today, month: today.month + away, day: 1 }, 0),
    year: { year: today.year + away, month: 0, day: 1 },
  };
  const length = unit ?? (monthName === undefined ? "year" : "month");
  const firsts =
    unit === undefined
      ? yearsOf(monthYear ?? year).map((of) => ({ year: of, month, day: 1 }))
      : [first[unit]!];
  if (end === undefined && use === "start") return firsts;
  const days = { week: [0, 0, 7], month: [0, 1, 0], year: [1, 0, 0] }[length]!;
  return firsts.map((day) =>
    daysLater({ year: day.year + days[0]!, month: day.month + days[1]!, day: day.day + days[2]! }, -1),
  );
}

function monthOf(named = ""): number {
  return MONTHS.findIndex((name) => name.startsWith(named));
}

function weekdays(which: string | undefined, weekday: number, today: Day): Day[] {
  const monday = daysLater(today, -weekdayOf(today));
  if (which === "next") return [daysLater(monday, 7 + weekday)];
  if (which === "last") return [daysLater(monday, weekday - (weekday < weekdayOf(today) ? 0 : 7))];
  return [-7, 0, 7].map((days) => daysLater(monday, days + weekday));
}

function dateOf(said: string): [day: number, month: number, year: string | undefined] | undefined {
  const iso = ISO_DAY.exec(said);
  if (iso !== null) return [Number(iso[3]), Number(iso[2]) - 1, iso[1]];
  const dotted = DOTTED_DAY.exec(said);
  if (dotted !== null) return [Number(dotted[1]), Number(dotted[2]) - 1, dotted[3]];
  const day = DAY_MONTH.exec(said);
  if (day !== null) return [Number(day[1]), monthOf(day[2]), day[3]];
  const month = MONTH_DAY.exec(said);
  return month === null ? undefined : [Number(month[2]), monthOf(month[1]), month[3]];
}

/** 2026-02-30 would be a day in March. */
function isDay(day: Day): boolean {
  const real = daysLater(day, 0);
  return real.month === day.month && real.day === day.day;
}

function daysLater({ year, month, day }: Day, days: number): Day {
  const date = new Date(Date.UTC(year, month, day + days));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate() };
}

/** From 0, Monday. */
function weekdayOf({ year, month, day }: Day): number {
  return (new Date(Date.UTC(year, month, day)).getUTCDay() + 6) % 7;
}

/** What a clock in the zone shows. */
function localTimeAt(ms: number, zone: Zone): LocalTime {
  const shown = new Date(ms + zone(ms));
  const day = { year: shown.getUTCFullYear(), month: shown.getUTCMonth(), day: shown.getUTCDate() };
  return { ...day, second: Math.floor((shown.getTime() % DAY_MS) / SECOND_MS) };
}

/** When a clock in the zone shows that. */
function instantMs({ year, month, day, second }: LocalTime, zone: Zone): number {
  const shownMs = Date.UTC(year, month, day) + second * SECOND_MS;
  const [before, after] = [zone(shownMs - DAY_MS), zone(shownMs + DAY_MS)];
  const isAfter = zone(shownMs - before) !== before && zone(shownMs - after) === after;
  return shownMs - (isAfter ? after : before);
}
