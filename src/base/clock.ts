/**
 * Clocks, which are handed in so that no test has to wait for the end of a month; and times written as text. A service goes
 * by the clock of its store: nodes by that of their database, the embedded store by the machine's, which may be wrong.
 */

import { assert } from "./assert.ts";

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

/** The clock that a service goes by. */
export interface ServiceClock extends Clock {
  /** The moment up to which may be removed what has ended: not later than now. */
  settledMs(): number;
  /** How far the machine's own clock is ahead; negative where it is behind. */
  readonly aheadMs: number;
}

/** A clock that is always right. */
export function trusted(clock: Clock): ServiceClock {
  return { now: () => clock.now(), settledMs: () => clock.now(), aheadMs: 0 };
}

/** The clock of another machine: the monotonic clock of this one, and an offset by what the other one said. */
export class CorrectedClock implements ServiceClock {
  readonly #system: Clock;
  readonly #monotonic: MonotonicClock;
  #offsetMs: number | undefined;

  constructor(system: Clock = systemClock, monotonic: MonotonicClock = monotonicClock) {
    this.#system = system;
    this.#monotonic = monotonic;
  }

  /**
   * The other clock said `saidMs`, at a moment between two of the monotonic clock. An offset that agrees with that stays, so
   * that a slow answer does not make it worse.
   */
  measure(saidMs: number, sentMs: number, receivedMs: number): void {
    assert(sentMs <= receivedMs, "an answer comes after its question");
    const [least, most] = [saidMs - receivedMs, saidMs - sentMs];
    this.#offsetMs = Math.min(most, Math.max(least, this.#offsetMs ?? (least + most) / 2));
  }

  now(): number {
    assert(this.#offsetMs !== undefined, "the other clock was asked");
    return Math.floor(this.#monotonic.now() + this.#offsetMs);
  }

  /** Both clocks agree that it has passed: the other one may be wrong, too. */
  settledMs(): number {
    return Math.min(this.now(), this.#system.now());
  }

  get aheadMs(): number {
    return this.#system.now() - this.now();
  }
}

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

/** What a SteadyClock knows, to be kept while it does not run. */
export interface ClockNote {
  readonly believedMs: number;
  /** The first moment after a jump that is not believed yet. */
  readonly jumpedToMs?: number | undefined;
}

/**
 * A machine's clock that may be wrong. It does not go back. A jump of more than a day, ahead or back, is believed when the
 * clock has stayed there for an hour: until then nothing is removed because of it. Ahead it shows the time all the same,
 * since a machine may have been off for days.
 */
export class SteadyClock implements ServiceClock {
  readonly #system: Clock;
  #note: ClockNote;
  readonly aheadMs = 0;

  constructor(system: Clock, note: ClockNote = { believedMs: system.now() }) {
    this.#system = system;
    this.#note = note;
  }

  now(): number {
    return Math.max(this.#look(), this.#note.believedMs);
  }

  settledMs(): number {
    return Math.min(this.#look(), this.#note.believedMs);
  }

  get note(): ClockNote {
    return this.#note;
  }

  #look(): number {
    const nowMs = this.#system.now();
    const { believedMs, jumpedToMs = nowMs } = this.#note;
    if (Math.abs(nowMs - believedMs) <= DAY_MS) this.#note = { believedMs: Math.max(nowMs, believedMs) };
    else if (nowMs - jumpedToMs < HOUR_MS)
      // A clock that is set back has not stayed there.
      this.#note = { believedMs, jumpedToMs: Math.min(jumpedToMs, nowMs) };
    else {
      this.#note = { believedMs: jumpedToMs };
      this.#look();
    }
    return nowMs;
  }
}

/** From so much on a machine's clock is reported as wrong, and from so much on its node takes no traffic. */
const [WRONG_MS, STOPPED_MS] = [2_000, 60_000];

/** What is wrong with the machine's own clock, for the operator. */
export function clockFault({
  aheadMs,
}: Pick<ServiceClock, "aheadMs">): { readonly line: string; readonly stops: boolean } | undefined {
  const offMs = Math.abs(aheadMs);
  if (offMs <= WRONG_MS) return undefined;
  const stops = offMs > STOPPED_MS;
  const way = aheadMs > 0 ? "ahead of" : "behind";
  const line = `This node's clock is ${(offMs / 1000).toFixed(1)} s ${way} the database's: set it right (NTP).`;
  return { line: stops ? `${line} Until then this node takes no traffic.` : line, stops };
}

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
