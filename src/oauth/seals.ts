/**
 * What the service hands out and knows again without storing it: texts under a MAC (HMAC-SHA256), and sealed ones, which
 * nobody else can read (AES-256-GCM with a random nonce). Each purpose has a key of its own, so that no text serves
 * for another.
 */

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { assert } from "../base/assert.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class Seals {
  readonly #secrets: readonly Uint8Array[];

  /** @param secrets the last makes, and all are taken (KeyRing) */
  constructor(secrets: readonly Uint8Array[]) {
    assert(secrets.length > 0, "seals have a secret");
    this.#secrets = secrets;
  }

  mac(purpose: string, text: string): string {
    return macOf(this.#newest, purpose, text);
  }

  isMac(purpose: string, text: string, given: string): boolean {
    const found = Buffer.from(given);
    return this.#secrets.some((secret) => {
      const expected = Buffer.from(macOf(secret, purpose, text));
      return expected.length === found.length && timingSafeEqual(expected, found);
    });
  }

  seal(purpose: string, content: unknown): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", keyOf(this.#newest, purpose), nonce);
    const sealed = [cipher.update(JSON.stringify(content)), cipher.final()];
    return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString("base64url");
  }

  /** What was sealed here for this purpose; undefined for any other text. */
  open(purpose: string, text: string): unknown {
    const bytes = Buffer.from(text, "base64url");
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
    for (const secret of this.#secrets) {
      const opened = openedWith(keyOf(secret, purpose), bytes);
      if (opened !== undefined) return JSON.parse(opened);
    }
    return undefined;
  }

  get #newest(): Uint8Array {
    return this.#secrets[this.#secrets.length - 1];
  }
}

function openedWith(key: Buffer, bytes: Buffer): string | undefined {
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const opened = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
    return Buffer.concat(opened).toString();
  } catch {
    return undefined;
  }
}

function macOf(secret: Uint8Array, purpose: string, text: string): string {
  return createHmac("sha256", keyOf(secret, purpose)).update(text).digest("base64url");
}

function keyOf(secret: Uint8Array, purpose: string): Buffer {
  return createHmac("sha256", secret).update(`sideband oauth ${purpose}`).digest();
}

export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
