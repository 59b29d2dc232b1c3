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

export interface AgentMemory {
  encode(userId: string, label: string, value: string): Promise<EncodeAnswer>;
  decode(userId: string, label: string): Promise<DecodeAnswer>;
  forget(userId: string, label: string): Promise<ForgetAnswer>;
  facts(userId: string): Promise<FactsAnswer>;
  context(userId: string): Promise<ContextAnswer>;
  flush(userId: string): Promise<FlushAnswer>;
  read(userId: string, block: string): Promise<ReadAnswer>;
}
