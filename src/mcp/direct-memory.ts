/**
 * The memory layer as an agent's memory, without HTTP in between: for /mcp on the service, where the caller is
 * known by its key. The rules are the same, and so are the answers.
 */

import type { AgentMemory } from "../contract/agent-memory.ts";
import type { Caller } from "../memory/authentication.ts";
import { readContext } from "../memory/context.ts";
import { decodeFact } from "../memory/decode.ts";
import { encodeFacts } from "../memory/encode.ts";
import { forgetFact, listFacts } from "../memory/facts.ts";
import { flushUser } from "../memory/flush.ts";
import type { MemoryParts } from "../memory/parts.ts";
import { readPresentedBlock } from "../memory/reading.ts";

export function directMemory(parts: MemoryParts, caller: Caller): AgentMemory {
  const { account } = caller;
  return {
    async encode(userId, label, value) {
      const facts = [{ label, value }];
      const { channelCount, ...stored } = await encodeFacts(parts, caller, {
        userId,
        facts,
        operation: "encode",
      });
      return { status: "ok", ...stored.facts[0], channel_count: channelCount };
    },
    async decode(userId, label) {
      return decodeFact(parts, account, { userId, label });
    },
    async forget(userId, label) {
      return { status: "ok", channel_count: await forgetFact(parts, account, { userId, label }) };
    },
    async facts(userId) {
      const facts = await listFacts(parts, account, userId);
      return { user_id: userId, channel_count: facts.length, facts };
    },
    async context(userId) {
      return JSON.parse((await readContext(parts, caller, userId)).json);
    },
    async flush(userId) {
      const { overflow, ...flushed } = await flushUser(parts, caller, { userId });
      return { ...flushed, overflow: [...overflow] };
    },
    async read(userId, block) {
      const { facts, guardLeft, ...counts } = await readPresentedBlock(parts, caller, { userId, block });
      return { status: "ok", user_id: userId, facts: [...facts], ...counts, guard_left: guardLeft };
    },
  };
}
