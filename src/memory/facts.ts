/** All facts of a user, and forgetting: one fact or a whole user. */

import { Failure } from "../base/errors.ts";
import { checkIdentifier } from "./identifiers.ts";
import { channelOf } from "./labels.ts";
import type { FactRecord } from "./ports.ts";
import type { MemoryServices } from "./services.ts";

/** In channel order. */
export async function listFacts(
  services: MemoryServices,
  account: string,
  userId: string,
): Promise<readonly FactRecord[]> {
  checkIdentifier(userId, "user_id");
  return (await services.store.readUser(account, userId))?.facts ?? [];
}

/** Forgets one fact. Resolves to the number of channels still in use. */
export async function forgetFact(
  services: MemoryServices,
  account: string,
  input: { userId: string; label: string },
): Promise<number> {
  checkIdentifier(input.userId, "user_id");
  const channel = channelOf(input.label);
  const { forgotten, channelCount } = await services.store.forgetFacts(account, input.userId, [{ channel }]);
  if (forgotten === 0) throw factNotFound(input.label);
  services.blocks.drop(account, input.userId);
  return channelCount;
}

export async function forgetUser(services: MemoryServices, account: string, userId: string): Promise<void> {
  checkIdentifier(userId, "user_id");
  const known = await services.store.forgetUser(account, userId);
  services.blocks.drop(account, userId);
  if (!known) throw new Failure("not_found", "There is nothing stored for this user.", { param: "user_id" });
}

export function factNotFound(label: string): Failure {
  return new Failure("fact_not_found", `There is no fact on ${label}.`, { param: "label" });
}
