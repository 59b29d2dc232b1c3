/**
 * Workers of a cluster that hang: no connection breaks, and nothing answers. A call that waits for one takes up
 * connections, and a write keeps the counter of its key locked for all users of the key. So after the first call that
 * ran into its time limit, the users of the worker are refused at once, until it answers a question about one of them.
 */

import { setTimeout } from "node:timers/promises";
import { Failure } from "../../../base/errors.ts";
import type { Database } from "../connection/database.ts";
import { isTimedOut, unavailable } from "../connection/database-failure.ts";
import type { SlotWorkers } from "./slot-workers.ts";

/** Between two questions: Citus keeps a connection for each one that was not answered until the worker is back. */
const AGAIN_MS = 5_000;

export class HungWorkers {
  readonly #database: Database;
  readonly #workers: SlotWorkers;
  readonly #hung = new Set<number>();
  #stopped = false;

  constructor(database: Database, workers: SlotWorkers) {
    this.#database = database;
    this.#workers = workers;
  }

  /** Runs a call that needs the worker of the slot only; refuses it where that one hangs. */
  async guard<T>(slot: number, call: () => Promise<T>): Promise<T> {
    const worker = this.#workers.of(slot);
    if (this.#hung.has(worker)) throw unavailable("The machine that holds this user does not answer.");
    try {
      return await call();
    } catch (error) {
      const cause = error instanceof Failure ? error.extra.cause : error;
      // A lock that somebody else holds for long ends in the same way; then the question is answered at once.
      if (this.#workers.areMany && isTimedOut(cause) && !this.#hung.has(worker)) {
        this.#hung.add(worker);
        void this.#untilItAnswers(worker, slot);
      }
      throw error;
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  async #untilItAnswers(worker: number, slot: number): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#database.read((sql) => sql`SELECT 1 FROM sideband.users WHERE slot = ${slot} LIMIT 1`);
        break;
      } catch {
        await setTimeout(AGAIN_MS, undefined, { ref: false });
      }
    }
    this.#hung.delete(worker);
  }
}
