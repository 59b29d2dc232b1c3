/**
 * The slot of a row: a number from 0 to 1023, the first column of every table. Slots come from a hash, so that the
 * users of one large account spread evenly; a cluster spreads the slots over its machines. The hash must never
 * change: with another one, existing rows would not be found.
 */

import { hash } from "node:crypto";

export const SLOT_COUNT = 1024;

/** The slot of the operator's small tables: accounts, keys, requests, settings. */
export const DIRECTORY_SLOT = 0;

export function userSlot(account: string, userId: string): number {
  return slotOf("user", account, userId);
}

/** The slot of the month counter of a key with a limit. */
export function quotaSlot(keyId: string): number {
  return slotOf("quota", keyId);
}

/** The slot of a replay record. It does not depend on the user: one key used for two users must be noticed. */
export function replaySlot(keyId: string, idempotencyKey: string): number {
  return slotOf("replay", keyId, idempotencyKey);
}

/** No text from outside holds U+0000, so different parts never give the same joined text. */
function slotOf(...parts: readonly string[]): number {
  return Number.parseInt(hash("sha256", parts.join("\0"), "hex").slice(0, 4), 16) % SLOT_COUNT;
}
