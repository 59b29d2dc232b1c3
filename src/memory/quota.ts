/**
 * The time that a monthly limit counts in: a calendar month in UTC. The count itself is kept and checked by the
 * store, in the transaction that writes the facts.
 */

import { assert } from "../base/assert.ts";

export const MONTHLY_LIMIT_MAX = 1_000_000_000_000;

/** What an account as a whole may be limited to. */
export function isMonthlyLimit(limit: number): boolean {
  return Number.isSafeInteger(limit) && limit >= 0 && limit <= MONTHLY_LIMIT_MAX;
}

interface QuotaWindow {
  /** YYYY-MM */
  readonly month: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** What the encodes of a limited account are counted by. No key has such an id. */
export function accountCounter(account: string): string {
  return `@${account}`;
}

/** The month that holds `nowMs`. Runs on every request, so without toISOString, which takes most of the time. */
export function quotaWindow(nowMs: number): QuotaWindow {
  const now = new Date(nowMs);
  const year = now.getUTCFullYear();
  const month = now.getUTCMonth();
  const startMs = Date.UTC(year, month);
  const endMs = Date.UTC(year, month + 1);
  assert(startMs <= nowMs && nowMs < endMs, "the month holds the moment");
  return { month: `${year}-${twoDigits(month + 1)}`, startMs, endMs };
}

/** The day that holds `ms`, as YYYY-MM-DD. */
export function dayOf(ms: number): string {
  const day = new Date(ms);
  return `${day.getUTCFullYear()}-${twoDigits(day.getUTCMonth() + 1)}-${twoDigits(day.getUTCDate())}`;
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : `${number}`;
}
