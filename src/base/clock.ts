/** Clocks, which are handed in so that no test has to wait for the end of a month; and times written as text. */

export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** For durations: unlike the time of day, it never jumps. */
export interface MonotonicClock {
  /** Milliseconds since an arbitrary start. */
  now(): number;
}

export interface TimerClock extends MonotonicClock {
  /** Calls `run` later. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const monotonicClock: MonotonicClock = { now: () => performance.now() };

/** A day, which begins at midnight UTC, or a time with its zone. Without a zone it is another moment on each machine. */
const MOMENT = /^(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/i;

/** Milliseconds of a day or a time as in RFC 3339; undefined where there is no such moment (2027-02-30), or no zone. */
export function momentOf(text: string): number | undefined {
  const [moment, day] = MOMENT.exec(text) ?? [];
  const ms = Date.parse(moment?.toUpperCase() ?? "");
  if (Number.isNaN(ms)) return undefined;
  // Date.parse takes the 30th of February for the 2nd of March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(`${day}T`) ? ms : undefined;
}
