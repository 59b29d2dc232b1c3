/**
 * Times as people write them: "7d", "2h ago", "yesterday 18:00", "2026-12-01". A moment without a zone is one of this
 * computer's zone.
 */

import { momentOf } from "../base/clock.ts";
import { UsageError } from "./command.ts";

const UNITS_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
/** A unit is a letter, or a word that begins with it. */
const DURATION = /^(\d{1,9}) ?([smhdw]|(?:sec|second|min|minute|hour|day|week)s?)$/;
const AGO = /^(.+) ago$/;
const DAYS: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };
const NAMED_DAY = /^(yesterday|today|tomorrow)(?: (\d{1,2}):(\d{2}))?$/;
const LOCAL = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;

/** @param option for the message, such as --for */
export function durationS(option: string, text: string): number {
  const seconds = secondsIn(text);
  if (seconds === undefined || seconds === 0)
    throw new UsageError(`${option} takes a time such as 90s, 30m, 12h, 7d or 2w, not "${text}"`);
  return seconds;
}

/** In milliseconds since 1970. A day alone is its first moment. */
export function momentMs(option: string, text: string, nowMs: number): number {
  const ms = agoMs(text, nowMs) ?? namedDayMs(text, nowMs) ?? localMs(text) ?? momentOf(text);
  if (ms !== undefined) return ms;
  throw new UsageError(
    `${option} takes a moment such as "yesterday 18:00", "2h ago", "2026-12-01 18:00" or 2026-12-01T18:00:00Z, not "${text}"`,
  );
}

function secondsIn(text: string): number | undefined {
  const found = DURATION.exec(text);
  return found === null ? undefined : Number(found[1]) * UNITS_S[found[2][0]];
}

function agoMs(text: string, nowMs: number): number | undefined {
  const seconds = secondsIn(AGO.exec(text)?.[1] ?? "");
  return seconds === undefined ? undefined : nowMs - seconds * 1000;
}

function namedDayMs(text: string, nowMs: number): number | undefined {
  const found = NAMED_DAY.exec(text);
  if (found === null) return undefined;
  const [, day, hour = "0", minute = "0"] = found;
  const now = new Date(nowMs);
  const date = [now.getFullYear(), now.getMonth(), now.getDate() + DAYS[day]] as const;
  return isTime(hour, minute) ? new Date(...date, Number(hour), Number(minute)).getTime() : undefined;
}

function localMs(text: string): number | undefined {
  const found = LOCAL.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0"] = found;
  const [months, days] = [Number(month) - 1, Number(day)];
  const date = new Date(Number(year), months, days, Number(hour), Number(minute), Number(second));
  // 2026-02-30 would be a day in March.
  const isReal = date.getMonth() === months && date.getDate() === days;
  return isReal && isTime(hour, minute, second) ? date.getTime() : undefined;
}

function isTime(hour: string, minute: string, second = "0"): boolean {
  return Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
}
