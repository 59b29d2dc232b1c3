/**
 * Which worker of a cluster holds the users of a slot: where one fails, the writes of its users are committed apart. A
 * rebalance moves slots between workers, so this is read again from time to time.
 */

import type { Database } from "./database.ts";
import { readWorkers } from "./distribution.ts";

const AGAIN_MS = 10_000;

export class SlotWorkers {
  #workers: readonly number[] | undefined;
  readonly #timer: NodeJS.Timeout;

  private constructor(workers: readonly number[] | undefined, again: () => void) {
    this.#workers = workers;
    this.#timer = setInterval(again, AGAIN_MS);
    this.#timer.unref();
  }

  static async read(database: Database): Promise<SlotWorkers> {
    const known = new SlotWorkers(await database.read(readWorkers()), () => {
      database
        .read(readWorkers())
        .then((workers) => {
          known.#workers = workers;
        })
        .catch(() => {});
    });
    return known;
  }

  /** A single PostgreSQL is worker 0. */
  of(slot: number): number {
    return this.#workers?.[slot] ?? 0;
  }

  get areMany(): boolean {
    return this.#workers !== undefined;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
