/**
 * Short-lived tokens for pages and devices: `sbt_`, then key id, user, access, end, groups and labels to write as JSON in base64url, a dot, and
 * an HMAC-SHA256 of all before it. Nothing is stored. The secrets are derived from the master keys, which all nodes have:
 * that of the last makes tokens, and those of all that do more than open blocks are taken.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { elementAt } from "../base/assert.ts";
import type { KeyAccess } from "./records.ts";

/** For whom a token is, and until when. */
interface TokenContent {
  /** The key that it was made with: it ends with that key, and counts to it. */
  readonly keyId: string;
  readonly user: string;
  readonly access: KeyAccess;
  readonly expiresAtMs: number;
  /** Those of the key where undefined. */
  readonly groups?: string | undefined;
  /** The labels that it may write; those of the key where undefined. */
  readonly write?: string | undefined;
}

/** null: not limited. */
type TokenLimits = [groups?: string | null | undefined, write?: string];
type Parts = [keyId: string, user: string, access: KeyAccess, expiresAtMs: number, ...TokenLimits];

const PREFIX = "sbt_";
/** A user_id of 128 characters, each of four bytes, 32 groups and 32 labels stay below it. */
const LENGTH_MAX = 5_120;

/** Whether a text is meant as a token; a key never is. */
export function isToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

export class Tokens {
  readonly #secrets: readonly Uint8Array[];

  /** @param secrets the last one makes tokens */
  constructor(secrets: readonly Uint8Array[]) {
    this.#secrets = secrets;
  }

  make({ keyId, user, access, expiresAtMs, groups, write }: TokenContent): string {
    const limits: TokenLimits = write === undefined ? [groups] : [groups ?? null, write];
    const content = JSON.stringify([
      keyId,
      user,
      access,
      expiresAtMs,
      ...limits.filter((limit) => limit !== undefined),
    ]);
    const head = PREFIX + Buffer.from(content).toString("base64url");
    return `${head}.${seal(head, elementAt(this.#secrets, this.#secrets.length - 1))}`;
  }

  /** What a token says; undefined where it was not made here. Whether it has ended is not looked at. */
  read(token: string): TokenContent | undefined {
    const dot = token.lastIndexOf(".");
    if (token.length > LENGTH_MAX || dot < 0) return undefined;
    const head = token.slice(0, dot);
    const found = Buffer.from(token.slice(dot + 1));
    const isOf = (secret: Uint8Array) => {
      const expected = Buffer.from(seal(head, secret));
      return expected.length === found.length && timingSafeEqual(expected, found);
    };
    if (!this.#secrets.some(isOf)) return undefined;
    const content = Buffer.from(head.slice(PREFIX.length), "base64url").toString();
    const [keyId, user, access, expiresAtMs, groups, write] = JSON.parse(content) as Parts;
    const limits = { ...(groups == null ? {} : { groups }), ...(write === undefined ? {} : { write }) };
    return { keyId, user, access, expiresAtMs, ...limits };
  }
}

function seal(head: string, secret: Uint8Array): string {
  return createHmac("sha256", secret).update(head).digest("base64url");
}
