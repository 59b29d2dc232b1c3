/** All facts of a user, and forgetting: one fact or a whole user. */

import { Failure } from "../base/errors.ts";
import { checkIdentifier } from "./identifiers.ts";
import { channelOf } from "./labels.ts";
import type { MemoryParts } from "./parts.ts";
import type { FactRecord } from "./ports.ts";

/** In channel order. */
export async function listFacts(
  parts: MemoryParts,
  account: string,
  userId: string,
): Promise<readonly FactRecord[]> {
  checkIdentifier(userId, "user_id");
  return (await parts.store.readUser(account, userId))?.facts ?? [];
}

/** Forgets one fact; the number of channels still in use. */
export async function forgetFact(
  parts: MemoryParts,
  account: string,
  input: { userId: string; label: string },
): Promise<number> {
  checkIdentifier(input.userId, "user_id");
  const channel = channelOf(input.label);
  const { forgotten, channelCount } = await parts.store.forgetFacts(account, input.userId, [{ channel }]);
  if (forgotten === 0) {
    throw new Failure("fact_not_found", `There is no fact on ${input.label}.`, { param: "label" });
  }
  parts.blocks.drop(account, input.userId);
  return channelCount;
}

export async function forgetUser(parts: MemoryParts, account: string, userId: string): Promise<void> {
  checkIdentifier(userId, "user_id");
  const known = await parts.store.forgetUser(account, userId);
  parts.blocks.drop(account, userId);
  if (!known) throw new Failure("not_found", "There is nothing stored for this user.", { param: "user_id" });
}
