/** Times in words: "5 minutes ago", "in 6 days", the page's clock, and what a field for a local date and time holds. */

import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { useNow } from "../parts/hooks.ts";

const UNITS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;
/** Clocks differ a little. */
const NOW_S = 10;
/** A fact that was given a week a moment ago ends "in 1 week", not "in 6 days". */
const ROUNDING_UP = 1.02;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const exact = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

/** "just now", "5 minutes ago" */
export function timeAgo(time: string, nowMs: number): string {
  const seconds = (Date.parse(time) - nowMs) / 1000;
  return seconds > -NOW_S ? "just now" : inWords(seconds);
}

/** "in a few seconds", "in 6 days" */
export function timeUntil(time: string, nowMs: number): string {
  const seconds = (Date.parse(time) - nowMs) / 1000;
  return seconds < NOW_S ? "in a few seconds" : inWords(seconds * ROUNDING_UP);
}

function inWords(seconds: number): string {
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? UNITS[UNITS.length - 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

/** "Nov 17, 2026, 2:05 PM" in the zone of the reader. */
export function exactTime(time: string): string {
  return exact.format(new Date(time));
}

/** 86,400 → "1 day" */
export function lifetimeText(seconds: number): string {
  const [unit, size] = UNITS.find(([, length]) => seconds % length === 0) ?? UNITS[UNITS.length - 1];
  const count = seconds / size;
  return `${count.toLocaleString("en")} ${unit}${count === 1 ? "" : "s"}`;
}

/** The value of a field for a local date and time. */
export function toDateTimeLocal(ms: number): string {
  const date = new Date(ms);
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The moment that such a field names; undefined while it is empty. */
export function fromDateTimeLocal(text: string): string | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** The beginning of the day before, in the zone of the reader. */
export function startOfYesterday(nowMs: number): number {
  const date = new Date(nowMs);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - 1).getTime();
}

const ClockContext = createContext(0);
/** How exact "5 minutes ago" has to be. */
const CLOCK_MS = 5_000;

/** What is inside has the time. Only what shows it is drawn again when it goes on. */
export function Clock({ children }: { readonly children: ComponentChildren }) {
  return <ClockContext.Provider value={useNow(CLOCK_MS)}>{children}</ClockContext.Provider>;
}

function useClock(): number {
  useContext(ClockContext);
  return Date.now();
}

/** How long a change of somebody else is marked. */
const MARKED_MS = 60_000;

/** @param atMs when somebody else changed it; undefined: nobody did */
export function RecentChange({ atMs }: { readonly atMs: number | undefined }) {
  const isFresh = useClock() - (atMs ?? Number.NEGATIVE_INFINITY) < MARKED_MS;
  return isFresh ? <span class="tag good fresh">changed just now</span> : null;
}

interface RelativeTimeProps {
  readonly at: string;
  /** It is the end of a fact. */
  readonly isEnd?: boolean;
}

/** A time in words, with the exact one for those who point at it. */
export function RelativeTime({ at, isEnd = false }: RelativeTimeProps) {
  const nowMs = useClock();
  return (
    <time dateTime={at} title={exactTime(at)}>
      {isEnd ? timeUntil(at, nowMs) : timeAgo(at, nowMs)}
    </time>
  );
}
