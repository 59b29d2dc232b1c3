/**
 * The tokens of a grant: `sba_` for access, `sbr_` to get the next ones, then id and terms as JSON in base64url, a dot, and an
 * HMAC-SHA256 of all before it and of what the store has of the grant. So nothing of a token is stored, the same one can
 * be made again, and neither the store nor the master key makes one alone.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { assert } from "../base/assert.ts";
import { isIdentifier } from "./identifiers.ts";
import type { KeyAccess, KeyRecord } from "./records.ts";

export const ACCESS_TOKEN_PREFIX = "sba_";
const REFRESH_TOKEN_PREFIX = "sbr_";
const LENGTH_MAX = 512;
/** More refresh tokens of a grant are not used in a minute. */
export const RECENT_REFRESHES_MAX = 32;
/** The refreshes of a grant whose code was not exchanged: no token was made of it. */
export const NOT_BEGUN = -1;

/** What an access token says of itself; whose it is, its grant says. */
interface AccessTerms {
  readonly id: string;
  readonly expiresAtMs: number;
  /** Not more than that of the grant. */
  readonly access: KeyAccess;
}

/** How many of its grant's refresh tokens were used before this one. */
interface RefreshTerms {
  readonly id: string;
  readonly refreshes: number;
}

/** The grant that a token belongs to. Its hash is no key's: it is random, and in the store alone. */
type Grant = Pick<KeyRecord, "id" | "hash">;

export function isAccessToken(text: string): boolean {
  return text.startsWith(ACCESS_TOKEN_PREFIX);
}

export class GrantTokens {
  readonly #secrets: readonly Uint8Array[];

  /** @param secrets the last makes tokens, and those of all are taken (KeyRing) */
  constructor(secrets: readonly Uint8Array[]) {
    assert(secrets.length > 0, "tokens have a secret");
    this.#secrets = secrets;
  }

  access(grant: Grant, { expiresAtMs, access }: Omit<AccessTerms, "id">): string {
    return this.#made(ACCESS_TOKEN_PREFIX, [grant.id, expiresAtMs, access], grant);
  }

  refresh(grant: Grant, refreshes: number): string {
    return this.#made(REFRESH_TOKEN_PREFIX, [grant.id, refreshes], grant);
  }

  /** What an access token says, not checked yet: whether it is genuine is seen with its grant. */
  accessTerms(token: string): AccessTerms | undefined {
    const [id, expiresAtMs, access] = contentOf(token, ACCESS_TOKEN_PREFIX);
    if (!isId(id) || typeof expiresAtMs !== "number") return undefined;
    return access === "read" || access === "write" ? { id, expiresAtMs, access } : undefined;
  }

  /** The same of a refresh token. */
  refreshTerms(token: string): RefreshTerms | undefined {
    const [id, refreshes] = contentOf(token, REFRESH_TOKEN_PREFIX);
    return isId(id) && typeof refreshes === "number" ? { id, refreshes } : undefined;
  }

  /** Whether a token was made here for this grant. */
  isGenuine(token: string, grant: Grant): boolean {
    const dot = token.lastIndexOf(".");
    const [head, found] = [token.slice(0, dot), Buffer.from(token.slice(dot + 1))];
    return this.#secrets.some((secret) => {
      const expected = Buffer.from(sealOf(secret, head, grant));
      return expected.length === found.length && timingSafeEqual(expected, found);
    });
  }

  #made(prefix: string, content: readonly unknown[], grant: Grant): string {
    const head = prefix + Buffer.from(JSON.stringify(content)).toString("base64url");
    return `${head}.${sealOf(this.#secrets[this.#secrets.length - 1], head, grant)}`;
  }
}

function sealOf(secret: Uint8Array, head: string, { hash }: Grant): string {
  return createHmac("sha256", secret).update(`${head}\0${hash}`).digest("base64url");
}

/** A store is asked for the grant before the seal can be checked: no text goes there that no store can hold. */
function isId(id: unknown): id is string {
  return typeof id === "string" && isIdentifier(id);
}

function contentOf(token: string, prefix: string): readonly unknown[] {
  const dot = token.lastIndexOf(".");
  if (!token.startsWith(prefix) || token.length > LENGTH_MAX || dot < 0) return [];
  try {
    const content = JSON.parse(Buffer.from(token.slice(prefix.length, dot), "base64url").toString());
    return Array.isArray(content) ? content : [];
  } catch {
    return [];
  }
}
