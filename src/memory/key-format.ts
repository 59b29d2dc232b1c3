/**
 * API keys: `sb_live_` + 30 random base62 characters + 6 base62 digits of the CRC-32 of all before them.
 * The checksum tells a mistyped key from an unknown one without a look-up. Only a key's SHA-256 is stored.
 */

import { createHash, randomInt } from "node:crypto";
import { assert } from "../base/assert.ts";
import { crc32, utf8 } from "../base/bytes.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = "sb_live_";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = /^sb_live_[0-9A-Za-z]{36}$/;

/** Characters of a key that may be shown. */
export const KEY_PREFIX_LENGTH = 12;
export const KEY_PREFIX = /^sb_live_[0-9A-Za-z]{4}$/;

export function newApiKey(): string {
  let body = PREFIX;
  for (let i = 0; i < RANDOM_LENGTH; i++) body += BASE62[randomInt(62)];
  const key = body + checksum(body);
  assert(isWellFormedKey(key), "a new key has the form of a key");
  return key;
}

/** Whether a text has the form of a key, its checksum included. */
export function isWellFormedKey(text: string): boolean {
  return SHAPE.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

export function hashOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

function checksum(body: string): string {
  return toBase62(crc32(utf8(body)), CHECKSUM_LENGTH);
}

/** The number in base 62, padded with 0 to `length` digits. */
export function toBase62(value: number, length: number): string {
  let out = "";
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) out = BASE62[rest % 62] + out;
  return out.padStart(length, "0");
}
