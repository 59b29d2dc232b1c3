/**
 * The time that a monthly limit counts in: a calendar month in UTC. The count itself is kept and checked by the
 * store, in the transaction that writes the facts.
 */

export interface QuotaWindow {
  /** YYYY-MM */
  readonly month: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** The month that holds `nowMs`. Runs on every request, so without toISOString, which takes most of the time. */
export function quotaWindow(nowMs: number): QuotaWindow {
  const now = new Date(nowMs);
  const year = now.getUTCFullYear();
  const month = now.getUTCMonth();
  return {
    month: `${year}-${twoDigits(month + 1)}`,
    startMs: Date.UTC(year, month),
    endMs: Date.UTC(year, month + 1),
  };
}

/** The day that holds `ms`, as YYYY-MM-DD. */
export function dayOf(ms: number): string {
  const day = new Date(ms);
  return `${day.getUTCFullYear()}-${twoDigits(day.getUTCMonth() + 1)}-${twoDigits(day.getUTCDate())}`;
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : `${number}`;
}
