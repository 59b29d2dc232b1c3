/**
 * decode: one fact by its label. The fast path is one point read. With the model, the user's block is read
 * back through the reader and the value found there is compared with the state.
 */

import type { Asker } from "../base/asker.ts";
import { Failure } from "../base/errors.ts";
import { chain, type Eventual } from "../base/eventual.ts";
import { checkIdentifier } from "./identifiers.ts";
import { channelOf } from "./labels.ts";
import type { MemoryParts } from "./parts.ts";
import { findReadBackFault } from "./reading.ts";

export interface Decoded {
  readonly user_id: string;
  readonly label: string;
  readonly value: string;
  readonly source: "state" | "model";
  readonly latency_ms: number;
  readonly verified?: boolean;
}

export function decodeFact(
  parts: MemoryParts,
  account: string,
  input: { userId: string; label: string },
): Eventual<Decoded> {
  const { userId, label } = input;
  checkIdentifier(userId, "user_id");
  const channel = channelOf(label);
  return chain(parts.store.readFact(account, userId, channel), (fact) => {
    if (fact === undefined) throw notFound(label);
    return { user_id: userId, label, value: fact.value, source: "state", latency_ms: 0 };
  });
}

export async function decodeThroughModel(
  parts: MemoryParts,
  asker: Asker,
  input: { userId: string; label: string },
): Promise<Decoded> {
  const { userId, label } = input;
  checkIdentifier(userId, "user_id");
  const channel = channelOf(label);
  const started = performance.now();
  const block = await parts.blocks.of(asker, userId);
  const fact = block?.facts.find((candidate) => candidate.channel === channel);
  if (block === undefined || fact === undefined) throw notFound(label);
  const one = { text: block.text, expected: [fact], channels: [channel] };
  const verified =
    block.carried.includes(channel) &&
    (await findReadBackFault(parts, parts.blockWork.begin(asker), userId, one)) === undefined;
  return {
    user_id: userId,
    label,
    value: fact.value,
    source: verified ? "model" : "state",
    latency_ms: Math.max(1, Math.ceil(performance.now() - started)),
    verified,
  };
}

function notFound(label: string): Failure {
  return new Failure("fact_not_found", `There is no fact on ${label}.`, { param: "label" });
}
