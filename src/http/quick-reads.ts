/** The plain answers to GET /decode and GET /context, or undefined where Fastify must look. */

import type { Caller } from "../memory/authentication.ts";
import { findChannel } from "../memory/channels.ts";
import type { HttpParts } from "./parts.ts";
import type { Query } from "./query.ts";

export interface QuickAnswer {
  readonly json: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

/** @param query has a user_id that is an identifier */
export type QuickRead = (parts: HttpParts, query: Query, caller: Caller) => QuickAnswer | undefined;

const NO_HEADERS: readonly string[] = [];

export const quickDecode: QuickRead = (parts, query, caller) => {
  const { user_id: userId, label, use_model: useModel } = query;
  const channel = label === undefined ? undefined : findChannel(label);
  if (useModel !== undefined || channel === undefined) return undefined;
  const fact = parts.memory.store.readFact(caller.account, userId, channel.channel);
  if (fact === undefined || fact instanceof Promise) return undefined;
  const json = `{"user_id":${JSON.stringify(userId)},"label":"${label}","value":${JSON.stringify(fact.value)},"source":"state","latency_ms":0}`;
  return { json, headers: NO_HEADERS };
};

export const quickContext: QuickRead = (parts, query, caller) => {
  const block = parts.memory.blocks.cached(caller.account, query.user_id);
  if (block === undefined) return undefined;
  return {
    json: block.contextJson,
    headers: ["etag", block.etag, "cache-control", "private, no-cache"],
  };
};
