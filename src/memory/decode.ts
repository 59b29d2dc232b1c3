/**
 * decode: one fact by its label. The fast path is one point read. With the model, the user's block is read
 * back through the reader and the value found there is compared with the state.
 */

import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import type { Requester } from "../base/requester.ts";
import { factNotFound } from "./facts.ts";
import { checkIdentifier } from "./identifiers.ts";
import { channelOf } from "./labels.ts";
import { findReadBackFault } from "./reading.ts";
import type { MemoryServices } from "./services.ts";

export interface DecodedFact {
  readonly userId: string;
  readonly label: string;
  readonly value: string;
}

/** A fact whose value was also read from the user's block. */
export interface VerifiedFact extends DecodedFact {
  /** Whether the reader found the same value in the block. */
  readonly verified: boolean;
  readonly latencyMs: number;
}

export function decodeFact(
  services: MemoryServices,
  account: string,
  { userId, label }: { userId: string; label: string },
): MaybePromise<DecodedFact> {
  checkIdentifier(userId, "user_id");
  return andThen(services.store.readFact(account, userId, channelOf(label)), (fact) => {
    if (fact === undefined) throw factNotFound(label);
    return { userId, label, value: fact.value };
  });
}

export async function decodeThroughModel(
  services: MemoryServices,
  requester: Requester,
  { userId, label }: { userId: string; label: string },
): Promise<VerifiedFact> {
  checkIdentifier(userId, "user_id");
  const channel = channelOf(label);
  const started = performance.now();
  // Begun before the build, so that both waits together stay within one deadline.
  const work = services.blockWork.begin(requester);
  const block = await services.blocks.of(requester, userId);
  const fact = block?.facts.find((candidate) => candidate.channel === channel);
  if (block === undefined || fact === undefined) throw factNotFound(label);
  const one = { text: block.text, expected: [fact], channels: [channel] };
  const verified =
    block.carried.includes(channel) && (await findReadBackFault(services, work, userId, one)) === undefined;
  return {
    userId,
    label,
    value: fact.value,
    verified,
    latencyMs: Math.max(1, Math.ceil(performance.now() - started)),
  };
}
