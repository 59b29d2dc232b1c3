/**
 * Keys of entries. Neither accounts nor user ids hold U+0000 (identifiers.ts), so a zero byte between the
 * parts makes every prefix stand for exactly one account or user. Keys stay far below lmdb's 1,978 bytes.
 */

import { assert, assertInteger } from "../../base/assert.ts";
import { CHANNEL_COUNT } from "../../base/limits.ts";

export function userKey(account: string, userId: string): Buffer {
  assert(account.length > 0 && userId.length > 0, "account and user have names");
  assert(!account.includes("\0") && !userId.includes("\0"), "no zero in a name");
  return Buffer.from(`${account}\0${userId}`);
}

/** The channel as one byte after the user and a zero: a user's facts lie behind its record, in channel order. */
export function factKey(account: string, userId: string, channel: number): Buffer {
  assertInteger(channel, 0, CHANNEL_COUNT - 1, "channel");
  assert(!account.includes("\0") && !userId.includes("\0"), "no zero in a name");
  return Buffer.from(`${account}\0${userId}\0${String.fromCharCode(channel)}`);
}

/** The range of all keys below a prefix: the facts of a user, or the users and facts of an account. */
export function rangeBelow(prefix: Buffer): { start: Buffer; end: Buffer } {
  return { start: Buffer.concat([prefix, Buffer.of(0)]), end: Buffer.concat([prefix, Buffer.of(1)]) };
}

export function splitUserKey(key: Buffer): { account: string; userId: string } {
  const zero = key.indexOf(0);
  return { account: key.toString("utf8", 0, zero), userId: key.toString("utf8", zero + 1) };
}

/** The key of the user that an entry belongs to: its own, or what stands before the second zero. */
export function userOfKey(key: Buffer): Buffer {
  const zero = key.indexOf(0, key.indexOf(0) + 1);
  return zero < 0 ? key : key.subarray(0, zero);
}

export function channelOfFactKey(key: Buffer): number {
  return key[key.length - 1];
}

/** The counter of all users. Every other entry in the table `facts` is a fact. */
export const USERS = "users";

export const counterName = (keyId: string, period: string) => `${keyId}\0${period}`;

export const counterKey = (keyId: string, period: string) => Buffer.from(counterName(keyId, period));

const DAY_MS = 24 * 3600 * 1000;

/** Idempotency records lie by the day on which they expire: four bytes, big-endian, then the API key and the given key. */
export function idempotencyKey(day: number, keyId: string, key: string): Buffer {
  assert(keyId.length > 0 && key.length > 0, "an idempotency record has the API key and the given key");
  return Buffer.concat([dayPrefix(day), Buffer.from(`${keyId}\0${key}`)]);
}

export const expiryDayOf = (ms: number) => Math.floor(ms / DAY_MS);

export function dayPrefix(day: number): Buffer {
  assertInteger(day, 0, 2 ** 32 - 1, "the day of expiry");
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(day);
  return prefix;
}
