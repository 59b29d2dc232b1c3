/**
 * decode: one fact by its label. The fast path is one point read. With the model, the user's block is read
 * back through the reader and the value found there is compared with the state.
 */

import type { Requester } from "../base/accounts.ts";
import { LABEL_FORM } from "../base/channel-labels.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { missingFact } from "./free-labels.ts";
import { type Person, sealOwner } from "./places.ts";
import type { FactRecord, View } from "./ports.ts";
import { findReadBackFault } from "./reading.ts";
import type { MemoryServices } from "./services.ts";
import { type OwnMark, ownMark } from "./shared-places.ts";
import { viewFor } from "./shared-projects.ts";

export interface DecodedFact extends OwnMark {
  readonly userId: string;
  readonly label: string;
  readonly fact: FactRecord;
}

interface DecodeInput extends Person {
  readonly label: string;
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
  input: DecodeInput,
): MaybePromise<DecodedFact> {
  const { userId, label } = input;
  return andThen(viewFor(services, account, input), (view) => {
    // No text that cannot be a label is looked for.
    const read = LABEL_FORM.test(label) ? services.store.readFact(view, label) : undefined;
    return andThen(read, (fact) =>
      fact === undefined
        ? missing(services, view, label)
        : { userId, label, fact, ...ownMark(view, fact.place) },
    );
  });
}

async function missing(services: MemoryServices, view: View, label: string): Promise<never> {
  throw await missingFact(services, view, label);
}

export async function decodeThroughModel(
  services: MemoryServices,
  requester: Requester,
  input: DecodeInput,
): Promise<VerifiedFact> {
  const { userId, label } = input;
  const view = await viewFor(services, requester.account, input);
  const started = performance.now();
  // Begun before the build, so that both waits together stay within one deadline.
  const work = services.blockWork.begin(requester);
  const block = await services.blocks.of(requester, view);
  const at = block?.facts.findIndex((one) => one.label === label) ?? -1;
  // What waits for the person is in no block.
  const fact = block?.facts[at] ?? (await decodeFact(services, requester.account, input)).fact;
  const channel = block?.channels[at];
  const verified =
    block !== undefined &&
    channel !== undefined &&
    (await findReadBackFault(services, work, sealOwner(view), {
      text: block.text,
      expected: [{ channel, label, value: fact.value }],
      channels: [channel],
    })) === undefined;
  return {
    userId,
    label,
    fact,
    ...ownMark(view, fact.place),
    verified,
    latencyMs: Math.max(1, Math.ceil(performance.now() - started)),
  };
}
