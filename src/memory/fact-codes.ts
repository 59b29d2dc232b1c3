/**
 * Code bits in the background: soon after an encode, the workers compute the code of each new fact, and it is
 * kept with the fact. Work that is not done in time is no loss, context and flush do it on demand; so the
 * queue is short and what does not fit is dropped.
 */

import type { FactStore, Workshop } from "./ports.ts";

const WAITING_MAX = 1_000;
const SETTLE_MS = 20;
/** So long after the last encode the service counts as busy with them. */
const BUSY_MS = 250;
const PAUSE_FACTOR = 16;

export class FactCodes {
  readonly #store: FactStore;
  readonly #workshop: Workshop;
  readonly #waiting = new Map<string, { account: string; userId: string }>();
  #running: Promise<void> | undefined;
  #closed = false;
  #scheduledMs = 0;
  #droppedMs = Number.NEGATIVE_INFINITY;

  constructor(store: FactStore, workshop: Workshop) {
    this.#store = store;
    this.#workshop = workshop;
  }

  schedule(account: string, userId: string): void {
    if (!this.#workshop.keepsCodes || this.#closed) return;
    this.#scheduledMs = performance.now();
    if (this.#waiting.size >= WAITING_MAX) {
      this.#droppedMs = this.#scheduledMs;
      return;
    }
    this.#waiting.set(`${account}\0${userId}`, { account, userId });
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#waiting.clear();
    await this.#running;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  async #run(): Promise<void> {
    // Encodes that arrive together are answered first, and a value that is written again at once is coded once.
    await pause(SETTLE_MS);
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      const startedMs = performance.now();
      try {
        const state = await this.#store.readUser(next.account, next.userId);
        const missing = state?.facts.filter(({ code }) => code?.version !== this.#workshop.version) ?? [];
        if (missing.length === 0) continue;
        const codes = await this.#workshop.encode(missing);
        await this.#store.saveCodes(next.account, next.userId, codes);
      } catch {
        // Busy workers or a store that is away: the codes are computed on demand instead.
      }
      // While encodes keep coming, nearly all of the processor's time is theirs.
      const nowMs = performance.now();
      if (nowMs - this.#scheduledMs < BUSY_MS && !this.#closed)
        await pause(PAUSE_FACTOR * (nowMs - startedMs));
      // While more come than can be followed, all of it.
      while (performance.now() - this.#droppedMs < BUSY_MS && !this.#closed) await pause(BUSY_MS);
    }
  }

  #take(): { account: string; userId: string } | undefined {
    const first = this.#waiting.entries().next();
    if (first.done) return undefined;
    this.#waiting.delete(first.value[0]);
    return first.value[1];
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
