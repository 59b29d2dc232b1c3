/**
 * Knows the version of the keys without asking at every request: told by the database as soon as another node
 * has changed one (LISTEN), and asked for every second in case the word was lost, or goes through a pooler that
 * has none. A version that could not be confirmed for a while is not trusted: the caller then asks, and
 * fails where the database is away, so that a revoked key stops working within five seconds everywhere.
 */

import type { MonotonicClock } from "../../base/clock.ts";
import type { Database } from "./database.ts";
import { KEYS_CHANNEL, keysVersion } from "./key-queries.ts";

const POLL_MS = 1_000;
const TRUSTED_MS = 4_000;

export class KeysWatch {
  readonly #database: Database;
  readonly #monotonic: MonotonicClock;
  #version = 0;
  #confirmedMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database, monotonic: MonotonicClock) {
    this.#database = database;
    this.#monotonic = monotonic;
  }

  async start(): Promise<void> {
    await this.#ask();
    this.#timer = setInterval(() => this.#askQuietly(), POLL_MS);
    this.#timer.unref();
    const hear = () => this.#askQuietly();
    await this.#database.listen(KEYS_CHANNEL, hear, hear);
  }

  /** At once while it is trusted. */
  version(): number | Promise<number> {
    return this.#monotonic.now() - this.#confirmedMs < TRUSTED_MS ? this.#version : this.#ask();
  }

  /** What this node has done itself. Versions only grow: an answer asked for earlier may arrive later. */
  note(version: number): void {
    this.#version = Math.max(this.#version, version);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #askQuietly(): void {
    this.#ask().catch(() => {});
  }

  /** Confirmed as of the moment of asking: a change while the answer travels is not in it. */
  async #ask(): Promise<number> {
    const startedMs = this.#monotonic.now();
    this.note(await this.#database.read(keysVersion()));
    this.#confirmedMs = Math.max(this.#confirmedMs, startedMs);
    return this.#version;
  }
}
