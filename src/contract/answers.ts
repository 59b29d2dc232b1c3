/**
 * The answers of the service, field by field as they cross the wire, so that what the documentation of the
 * interface says is what a program sees. Plain interfaces: the types of the client need no other package.
 */

import type { Tier } from "../base/tiers.ts";

export interface EncodeAnswer {
  status: "ok";
  label: string;
  value: string;
  /** The carrier channel of the label, 0 to 39. */
  channel: number;
  /** Channels in use for the user after the write. */
  channel_count: number;
}

export interface BatchAnswer {
  status: "ok";
  channel_count: number;
  facts: CarriedFact[];
}

export interface CarriedFact {
  label: string;
  value: string;
  channel: number;
}

export interface ContextAnswer {
  user_id: string;
  /** 512 words between `[MEM]` and `[/MEM]`; empty where there are no facts. Stable until a fact changes. */
  fdm_block: string;
  channel_count: number;
  channel_labels: string[];
  /** `<label>=<value>` lines in channel order. */
  plain_index: string;
}

export interface DecodeAnswer {
  user_id: string;
  label: string;
  value: string;
  /** `state`: read from the store. `model`: read from the block by the reader. */
  source: "state" | "model";
  /** 0 on the fast path. */
  latency_ms: number;
}

export interface ModelDecodeAnswer extends DecodeAnswer {
  /** Whether what the reader read from the block equals the state. */
  verified: boolean;
}

export interface FlushAnswer {
  status: "ok" | "empty";
  channel_count: number;
  /** Whether every fact came back from the fresh block exactly. */
  lossless: boolean;
  fdm_block: string;
  /** Labels that did not fit the block; they stay in the state. */
  overflow: string[];
}

export interface StoredFact extends CarriedFact {
  revision: number;
  /** ISO 8601, UTC. */
  updated_at: string;
}

export interface FactsAnswer {
  user_id: string;
  channel_count: number;
  facts: StoredFact[];
}

export interface ForgetAnswer {
  status: "ok";
  channel_count: number;
}

export interface ForgetUserAnswer {
  status: "ok";
}

export interface ReadAnswer {
  status: "ok";
  user_id: string;
  facts: CarriedFact[];
  /** Words of the block that were not there, were others, and were put right. */
  missing: number;
  wrong: number;
  repaired: number;
  /** How much more damage the block would have borne. */
  guard_left: number;
}

export interface UsageAnswer {
  account: string;
  /** `owner`: through the local socket of a data folder, which has no limit. */
  tier: Tier | "owner";
  /** Encodes a month; null for unlimited. */
  limit: number | null;
  used: number;
  remaining: number | null;
  resets_at: string;
}

export interface ChannelsAnswer {
  channels: { channel: number; label: string; description: string; example: string }[];
}

export interface ResetAnswer {
  status: "ok";
  channel_count: 0;
}
