/**
 * The memory layer as an agent's memory, without HTTP in between: for /mcp on the service, where the caller is
 * known by its key. The rules are the same, and so are the answers.
 */

import type { Asker } from "../base/asker.ts";
import type { AgentMemory } from "../contract/agent-memory.ts";
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
export type MemoryCaller = Caller & Pick<Asker, "signal">;

export function directMemory(services: MemoryServices, caller: MemoryCaller): AgentMemory {
  const { account } = caller;
  return {
    async encode(userId, label, value) {
      const facts = [{ label, value }];
      return encodeAnswer(await encodeFacts(services, caller, { userId, facts, operation: "encode" }));
    },
    async decode(userId, label) {
      return decodeAnswer(await decodeFact(services, account, { userId, label }));
    },
    async forget(userId, label) {
      return forgetAnswer(await forgetFact(services, account, { userId, label }));
    },
    async facts(userId) {
      return factsAnswer(userId, await listFacts(services, account, userId));
    },
    async context(userId) {
      return contextAnswer(await readContext(services, caller, userId));
    },
    async flush(userId) {
      return flushAnswer(await flushUser(services, caller, { userId }));
    },
    async read(userId, block) {
      return readAnswer(userId, await readPresentedBlock(services, caller, { userId, block }));
    },
  };
}
