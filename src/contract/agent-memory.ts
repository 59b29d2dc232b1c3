/**
 * Memory as an agent uses it: the calls of the service that its tools and hooks need. The client of a remote
 * service is one, and so is the memory layer of a data folder without any server.
 */

import type {
  ContextAnswer,
  DecodeAnswer,
  EncodeAnswer,
  FactsAnswer,
  FlushAnswer,
  ForgetAnswer,
  ReadAnswer,
} from "./answers.ts";

export interface AgentCallOptions {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface AgentMemory {
  encode(userId: string, label: string, value: string, options?: AgentCallOptions): Promise<EncodeAnswer>;
  decode(userId: string, label: string, options?: AgentCallOptions): Promise<DecodeAnswer>;
  forget(userId: string, label: string, options?: AgentCallOptions): Promise<ForgetAnswer>;
  facts(userId: string, options?: AgentCallOptions): Promise<FactsAnswer>;
  context(userId: string, options?: AgentCallOptions): Promise<ContextAnswer>;
  flush(userId: string, options?: AgentCallOptions): Promise<FlushAnswer>;
  read(userId: string, block: string, options?: AgentCallOptions): Promise<ReadAnswer>;
}
