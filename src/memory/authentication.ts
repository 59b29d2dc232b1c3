/**
 * From an API key, or a token, to its caller. Of a key the checksum is tried first, then the SHA-256 is looked up; of a
 * token its seal, then the key that it was made with. Results are cached by the key's text or id, bounded, and dropped
 * as soon as the store says that any key has changed, so that a revocation holds at once, for the key's tokens too.
 */

import { TIER_LIMITS, type Tier } from "../base/accounts.ts";
import { BoundedCache } from "../base/bounded-cache.ts";
import type { Clock } from "../base/clock.ts";
import { ERRORS } from "../base/error-codes.ts";
import { Failure, invalidRequest } from "../base/errors.ts";
import { type Groups, groupsOf } from "../base/groups.ts";
import { type LabelPatterns, labelPatterns, patternsOf } from "../base/label-patterns.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { type GrantTokens, isAccessToken } from "./grant-tokens.ts";
import { checkIdentifier } from "./identifiers.ts";
import { hashOfKey, isWellFormedKey } from "./key-format.ts";
import { callerEndMs, LiveCallers } from "./live-callers.ts";
import type { KeyStore } from "./ports.ts";
import { accountCounter } from "./quota.ts";
import type { AccountRecord, KeyAccess, KeyGrant, KeyRecord } from "./records.ts";
import { allowedUser, requireWriteAccess } from "./rights.ts";
import { isToken, type Tokens } from "./tokens.ts";

export interface Caller {
  readonly account: string;
  readonly keyId: string;
  readonly tier: Tier | "owner";
  /** Encodes a month, or null. */
  readonly limit: number | null;
  /** What they are counted by, where it is not the key: all keys of the account together. */
  readonly counter?: string | undefined;
  readonly expiresAtMs: number | null;
  /** The one user whose facts the key is for; null: all users of the account. */
  readonly user: string | null;
  readonly access: KeyAccess;
  /** The groups of labels that it is for; undefined: all. */
  readonly groups?: Groups | undefined;
  /** The labels that it may write; undefined: all. */
  readonly write?: LabelPatterns | undefined;
  /** Where the caller has no key but a token that was made with it. */
  readonly token?: CallerToken | undefined;
}

export interface CallerToken {
  readonly expiresAtMs: number;
  /** Of an application's token: the key of its grant, and the address that it is for. */
  readonly grantId?: string;
  readonly resource?: string;
}

export interface TokenRequest {
  readonly user: string;
  readonly access: KeyAccess;
  readonly ttlS: number;
  /** Fewer groups of labels than the key is for. */
  readonly groups?: string | undefined;
  /** Fewer labels than the key may write. */
  readonly write?: readonly string[] | undefined;
}

/** A key as it is known; of a grant also what its tokens are checked with. */
interface KnownCaller extends Caller {
  readonly granted?: { readonly id: string; readonly hash: string; readonly grant: KeyGrant };
}

type Find = () => MaybePromise<KeyRecord | undefined>;

const CACHE_ENTRIES_MAX = 10_000;

export class Authentication {
  readonly #keys: KeyStore;
  readonly #clock: Clock;
  readonly #tokens: Tokens;
  readonly #grants: GrantTokens | undefined;
  readonly #byText = new BoundedCache<KnownCaller>({ entriesMax: CACHE_ENTRIES_MAX });
  /** Apart from the others: a key's id is no secret, and opens nothing. */
  readonly #byId = new BoundedCache<KnownCaller>({ entriesMax: CACHE_ENTRIES_MAX });
  readonly #live: LiveCallers<Caller>;
  readonly #used = new Map<string, number>();
  #version = -1;

  /** @param grants undefined where applications get no tokens: then none is valid */
  constructor(keys: KeyStore, clock: Clock, tokens: Tokens, grants?: GrantTokens) {
    this.#keys = keys;
    this.#grants = grants;
    this.#clock = clock;
    this.#tokens = tokens;
    const version = async () => keys.keysVersion();
    this.#live = new LiveCallers({ clock, version, untilMs: (caller) => this.liveUntil(caller) });
  }

  /** The caller of a key or a token. Throws a Failure where it is not valid. */
  callerOf(credential: string): MaybePromise<Caller> {
    if (isToken(credential)) return this.#callerOfToken(credential);
    if (isAccessToken(credential)) return this.#callerOfGrant(credential);
    const find = () => (isWellFormedKey(credential) ? this.#keys.findKey(hashOfKey(credential)) : undefined);
    return andThen(this.#known(this.#byText, credential, find), (caller) => this.#use(caller));
  }

  /** An application's client refreshes its token at a 401, so that is the answer whatever has ended. */
  async #callerOfGrant(text: string): Promise<Caller> {
    try {
      return await this.#allowedCaller(text);
    } catch (error) {
      if (!(error instanceof Failure) || ERRORS[error.code].status >= 500) throw error;
      throw new Failure(
        "invalid_key",
        "This access token is not valid any more: refresh it, or connect again.",
      );
    }
  }

  async #allowedCaller(text: string): Promise<Caller> {
    const terms = this.#grants?.accessTerms(text);
    if (terms === undefined) throw new Failure("invalid_key", "This is no access token.");
    const known = await this.#keyById(terms.id);
    const { granted, user, groups } = known;
    if (granted === undefined || !this.#grants!.isGenuine(text, granted))
      throw new Failure("invalid_key", "This is no access token.");
    const { keyId, resource } = granted.grant;
    const access = terms.access === "read" ? terms.access : known.access;
    const caller = narrowed(await this.#keyById(keyId), { user, access, groups });
    const expiresAtMs = Math.min(terms.expiresAtMs, known.expiresAtMs ?? Number.POSITIVE_INFINITY);
    const token = { expiresAtMs, grantId: terms.id, resource };
    const used = this.#use({ ...caller, token });
    this.#used.set(terms.id, this.#clock.now());
    return used;
  }

  #callerOfToken(text: string): MaybePromise<Caller> {
    const token = this.#tokens.read(text);
    if (token === undefined) throw new Failure("invalid_key", "This token is not valid.");
    const { user, access, expiresAtMs } = token;
    const groups = groupsOf(token.groups);
    const write = patternsOf(token.write);
    return andThen(this.#keyById(token.keyId), (key) => {
      return this.#use({ ...narrowed(key, { user, access, groups, write }), token: { expiresAtMs } });
    });
  }

