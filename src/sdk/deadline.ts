/** The end of a call: its time is up, or its caller aborts it. */

import { SidebandError } from "./errors.ts";

/** The longest that a timer can take, 24.8 days. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class Deadline {
  readonly #controller = new AbortController();
  #timeoutMs = 0;
  readonly #outer: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #stop = () => this.#controller.abort();
  #late = false;
  /** What is said behind "no answer", once a write was sent. */
  doubt = "";

  constructor(timeoutMs: number, outer: AbortSignal | undefined) {
    this.#outer = outer;
    this.renew(timeoutMs);
    if (outer?.aborted) this.#stop();
    else if (outer !== undefined) onAbort(outer, this.#stop);
  }

  /** The time begins anew. */
  renew(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs;
    this.#late ||= timeoutMs === 0;
    clearTimeout(this.#timer);
    if (timeoutMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(
      () => {
        this.#late = true;
        this.#stop();
      },
      Math.min(timeoutMs, TIMER_MS_MAX),
    );
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  check(): void {
    if (this.#outer?.aborted) throw this.#outer.reason;
    if (this.#late) {
      throw new SidebandError(`no answer within ${this.#timeoutMs} ms${this.doubt}`, {
        code: "timeout",
        status: 0,
      });
    }
  }

  async pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      const { signal } = this;
      function done() {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done);
    });
    this.check();
  }

  end(): void {
    clearTimeout(this.#timer);
    if (this.#outer !== undefined) endOnAbort(this.#outer, this.#stop);
  }
}

interface AbortListener {
  readonly stops: Set<() => void>;
  readonly stopAll: () => void;
}

/** One listener for all calls on a signal: programs share one among many calls, and Node warns of the eleventh listener. */
const ABORT_LISTENERS = new WeakMap<AbortSignal, AbortListener>();

function onAbort(signal: AbortSignal, stop: () => void): void {
  let listened = ABORT_LISTENERS.get(signal);
  if (listened === undefined) {
    const stops = new Set<() => void>();
    listened = { stops, stopAll: () => stops.forEach((each) => void each()) };
    ABORT_LISTENERS.set(signal, listened);
    signal.addEventListener("abort", listened.stopAll);
  }
  listened.stops.add(stop);
}

function endOnAbort(signal: AbortSignal, stop: () => void): void {
  const listened = ABORT_LISTENERS.get(signal);
  if (!listened?.stops.delete(stop) || listened.stops.size > 0) return;
  ABORT_LISTENERS.delete(signal);
  signal.removeEventListener("abort", listened.stopAll);
}

/** What is no time is told at once. */
export function checkedTimeout(timeoutMs: number): number {
  if (timeoutMs >= 0) return timeoutMs;
  throw new RangeError(`timeoutMs is a number from 0 on, not ${timeoutMs}`);
}
