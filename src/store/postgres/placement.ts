/**
 * Where rows live: a slot from 0 to 1023, the first column of every table. Slots are made of a hash, so that the
 * users of one large account spread evenly; a cluster spreads the slots over its machines. The hash is part of
 * the stored data: another one would look for rows where they are not.
 */

import { hash } from "node:crypto";

export const SLOT_COUNT = 1024;

/** Where the operator's small tables stand: accounts, keys, requests, settings. */
export const DIRECTORY_SLOT = 0;

export function userSlot(account: string, userId: string): number {
  return slotOf("user", account, userId);
}

/** Of the month counter of a key with a limit. */
export function quotaSlot(keyId: string): number {
  return slotOf("quota", keyId);
}

/** Of a replay record. Not that of the user: one key used for two users must be noticed. */
export function replaySlot(keyId: string, idempotencyKey: string): number {
  return slotOf("replay", keyId, idempotencyKey);
}

/** No text from outside holds U+0000, so that the joined text is different for different parts. */
function slotOf(...parts: readonly string[]): number {
  return hash("sha256", parts.join("\0"), "buffer").readUInt16BE(0) % SLOT_COUNT;
}
