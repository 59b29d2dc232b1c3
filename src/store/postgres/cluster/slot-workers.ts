/**
 * Which worker of a cluster holds the users of a slot: where one fails, the writes of its users are committed apart. A
 * rebalance moves slots between workers, so this is read again from time to time.
 */

import { assertInteger } from "../../../base/assert.ts";
import type { Database } from "../connection/database.ts";
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
