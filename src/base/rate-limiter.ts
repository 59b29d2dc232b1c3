/**
 * A limit on requests for each caller (an address, a key) in a window of time that begins with the first request.
 * Bounded in memory: when too many callers are known, those seen longest ago are forgotten.
 */

import { BoundedCache } from "./bounded-cache.ts";
import type { MonotonicClock } from "./clock.ts";
import { Failure } from "./errors.ts";

const CALLERS_MAX = 100_000;

interface Window {
  readonly startMs: number;
  count: number;
}

export class RateLimiter {
  readonly #windows = new BoundedCache<Window>({ entriesMax: CALLERS_MAX });
  readonly #countMax: number;
  readonly #windowMs: number;
  readonly #clock: MonotonicClock;

  constructor(options: { countMax: number; windowMs: number; clock: MonotonicClock }) {
    this.#countMax = options.countMax;
    this.#windowMs = options.windowMs;
    this.#clock = options.clock;
  }

  /** What is left to a caller, and how long its window lasts. */
  standing(caller: string): { limit: number; remaining: number; windowS: number; resetInMs: number } {
    const nowMs = this.#clock.now();
    const { startMs, count } = this.#windows.get(caller) ?? { startMs: nowMs, count: 0 };
    const remaining = Math.max(0, this.#countMax - count);
    const resetInMs = startMs + this.#windowMs - nowMs;
    return { limit: this.#countMax, remaining, windowS: this.#windowMs / 1000, resetInMs };
  }

  /** Seconds to wait, or 0 where `count` operations may pass; they are counted then. */
  take(caller: string, count = 1): number {
    const window = this.#windowOf(caller);
    const waitS = this.#waitS(window, count);
    if (waitS > 0) return waitS;
    if (window === undefined) this.#windows.set(caller, { startMs: this.#clock.now(), count });
    else window.count += count;
    return 0;
  }

  /** Seconds until an operation may pass, or 0 where it may now; nothing is counted. */
  waitS(caller: string): number {
    return this.#waitS(this.#windowOf(caller), 1);
  }

  #waitS(window: Window | undefined, count: number): number {
    if ((window?.count ?? 0) + count <= this.#countMax) return 0;
    const leftMs =
      window === undefined ? this.#windowMs : window.startMs + this.#windowMs - this.#clock.now();
    return Math.max(1, Math.ceil(leftMs / 1000));
  }

  /** The window that is open. */
  #windowOf(caller: string): Window | undefined {
    const window = this.#windows.get(caller);
    const agedMs = window === undefined ? 0 : this.#clock.now() - window.startMs;
    return agedMs >= 0 && agedMs < this.#windowMs ? window : undefined;
  }
}

export function enforce(limiter: RateLimiter, caller: string, count = 1): void {
  const waitS = limiter.take(caller, count);
  if (waitS > 0) throw tooMany(waitS);
}

export function tooMany(waitS: number): Failure {
  return new Failure("rate_limited", `Too many requests: try again in ${waitS} s.`, { retryAfterS: waitS });
}
