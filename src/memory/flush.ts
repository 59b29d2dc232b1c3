/**
 * flush: before an agent compresses its context. The block is built afresh from the persistent state, read
 * back through the reader, and every fact is compared; only then is there an answer. Callers that flush the
 * same state at the same time share the work.
 */

import type { Requester } from "../base/accounts.ts";
import type { Work } from "../blockwork/block-scheduler.ts";
import type { FlushedBlock, UserBlock } from "./blocks.ts";
import { checkIdentifier } from "./identifiers.ts";
import { type Person, sealOwner } from "./places.ts";
import type { UserState, View } from "./ports.ts";
import { expectedFacts, findReadBackFault } from "./reading.ts";
import { acceptedState } from "./review.ts";
import type { MemoryServices } from "./services.ts";
import { viewFor } from "./shared-projects.ts";

const EMPTY: FlushedBlock = { channelCount: 0, lossless: true, text: "", overflow: [] };

export async function flushUser(
  services: MemoryServices,
  requester: Requester,
  input: Person & { readonly sessionId?: string | undefined },
): Promise<FlushedBlock> {
  const { sessionId } = input;
  if (sessionId !== undefined) checkIdentifier(sessionId, "session_id");
  const { account } = requester;
  const view = await viewFor(services, account, input);
  const { store, review } = services;
  const stored = await store.readUser(view);
  const state = review ? await acceptedState(store, view, stored) : stored;
  if (state === undefined) return EMPTY;
  const name = [account, sealOwner(view), state.stamp, state.nextEndMs, services.groups.text].join("\0");
  return services.flushes.join(name, requester.signal, (signal) =>
    buildAndCompare(services, services.blockWork.begin({ ...requester, signal }), view, state),
  );
}

async function buildAndCompare(
  services: MemoryServices,
  work: Work,
  view: View,
  state: UserState,
): Promise<FlushedBlock> {
  const isFaithful = async ({ text, facts, channels }: UserBlock) => {
    const expected = expectedFacts(facts, channels);
    return (await findReadBackFault(services, work, sealOwner(view), { text, expected })) === undefined;
  };
  let block = await services.blocks.build(work, view, state);
  let faithful = await isFaithful(block);
  if (!faithful) {
    // Stored code bits may be at fault: once more, from the values alone.
    const facts = state.facts.map(({ code: _, ...fact }) => fact);
    block = await services.blocks.build(work, view, { ...state, facts });
    faithful = await isFaithful(block);
  }
  return {
    channelCount: state.facts.length,
    lossless: faithful && block.overflow.length === 0,
    text: block.text,
    overflow: block.overflow,
  };
}
