/**
 * Times at a terminal: as people say them (src/base/spoken-moments.ts), and as they are printed: in RFC 3339, with the hour of
 * this computer's zone, so that they can be copied into another command.
 */

import {
  type MomentUse,
  ownZone,
  parseDuration,
  parseMoment,
  SPOKEN_ENDS,
  SPOKEN_STARTS,
} from "../base/spoken-moments.ts";
import { UsageError } from "./command.ts";

/** @param option for the message, such as --for */
export function durationS(option: string, text: string): number {
  const seconds = parseDuration(text);
  if (seconds === undefined)
    throw new UsageError(`${option} takes a time such as 90s, 30m, 12h, 7d, 2w or 1y, not "${text}"`);
  return seconds;
}

/** The same from now on, where months and years are those of the calendar. */
export function lifeS(option: string, text: string, nowMs = Date.now()): number {
  const seconds = durationS(option, text);
  const endsAtMs = parseMoment(`in ${text}`, "end", nowMs, ownZone);
  // Calendars end somewhere.
  return endsAtMs === undefined ? seconds : Math.round((endsAtMs - nowMs) / 1000);
}

/** In milliseconds since 1970. @param use whether a day alone is its first moment or its last */
export function momentMs(option: string, text: string, use: MomentUse, nowMs = Date.now()): number {
  const ms = parseMoment(text, use, nowMs, ownZone);
  if (ms === undefined)
    throw new UsageError(
      `${option} takes a moment such as ${use === "end" ? SPOKEN_ENDS : SPOKEN_STARTS}, not "${text}"`,
    );
  return ms;
}

/** An end, which must be ahead. */
export function endMs(option: string, text: string): number {
  const ms = momentMs(option, text, "end");
  if (ms > Date.now()) return ms;
  const then = localTime(new Date(ms).toISOString());
  throw new UsageError(`${option} takes a moment in the future, and "${text}" is past: ${then}`);
}

export const TIME_WIDTH = "2026-12-31T23:59:59.999+01:00".length;

/** A moment as it is printed, exactly: 2026-12-31T23:59:59+01:00. */
export function localTime(moment: string): string {
  const date = new Date(moment);
  const minutes = -date.getTimezoneOffset();
  const shown = new Date(date.getTime() + minutes * 60_000).toISOString().replace(/(?:\.000)?Z$/, "");
  const two = (number: number) => String(Math.trunc(number)).padStart(2, "0");
  const zone = `${minutes < 0 ? "-" : "+"}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
  return `${shown}${zone}`;
}
