/**
 * Wakes up when the next fact expires, so that its end is told at once and not with the next sweep. It knows the ends that
 * this process writes, and asks the store for the next one whenever it wakes up: after each end, and from time to time
 * for those of other nodes, and for a clock that was set.
 */

import type { Clock } from "../base/clock.ts";
import type { Store } from "../memory/ports.ts";
import { StoreLayer } from "../memory/store-layer.ts";

/** Ends what is due. Resolves to how many facts have ended, and to when the next one will. */
type ExpireDue = () => Promise<{ readonly count: number; readonly nextMs: number | undefined }>;

/** The longest sleep. Far below the 2^31 ms above which a timer of Node fires at once. */
const SLEEP_MS_MAX = 30_000;
/** Ends that come close together are one piece of work. */
const SLEEP_MS_MIN = 100;
/** What is due and cannot be ended now, is tried again after this time. */
const RETRY_MS = 1_000;

export class ExpiryTimer {
  readonly #clock: Clock;
  readonly #delayMs: () => number;
  #nextMs = Number.POSITIVE_INFINITY;
  #endDue: ExpireDue | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running = false;

  /** @param delayMs how much later ends count that this process did not write: where nodes share them, each another time */
  constructor(clock: Clock, delayMs: () => number) {
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  /** A store whose writes are looked through for ends. */
  watched(store: Store): Store {
    const noted = new StoreLayer(store);
    noted.write = async (request) => {
      try {
        const outcome = await store.write(request);
        if (outcome.outcome === "stored") this.#noteAll(outcome.changes);
        return outcome;
      } catch (error) {
        // It may be stored all the same.
        this.#noteAll(request.changes.flatMap((change) => ("expiresAtMs" in change ? [change] : [])));
        throw error;
      }
    };
    return noted;
  }

  /** @returns stops it */
  start(endDue: ExpireDue): () => void {
    this.#endDue = endDue;
    void this.#wake();
    return () => {
      this.#endDue = undefined;
      clearTimeout(this.#timer);
    };
  }

  #noteAll(changes: readonly { readonly expiresAtMs?: number | null }[]): void {
    for (const { expiresAtMs } of changes) if (expiresAtMs != null) this.#note(expiresAtMs);
  }

  /** A fact that expires at this moment was written. */
  #note(endMs: number): void {
    // What is due already is under way.
    if (this.#nextMs <= Math.max(endMs, this.#clock.now())) return;
    this.#nextMs = endMs;
    this.#sleep(SLEEP_MS_MIN);
  }

  async #wake(): Promise<void> {
    const endDue = this.#endDue;
    if (endDue === undefined) return;
    this.#running = true;
    // What is noted from here on may be missing in the answer.
    this.#nextMs = Number.POSITIVE_INFINITY;
    const { count, nextMs } = await endDue().catch(() => ({ count: 0, nextMs: this.#clock.now() }));
    this.#running = false;
    this.#nextMs = Math.min(this.#nextMs, (nextMs ?? Number.POSITIVE_INFINITY) + this.#delayMs());
    const isStuck = count === 0 && this.#nextMs <= this.#clock.now();
    this.#sleep(isStuck ? RETRY_MS : SLEEP_MS_MIN);
  }

  #sleep(msMin: number): void {
    if (this.#endDue === undefined || this.#running) return;
    clearTimeout(this.#timer);
    const ms = Math.min(Math.max(this.#nextMs - this.#clock.now(), msMin), SLEEP_MS_MAX);
    this.#timer = setTimeout(() => void this.#wake(), ms).unref();
  }
}
