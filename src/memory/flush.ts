/**
 * flush: before an agent compresses its context. The block is built afresh from the persistent state, read
 * back through the reader, and every fact is compared; only then is there an answer. Callers that flush the
 * same state at the same time share the work.
 */

import type { Requester } from "../base/requester.ts";
import type { Work } from "../blockwork/block-scheduler.ts";
import type { FlushedBlock, UserBlock } from "./blocks.ts";
import { checkIdentifier } from "./identifiers.ts";
import type { UserState } from "./ports.ts";
import { findReadBackFault } from "./reading.ts";
import type { MemoryServices } from "./services.ts";

const EMPTY: FlushedBlock = { channelCount: 0, lossless: true, text: "", overflow: [] };

export async function flushUser(
  services: MemoryServices,
  requester: Requester,
  input: { userId: string; sessionId?: string | undefined },
): Promise<FlushedBlock> {
  const { userId, sessionId } = input;
  checkIdentifier(userId, "user_id");
  if (sessionId !== undefined) checkIdentifier(sessionId, "session_id");
  const { account } = requester;
  const state = await services.store.readUser(account, userId);
  if (state === undefined) return EMPTY;
  return services.flushes.join(`${account}\0${userId}\0${state.stamp}`, requester.signal, (signal) =>
    buildAndCompare(services, services.blockWork.begin({ ...requester, signal }), userId, state),
  );
}

async function buildAndCompare(
  services: MemoryServices,
  work: Work,
  userId: string,
  state: UserState,
): Promise<FlushedBlock> {
  const isFaithful = async ({ text, carried, facts }: UserBlock) => {
    const expected = facts.filter(({ channel }) => carried.includes(channel));
    return (await findReadBackFault(services, work, userId, { text, expected })) === undefined;
  };
  let block = await services.blocks.build(work, userId, state);
  let faithful = await isFaithful(block);
  if (!faithful) {
    // Stored code bits may be at fault: once more, from the values alone.
    const facts = state.facts.map(({ code: _, ...fact }) => fact);
    block = await services.blocks.build(work, userId, { ...state, facts });
    faithful = await isFaithful(block);
  }
  return {
    channelCount: state.facts.length,
    lossless: faithful && block.overflow.length === 0,
    text: block.text,
    overflow: block.overflow,
  };
}
