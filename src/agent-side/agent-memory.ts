/**
 * The calls of the service that an agent's tools and hooks need. The client of a remote service implements them, and
 * so does the memory layer inside the service itself.
 */

import type {
  ContextAnswer,
  DecodeAnswer,
  EncodeAnswer,
  FactsAnswer,
  FlushAnswer,
  ForgetAnswer,
  ReadAnswer,
} from "../contract/answers.ts";

/** Whose facts: the person's, or those of the person in a project (scope.ts). */
export type AgentScope = "person" | "project";

export interface AgentCallOptions {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Fails at once if the service did not answer in time a moment ago. */
  coolDown?: boolean | undefined;
  /** Which of the two: the person's facts, or those of the project. Only a memory that knows the project has both. */
  scope?: AgentScope | undefined;
  /** Keeps what looks like a secret too. */
  allowSecrets?: boolean | undefined;
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
