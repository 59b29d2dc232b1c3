/**
 * read: a block that someone presents, also a damaged one or one inside other text, through the reader. What
 * cannot be read for sure, or belongs to another account or user, is one and the same refusal.
 */

import type { Asker } from "../base/asker.ts";
import { Failure } from "../base/errors.ts";
import type { Work } from "../blockwork/block-scheduler.ts";
import type { ReadOutcome } from "../blockwork/block-work.ts";
import { checkIdentifier } from "./identifiers.ts";
import { labelOf } from "./labels.ts";
import type { MemoryParts } from "./parts.ts";

export interface BlockReading {
  readonly facts: readonly { readonly label: string; readonly value: string; readonly channel: number }[];
  readonly missing: number;
  readonly wrong: number;
  readonly repaired: number;
  readonly guardLeft: number;
}

export async function readPresentedBlock(
  parts: MemoryParts,
  asker: Asker,
  input: { userId: string; block: string },
): Promise<BlockReading> {
  checkIdentifier(input.userId, "user_id");
  const reading = await readingOf(parts, parts.blockWork.begin(asker), input.userId, input.block);
  if (!reading.ok) {
    throw new Failure("block_unreadable", "This block cannot be read for this user.", { param: "block" });
  }
  const { missing, wrong, repaired, guardLeft } = reading;
  const facts = reading.facts.map(({ channel, value }) => ({ label: labelOf(channel), value, channel }));
  return { facts, missing, wrong, repaired, guardLeft };
}

/** Reads a text with all keys of the account. */
export function readingOf(
  parts: Pick<MemoryParts, "blockWork" | "keyRing">,
  work: Work,
  userId: string,
  text: string,
  channels?: readonly number[],
): Promise<ReadOutcome> {
  const keys = parts.keyRing.reading(work.account);
  return parts.blockWork.read(work, { text, userId, keys, channels });
}
