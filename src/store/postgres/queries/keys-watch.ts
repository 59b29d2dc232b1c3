/**
 * Knows the version of the keys without a query for every request. The database notifies it when another node has
 * changed a key (LISTEN). It also asks twice a second, in case a notice was lost or a pooler does not pass notices on.
 * A version that was not confirmed for 4 seconds is not trusted: the caller then waits for a query, which fails if
 * the database is away. So a revoked key stops working on every node within five seconds.
 */

import { assertInteger } from "../../../base/assert.ts";
import type { MonotonicClock } from "../../../base/clock.ts";
import type { Database } from "../connection/database.ts";
import { KEYS_CHANNEL, keysVersion } from "./key-queries.ts";

const POLL_MS = 500;
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

  /** @param listens a standby has no notices */
  async start(listens: boolean): Promise<void> {
    await this.#ask();
    this.#timer = setInterval(() => this.#askQuietly(), POLL_MS);
    this.#timer.unref();
    if (listens) await this.#database.listen(KEYS_CHANNEL, () => this.#askQuietly());
  }

  /** A number while the version is trusted, otherwise a promise; the database is asked in any case where it must be that of now. */
  version(isNow = false): number | Promise<number> {
    const isTrusted = !isNow && this.#monotonic.now() - this.#confirmedMs < TRUSTED_MS;
    return isTrusted ? this.#version : this.#ask();
  }

  /** Takes a newer version into account. Versions only grow: an older answer may arrive later. */
  note(version: number): void {
    assertInteger(version, 0, Number.MAX_SAFE_INTEGER, "the version of the keys");
    this.#version = Math.max(this.#version, version);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #askQuietly(): void {
    this.#ask().catch(() => {});
  }

  /** Confirmed as of the moment of asking: a later change may not be in the answer. */
  async #ask(): Promise<number> {
    const startedMs = this.#monotonic.now();
    this.note(await this.#database.read(keysVersion()));
    this.#confirmedMs = Math.max(this.#confirmedMs, startedMs);
    return this.#version;
  }
}
