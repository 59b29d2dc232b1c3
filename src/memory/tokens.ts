/**
 * Short-lived tokens for pages and devices: `sbt_`, then key id, user, access and end as JSON in base64url, a dot, and
 * an HMAC-SHA256 of all before it. Nothing is stored. The secret is derived from the newest master key, which all nodes
 * have: after a rotation, tokens from before count no more, so that an old master key makes none.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import type { KeyAccess } from "./records.ts";

/** For whom a token is, and until when. */
export interface TokenContent {
  /** The key that it was made with: it ends with that key, and counts to it. */
  readonly keyId: string;
  readonly user: string;
  readonly access: KeyAccess;
  readonly expiresAtMs: number;
}

const PREFIX = "sbt_";
/** A user_id of 128 characters, each of four bytes, stays below it. */
const LENGTH_MAX = 1_024;

/** Whether a text is meant as a token; a key never is. */
export function isToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

export class Tokens {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  make({ keyId, user, access, expiresAtMs }: TokenContent): string {
    const content = JSON.stringify([keyId, user, access, expiresAtMs]);
    const head = PREFIX + Buffer.from(content).toString("base64url");
    return `${head}.${this.#seal(head)}`;
  }

  /** What a token says; undefined where it was not made here. Whether it has ended is not looked at. */
  read(token: string): TokenContent | undefined {
    const dot = token.lastIndexOf(".");
    if (token.length > LENGTH_MAX || dot < 0) return undefined;
    const head = token.slice(0, dot);
    const [expected, found] = [Buffer.from(this.#seal(head)), Buffer.from(token.slice(dot + 1))];
    if (expected.length !== found.length || !timingSafeEqual(expected, found)) return undefined;
    const content = Buffer.from(head.slice(PREFIX.length), "base64url").toString();
    const [keyId, user, access, expiresAtMs] = JSON.parse(content) as [string, string, KeyAccess, number];
    return { keyId, user, access, expiresAtMs };
  }

  #seal(head: string): string {
    return createHmac("sha256", this.#secret).update(head).digest("base64url");
  }
}
