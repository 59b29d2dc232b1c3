/**
 * read: a block that someone presents, also a damaged one or one inside other text, through the reader. What
 * cannot be read for sure, or belongs to another account or user, is one and the same refusal.
 */

import { Failure } from "../base/errors.ts";
import type { Work } from "./block-scheduler.ts";
import { checkIdentifier } from "./identifiers.ts";
import type { MemoryParts } from "./parts.ts";
import type { Asker } from "./ports.ts";
import type { ReadResult } from "./workshop.ts";

export type BlockReading = Extract<ReadResult, { ok: true }>;

export async function readPresentedBlock(
  parts: MemoryParts,
  asker: Asker,
  input: { userId: string; block: string },
): Promise<BlockReading> {
  checkIdentifier(input.userId, "user_id");
  const reading = await readingOf(parts, parts.workshop.begin(asker), input.userId, input.block);
  if (reading.ok) return reading;
  throw new Failure("block_unreadable", "This block cannot be read for this user.", { param: "block" });
}

/** Reads a text with all keys of the account. */
export function readingOf(
  parts: Pick<MemoryParts, "workshop" | "keyRing">,
  work: Work,
  userId: string,
  text: string,
  channels?: readonly number[],
): Promise<ReadResult> {
  const keys = parts.keyRing.reading(work.account);
  return parts.workshop.read(work, { text, userId, keys, channels });
}
