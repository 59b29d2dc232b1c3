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

let cached: QuotaWindow = { month: "", startMs: 0, endMs: 0 };

/** The month that holds `nowMs`. */
export function quotaWindow(nowMs: number): QuotaWindow {
  if (nowMs >= cached.startMs && nowMs < cached.endMs) return cached;
  const now = new Date(nowMs);
  const startMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const endMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  cached = { month: new Date(startMs).toISOString().slice(0, 7), startMs, endMs };
  return cached;
}

const DAY_MS = 86_400_000;
let cachedDay = { number: Number.NaN, text: "" };

/** The day that holds `ms`, as YYYY-MM-DD. */
export function dayOf(ms: number): string {
  const number = Math.floor(ms / DAY_MS);
  if (number !== cachedDay.number) cachedDay = { number, text: new Date(ms).toISOString().slice(0, 10) };
  return cachedDay.text;
}
