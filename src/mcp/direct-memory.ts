/**
 * The memory layer as an agent's memory, without HTTP in between: for /mcp on the service, where the caller is
 * known by its key. The rules are the same, and so are the answers; what the key is not for is refused here, too.
 */

import type { AgentMemory } from "../agent-side/agent-memory.ts";
import type { Requester } from "../base/requester.ts";
import {
  contextAnswer,
  decodeAnswer,
  encodeAnswer,
  factsAnswer,
  flushAnswer,
  forgetAnswer,
  readAnswer,
} from "../contract/answer-mapping.ts";
import type { Caller } from "../memory/authentication.ts";
import { readContext } from "../memory/context.ts";
import { decodeFact } from "../memory/decode.ts";
import { encodeFacts } from "../memory/encode.ts";
import { forgetFact, listFacts } from "../memory/facts.ts";
import { flushUser } from "../memory/flush.ts";
import { readPresentedBlock } from "../memory/reading.ts";
import { allowedUser, requireWriteAccess } from "../memory/rights.ts";
import type { MemoryServices } from "../memory/services.ts";

/** A caller whose block work ends with its signal. */
export type MemoryCaller = Caller & Pick<Requester, "signal">;

/** What a client is told of an error. */
export type FailureOf = (error: unknown) => Error;

export function directMemory(
  services: MemoryServices,
  caller: MemoryCaller,
  failureOf: FailureOf,
): AgentMemory {
  const { account } = caller;
  const run = async <T>(named: string, writes: boolean, work: (userId: string) => Promise<T>): Promise<T> => {
    try {
      if (writes) requireWriteAccess(caller);
      return await work(allowedUser(caller, named));
    } catch (error) {
      // Work that ended because its client has gone did not fail.
      throw caller.signal?.aborted ? error : failureOf(error);
    }
  };
  const read = <T>(named: string, work: (userId: string) => Promise<T>) => run(named, false, work);
  const write = <T>(named: string, work: (userId: string) => Promise<T>) => run(named, true, work);
  return {
    encode: (user, label, value) =>
      write(user, async (userId) => {
        const facts = [{ label, value }];
        return encodeAnswer(await encodeFacts(services, caller, { userId, facts, operation: "encode" }));
      }),
    decode: (user, label) =>
      read(user, async (userId) => decodeAnswer(await decodeFact(services, account, { userId, label }))),
    forget: (user, label) =>
      write(user, async (userId) => forgetAnswer(await forgetFact(services, account, { userId, label }))),
    facts: (user) =>
      read(user, async (userId) => factsAnswer(userId, await listFacts(services, account, { userId }))),
    context: (user) =>
      read(user, async (userId) => contextAnswer(await readContext(services, caller, { userId }))),
    flush: (user) => read(user, async (userId) => flushAnswer(await flushUser(services, caller, { userId }))),
    read: (user, block) =>
      read(user, async (userId) =>
        readAnswer(userId, await readPresentedBlock(services, caller, { userId, block })),
      ),
  };
}