  /** A short-lived token, for one user and with no more rights than the caller has. */
  newToken(
    caller: Caller,
    { user, access, ttlS, groups, write }: TokenRequest,
  ): { token: string; expiresAtMs: number } {
    if (caller.token !== undefined)
      throw new Failure("user_not_allowed", "A token makes no tokens. The account's own key is needed.");
    if (caller.tier === "owner") throw new Failure("missing_key", "A token is made with an API key.");
    checkIdentifier(user, "user_id");
    allowedUser(caller, user);
    if (write !== undefined && access === "read")
      throw invalidRequest(
        "write",
        "write says what a token may write: leave it out of one that only reads.",
      );
    const within = { groups: groupsOf(groups)?.text, write: write && labelPatterns(write).text };
    // A bound reading key may make reading tokens for its own user. A key for all users makes tokens only if it may write.
    if (access === "write" || caller.user === null) requireWriteAccess(caller);
    const { keyId, expiresAtMs: keyExpiresAtMs } = caller;
    const expiresAtMs = Math.min(this.#clock.now() + ttlS * 1000, keyExpiresAtMs ?? Number.POSITIVE_INFINITY);
    return { token: this.#tokens.make({ keyId, user, access, expiresAtMs, ...within }), expiresAtMs };
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
      const { expiresAtMs } = token?.grantId === undefined ? {} : await this.#keyById(token.grantId);
      return Math.min(
        expiresAtMs ?? Number.POSITIVE_INFINITY,
        callerEndMs({ ...(await this.#keyById(keyId)), token }),
      );
    } catch (error) {
      if (error instanceof Failure && ERRORS[error.code].status < 500) return Number.NEGATIVE_INFINITY;
      throw error;
    }
  }

  /** The caller of a key by its id. Throws a Failure where it is not valid, or no key but a grant. */
  async holderOf(keyId: string): Promise<Caller> {
    const caller = await this.#keyById(keyId);
    if (caller.granted !== undefined) throw new Failure("invalid_key", "This is no key.");
    this.#refuseExpired(caller);
    return caller;
  }

  #keyById(keyId: string): MaybePromise<KnownCaller> {
    return this.#known(this.#byId, keyId, () => this.#keys.readKey(keyId));
  }

  #known(cache: BoundedCache<KnownCaller>, name: string, find: Find): MaybePromise<KnownCaller> {
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

  async #lookUp(
    cache: BoundedCache<KnownCaller>,
    name: string,
    version: number,
    find: Find,
  ): Promise<KnownCaller> {
    const record = await find();
    const caller = callerWith(record, record && (await this.#keys.readAccount(record.account)));
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

/** What a key's token allows: no more than the key does. */
function narrowed(
  key: KnownCaller,
  { user, access, groups, write }: Pick<Caller, "user" | "access" | "groups" | "write">,
): Caller {
  if (key.user !== null && key.user !== user) throw new Failure("invalid_key", "This token is not valid.");
  const within = {
    ...(groups && { groups: key.groups?.and(groups) ?? groups }),
    ...(write && { write: key.write?.and(write) ?? write }),
  };
  return { ...key, user, access: key.access === "read" ? "read" : access, ...within };
}

function callerWith(record: KeyRecord | undefined, whole: AccountRecord | undefined): KnownCaller {
  if (record === undefined) throw new Failure("invalid_key", "This API key is not valid.");
  if (record.revokedAtMs !== null) throw new Failure("key_revoked", "This API key has been revoked.");
  const { account, id: keyId, tier, expiresAtMs, user, access, hash, grant } = record;
  const groups = groupsOf(record.groups);
  const write = patternsOf(record.write);
  const monthlyLimit = whole?.monthlyLimit;
  const limited =
    monthlyLimit === undefined
      ? { limit: TIER_LIMITS[tier] }
      : { limit: monthlyLimit, counter: accountCounter(account) };
  const caller = { account, keyId, tier, ...limited, expiresAtMs, user, access };
  const limits = { ...caller, ...(groups && { groups }), ...(write && { write }) };
  return grant === undefined ? limits : { ...limits, granted: { id: keyId, hash, grant } };
}
