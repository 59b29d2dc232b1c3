/**
 * From an API key, or a token, to its caller. Of a key the checksum is tried first, then the SHA-256 is looked up; of a
 * token its seal, then the key that it was made with. Results are cached by the key's text or id, bounded, and dropped
 * as soon as the store says that any key has changed, so that a revocation holds at once, for the key's tokens too.
 */

import { BoundedCache } from "../base/bounded-cache.ts";
import type { Clock } from "../base/clock.ts";
import { ERRORS } from "../base/error-codes.ts";
import { Failure } from "../base/errors.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { TIER_LIMITS, type Tier } from "../base/tiers.ts";
import { checkIdentifier } from "./identifiers.ts";
import { hashOfKey, isWellFormedKey } from "./key-format.ts";
import { callerEndMs, LiveCallers } from "./live-callers.ts";
import type { KeyStore } from "./ports.ts";
import type { KeyAccess, KeyRecord } from "./records.ts";
import { allowedUser, requireWriteAccess } from "./rights.ts";
import { isToken, type TokenContent, type Tokens } from "./tokens.ts";

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
  /** Where the caller has no key but a token that was made with it. */
  readonly token?: Pick<TokenContent, "expiresAtMs"> | undefined;
}

export interface WantedToken {
  readonly user: string;
  readonly access: KeyAccess;
  readonly ttlS: number;
}

type Find = () => MaybePromise<KeyRecord | undefined>;

const CACHE_ENTRIES_MAX = 10_000;

export class Authentication {
  readonly #keys: KeyStore;
  readonly #clock: Clock;
  readonly #tokens: Tokens;
  readonly #byText = new BoundedCache<Caller>({ entriesMax: CACHE_ENTRIES_MAX });
  /** Apart from the others: a key's id is no secret, and opens nothing. */
  readonly #byId = new BoundedCache<Caller>({ entriesMax: CACHE_ENTRIES_MAX });
  readonly #live: LiveCallers<Caller>;
  readonly #used = new Map<string, number>();
  #version = -1;

  constructor(keys: KeyStore, clock: Clock, tokens: Tokens) {
    this.#keys = keys;
    this.#clock = clock;
    this.#tokens = tokens;
    const version = async () => keys.keysVersion();
    this.#live = new LiveCallers({ clock, version, untilMs: (caller) => this.liveUntil(caller) });
  }

  /** The caller of a key or a token. Throws a Failure where it is not valid. */
  callerOf(credential: string): MaybePromise<Caller> {
    if (isToken(credential)) return this.#callerOfToken(credential);
    const find = () => (isWellFormedKey(credential) ? this.#keys.findKey(hashOfKey(credential)) : undefined);
    return andThen(this.#known(this.#byText, credential, find), (caller) => this.#use(caller));
  }

  #callerOfToken(text: string): MaybePromise<Caller> {
    const token = this.#tokens.read(text);
    if (token === undefined) throw new Failure("invalid_key", "This token is not valid.");
    const { user, access, expiresAtMs } = token;
    return andThen(this.#keyById(token.keyId), (key) => {
      if (key.user !== null && key.user !== user)
        throw new Failure("invalid_key", "This token is not valid.");
      return this.#use({
        ...key,
        user,
        access: key.access === "read" ? "read" : access,
        token: { expiresAtMs },
      });
    });
  }

  /** A short-lived token, for one user and with no more rights than the caller has. */
  newToken(caller: Caller, { user, access, ttlS }: WantedToken): { token: string; expiresAtMs: number } {
    if (caller.token !== undefined)
      throw new Failure("user_not_allowed", "A token makes no tokens. The account's own key is needed.");
    if (caller.tier === "owner") throw new Failure("missing_key", "A token is made with an API key.");
    checkIdentifier(user, "user_id");
    allowedUser(caller, user);
    // A bound reading key may make reading tokens for its own user. A key for all users makes tokens only if it may write.
    if (access === "write" || caller.user === null) requireWriteAccess(caller);
    const { keyId, expiresAtMs: keyExpiresAtMs } = caller;
    const expiresAtMs = Math.min(this.#clock.now() + ttlS * 1000, keyExpiresAtMs ?? Number.POSITIVE_INFINITY);
    return { token: this.#tokens.make({ keyId, user, access, expiresAtMs }), expiresAtMs };
  }

  /**
   * Calls `onEnd` once when the key of a caller, or its token, counts no more: for what outlives a request.
   * @returns ends the watch
   */
  watch(caller: Caller, onEnd: () => void): () => void {
    return this.#live.watch(caller, onEnd);
  }

  /** Until when the key of a caller, and its token, count; a moment of the past where they do not any more. */
  async liveUntil({ tier, keyId, token }: Caller): Promise<number> {
    if (tier === "owner") return Number.POSITIVE_INFINITY;
    try {
      return callerEndMs({ ...(await this.#keyById(keyId)), token });
    } catch (error) {
      if (error instanceof Failure && ERRORS[error.code].status < 500) return Number.NEGATIVE_INFINITY;
      throw error;
    }
  }

  #keyById(keyId: string): MaybePromise<Caller> {
    return this.#known(this.#byId, keyId, () => this.#keys.readKey(keyId));
  }

  #known(cache: BoundedCache<Caller>, name: string, find: Find): MaybePromise<Caller> {
    // Read before the look-up: a change in between empties the cache at the next call.
    return andThen(this.#keys.keysVersion(), (version) => {
      if (version !== this.#version) {
        this.#byText.clear();
        this.#byId.clear();
        this.#version = version;
      }
      return cache.peek(name) ?? this.#lookUp(cache, name, version, find);
    });
  }

  async #lookUp(cache: BoundedCache<Caller>, name: string, version: number, find: Find): Promise<Caller> {
    const caller = callerWith(await find());
    // A key that was changed during the look-up may have been read as it was before.
    if (version === this.#version) cache.set(name, caller);
    return caller;
  }

  #use(caller: Caller): Caller {
    const nowMs = this.#refuseExpired(caller);
    this.#used.set(caller.keyId, nowMs);
    return caller;
  }

  #refuseExpired({ expiresAtMs, token }: Caller): number {
    const nowMs = this.#clock.now();
    if (expiresAtMs !== null && expiresAtMs <= nowMs)
      throw new Failure("key_expired", "This API key has expired.");
    if (token !== undefined && token.expiresAtMs <= nowMs)
      throw new Failure("key_expired", "This token has expired.");
    return nowMs;
  }

  /** The last use of each key since the last call: written to the store now and then, not on every request. */
  takeUses(): ReadonlyMap<string, number> {
    const uses = new Map(this.#used);
    this.#used.clear();
    return uses;
  }
}

function callerWith(record: KeyRecord | undefined): Caller {
  if (record === undefined) throw new Failure("invalid_key", "This API key is not valid.");
  if (record.revokedAtMs !== null) throw new Failure("key_revoked", "This API key has been revoked.");
  const { account, id: keyId, tier, expiresAtMs, user, access } = record;
  return { account, keyId, tier, limit: TIER_LIMITS[tier], expiresAtMs, user, access };
}
