/**
 * Code bits in the background: soon after an encode, the workers compute the code of each new fact, and it is
 * kept with the fact. Work that is not done in time is no loss, context and flush do it on demand; so the
 * queue is short and what does not fit is dropped.
 */

import type { FactStore, Workshop } from "./ports.ts";

const WAITING_MAX = 1_000;

export class FactCodes {
  readonly #store: FactStore;
  readonly #workshop: Workshop;
  readonly #waiting = new Map<string, { account: string; userId: string }>();
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(store: FactStore, workshop: Workshop) {
    this.#store = store;
    this.#workshop = workshop;
  }

  schedule(account: string, userId: string): void {
    if (!this.#workshop.keepsCodes || this.#closed || this.#waiting.size >= WAITING_MAX) return;
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
    // Encodes that arrive together are answered first.
    await new Promise((resolve) => setImmediate(resolve));
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      try {
        const state = await this.#store.readUser(next.account, next.userId);
        const missing = state?.facts.filter(({ code }) => code?.version !== this.#workshop.version) ?? [];
        if (missing.length === 0) continue;
        const codes = await this.#workshop.encode(missing);
        await this.#store.saveCodes(next.account, next.userId, codes);
      } catch {
        // Busy workers or a store that is away: the codes are computed on demand instead.
      }
    }
  }

  #take(): { account: string; userId: string } | undefined {
    const first = this.#waiting.entries().next();
    if (first.done) return undefined;
    this.#waiting.delete(first.value[0]);
    return first.value[1];
  }
}
