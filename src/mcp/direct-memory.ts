/**
 * The memory layer as an agent's memory, without HTTP in between: for /mcp on the service, where the caller is
 * known by its key. The rules are the same, and so are the answers.
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
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      // Work that ended because its client has gone did not fail.
      throw caller.signal?.aborted ? error : failureOf(error);
    }
  };
  return {
    encode: (userId, label, value) =>
      run(async () => {
        const facts = [{ label, value }];
        return encodeAnswer(await encodeFacts(services, caller, { userId, facts, operation: "encode" }));
      }),
    decode: (userId, label) =>
      run(async () => decodeAnswer(await decodeFact(services, account, { userId, label }))),
    forget: (userId, label) =>
      run(async () => forgetAnswer(await forgetFact(services, account, { userId, label }))),
    facts: (userId) => run(async () => factsAnswer(userId, await listFacts(services, account, { userId }))),
    context: (userId) => run(async () => contextAnswer(await readContext(services, caller, { userId }))),
    flush: (userId) => run(async () => flushAnswer(await flushUser(services, caller, { userId }))),
    read: (userId, block) =>
      run(async () => readAnswer(userId, await readPresentedBlock(services, caller, { userId, block }))),
  };
}
