/**
 * From an API key to its caller. The checksum is tried first, then the SHA-256 is looked up. Results are cached by the
 * key's text, bounded, and dropped as soon as the store says that any key has changed, so that a revocation holds at
 * once.
 */

import { BoundedCache } from "../base/bounded-cache.ts";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { TIER_LIMITS, type Tier } from "../base/tiers.ts";
import { hashOfKey, isWellFormedKey } from "./key-format.ts";
import type { KeyAccess, KeyStore } from "./ports.ts";

export interface Caller {
  readonly account: string;
  readonly keyId: string;
  readonly tier: Tier | "owner";
  /** Encodes a month, or null. */
  readonly limit: number | null;
  readonly expiresAtMs: number | null;
  /** The one user whose facts the key is for; null: all users of the account. */
  readonly user: string | null;
  readonly access: KeyAccess;
}

const CACHE_ENTRIES_MAX = 10_000;

export class Authentication {
  readonly #keys: KeyStore;
  readonly #clock: Clock;
  readonly #cache = new BoundedCache<Caller>({ entriesMax: CACHE_ENTRIES_MAX });
  readonly #used = new Map<string, number>();
  #version = -1;

  constructor(keys: KeyStore, clock: Clock) {
    this.#keys = keys;
    this.#clock = clock;
  }

  /** The caller of a key. Throws a Failure where the key is not valid. */
  callerOf(key: string): MaybePromise<Caller> {
    // Read before the look-up: a change in between empties the cache at the next call.
    return andThen(this.#keys.keysVersion(), (version) => {
      if (version !== this.#version) {
        this.#cache.clear();
        this.#version = version;
      }
      const cached = this.#cache.peek(key);
      return cached === undefined ? this.#find(key, version) : this.#use(cached);
    });
  }

  async #find(key: string, version: number): Promise<Caller> {
    const caller = await this.#lookUp(key);
    // A key that was changed during the look-up may have been read as it was before.
    if (version === this.#version) this.#cache.set(key, caller);
    return this.#use(caller);
  }

  /** Whether the key of a caller still counts: for what outlives a request. */
  async isLive({ tier, keyId }: Caller): Promise<boolean> {
    if (tier === "owner") return true;
    const record = await this.#keys.readKey(keyId);
    if (record === undefined || record.revokedAtMs !== null) return false;
    return record.expiresAtMs === null || record.expiresAtMs > this.#clock.now();
  }

  #use(caller: Caller): Caller {
    const nowMs = this.#clock.now();
    if (caller.expiresAtMs !== null && caller.expiresAtMs <= nowMs)
      throw new Failure("key_expired", "This API key has expired.");
    this.#used.set(caller.keyId, nowMs);
    return caller;
  }

  /** The last use of each key since the last call: written to the store now and then, not on every request. */
  takeUses(): ReadonlyMap<string, number> {
    const uses = new Map(this.#used);
    this.#used.clear();
    return uses;
  }

  async #lookUp(key: string): Promise<Caller> {
    const invalid = () => new Failure("invalid_key", "This API key is not valid.");
    if (!isWellFormedKey(key)) throw invalid();
    const record = await this.#keys.findKey(hashOfKey(key));
    if (record === undefined) throw invalid();
    if (record.revokedAtMs !== null) throw new Failure("key_revoked", "This API key has been revoked.");
    const { account, id: keyId, tier, expiresAtMs, user, access } = record;
    return { account, keyId, tier, limit: TIER_LIMITS[tier], expiresAtMs, user, access };
  }
}
