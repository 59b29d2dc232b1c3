/**
 * The workers of a cluster: which of them holds the users of a slot, and which hang.
 *
 * Where a worker fails, the writes of its users are committed apart. A rebalance moves slots between workers, so this is read
 * again from time to time. A worker that hangs breaks no connection and answers nothing: a call that waits for it takes up
 * connections, and a write keeps the counter of its key locked for all users of the key. So after the first call that ran
 * into its time limit, the users of the worker are refused at once, until it answers a question about one of them.
 */

import { setTimeout } from "node:timers/promises";
import { assertInteger } from "../../../base/assert.ts";
import { Failure } from "../../../base/errors.ts";
import type { Database } from "../connection/database.ts";
import { isTimedOut, unavailable } from "../connection/database-failure.ts";
import { readWorkers } from "./distribution.ts";
import { SLOT_COUNT } from "./placement.ts";

const AGAIN_MS = 10_000;

export class SlotWorkers {
  readonly #database: Database;
  #workers: readonly number[] | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  async start(): Promise<void> {
    await this.#read();
    this.#timer = setInterval(() => this.#read().catch(() => {}), AGAIN_MS);
    this.#timer.unref();
  }

  /** A single PostgreSQL is worker 0. */
  of(slot: number): number {
    assertInteger(slot, 0, SLOT_COUNT - 1, "slot");
    return this.#workers?.[slot] ?? 0;
  }

  get areMany(): boolean {
    return this.#workers !== undefined;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    this.#workers = await this.#database.read(readWorkers());
  }
}

/** Between two questions: Citus keeps a connection for each one that was not answered until the worker is back. */
const ASK_AGAIN_MS = 5_000;

export class UnresponsiveWorkers {
  readonly #database: Database;
  readonly #workers: SlotWorkers;
  readonly #hung = new Set<number>();
  #stopped = false;

  constructor(database: Database, workers: SlotWorkers) {
    this.#database = database;
    this.#workers = workers;
  }

  /** Runs a call that needs the worker of the slot only; refuses it where that one hangs. */
  async guard<T>(slotOf: () => number, call: () => Promise<T>): Promise<T> {
    if (!this.#workers.areMany) return call();
    const slot = slotOf();
    const worker = this.#workers.of(slot);
    if (this.#hung.has(worker)) throw unavailable("The machine that holds this user does not answer.");
    try {
      return await call();
    } catch (error) {
      const cause = error instanceof Failure ? error.extra.cause : error;
      // A lock that somebody else holds for long ends in the same way; then the question is answered at once.
      if (isTimedOut(cause) && !this.#hung.has(worker)) {
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
        await setTimeout(ASK_AGAIN_MS, undefined, { ref: false });
      }
    }
    this.#hung.delete(worker);
  }
}
