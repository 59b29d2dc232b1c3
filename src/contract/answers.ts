/**
 * The answers of the service, with the fields of the HTTP interface. They are plain interfaces, so the types of the
 * client need no other package.
 */

import type { Tier } from "../base/tiers.ts";

export interface EncodeAnswer {
  status: "ok";
  label: string;
  value: string;
  /** The carrier channel of the label, 0 to 255. */
  channel: number;
  /** Channels in use for the user after the write. */
  channel_count: number;
}

/** Whose a fact is. */
export type PlaceKind = "person" | "project" | "worktree";

/** What an answer to a write says with `details`. */
export interface WriteDetails {
  revision: number;
  place: PlaceKind;
  /** ISO 8601, UTC. */
  expires_at?: string;
  /** The fact that was there before. */
  previous: { value: string; revision: number; updated_at: string; written_by?: string } | null;
}

/** What is known of a fact beside its value. */
export interface FactDetails {
  revision: number;
  updated_at: string;
  place: PlaceKind;
  written_by?: string;
  expires_at?: string;
}

/** With `details`. */
export interface WrittenAnswer extends EncodeAnswer, WriteDetails {}

export interface BatchAnswer {
  status: "ok";
  channel_count: number;
  /** With `details`, what was written says more. */
  facts: (CarriedFact & Partial<WriteDetails>)[];
}

/** With `details`. */
export interface WrittenBatchAnswer extends BatchAnswer {
  facts: (CarriedFact & WriteDetails)[];
}

export interface CarriedFact {
  label: string;
  value: string;
  channel: number;
}

export interface ContextAnswer {
  user_id: string;
  /** 512 words between `[MEM]` and `[/MEM]`; empty if there are no facts. The same until a fact changes. */
  fdm_block: string;
  channel_count: number;
  channel_labels: string[];
  /** `<label>=<value>` lines in channel order. */
  plain_index: string;
  /** With `details`: the project that was given. */
  project?: string;
  /** With `details`: labels that did not fit the block. */
  overflow?: string[];
  /** With `details`: how many tokens of o200k the index and the block of this answer have. */
  tokens?: { index: number; block: number };
  /** With `details`, and a block: how full it is. */
  carriers?: { used: number; max: number };
}

/** With `details`. */
export interface DetailedContextAnswer extends ContextAnswer {
  overflow: string[];
  tokens: { index: number; block: number };
}

export interface DecodeAnswer {
  user_id: string;
  label: string;
  value: string;
  /** `state`: read from the store. `model`: read from the block by the reader. */
  source: "state" | "model";
  /** 0 for `state` without the model. */
  latency_ms: number;
}

export interface ModelDecodeAnswer extends DecodeAnswer {
  /** Whether the value in the block equals the stored value. */
  verified: boolean;
}

/** With `details`. */
export interface DetailedDecodeAnswer extends DecodeAnswer, FactDetails {}

/** With `details`. */
export interface DetailedModelDecodeAnswer extends ModelDecodeAnswer, FactDetails {}

export interface FlushAnswer {
  status: "ok" | "empty";
  channel_count: number;
  /** Whether every fact was read back from the new block exactly. */
  lossless: boolean;
  fdm_block: string;
  /** Labels that did not fit in the block; they stay in the state. */
  overflow: string[];
}

export interface StoredFact extends CarriedFact {
  revision: number;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** Where a project was given. */
  place?: PlaceKind;
  written_by?: string;
  expires_at?: string;
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

/** What has become of a fact since its block was made; `unknown_here`: nothing of it is kept. */
export type ReadMark = "current" | "replaced" | "forgotten" | "expired" | "unknown_here";

export interface ReadAnswer {
  status: "ok";
  user_id: string;
  facts: (CarriedFact & { mark?: ReadMark })[];
  /** How many words of the block were missing, wrong, and corrected. */
  missing: number;
  wrong: number;
  repaired: number;
  /** How many more words could have been missing. */
  guard_left: number;
}

/** Of days in UTC, as YYYY-MM-DD; those without a write are left out. */
export interface UsageDaysAnswer {
  from: string;
  to: string;
  days: { day: string; count: number }[];
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
  /** Whose facts the key is for, where it is bound to one user. */
  user?: string;
  /** Where the key only reads. */
  access?: "read";
}

/** A fact's present value and those that it had. */
export interface HistoryAnswer {
  user_id: string;
  label: string;
  place: PlaceKind;
  /** The newest first; the present one has not ended. */
  revisions: {
    revision: number;
    value: string;
    updated_at: string;
    written_by?: string;
    session_id?: string;
    ended?: "replaced" | "forgotten" | "expired";
    ended_at?: string;
  }[];
}

/** What changed for a user, the newest first. */
export interface ChangesAnswer {
  user_id: string;
  changes: {
    label: string;
    /** The project or worktree; absent for the person's own. */
    project?: string;
    kind: "written" | "forgotten" | "expired";
    value: string;
    /** The value that was replaced; absent where there was none, or none is kept. */
    was?: string;
    revision: number;
    at: string;
    written_by?: string;
    session_id?: string;
  }[];
  next_cursor: string | null;
}

export interface MoveProjectAnswer {
  status: "ok";
  /** How many facts were moved. */
  moved: number;
}

export interface RollbackAnswer {
  /** `planned`: a dry run. `unreached`: nothing was changed, since the history of some labels does not reach back that far. */
  status: "ok" | "planned" | "unreached";
  changes: { label: string; project?: string; from: string | null; to: string | null }[];
  unreached: { label: string; project?: string }[];
}

export interface UsersAnswer {
  users: { user_id: string; projects: string[]; channel_count: number; updated_at: string | null }[];
  next_cursor: string | null;
}

/** A label of an account. */
export interface LabelAnswer {
  channel: number;
  label: string;
  description: string;
  example: string;
  /** A label of the account's own. */
  own: boolean;
  scope: PlaceKind;
  hidden: boolean;
  one_of?: string[];
  max_bytes?: number;
  ttl_s?: number;
  /** Of an own label, for a key of the whole account: when it was added, by whom, and the first 12 characters of the key. */
  created_at?: string;
  created_by?: string;
  created_key?: string;
}

export interface RemoveLabelAnswer {
  status: "ok";
}

export interface ChannelsAnswer {
  channels: ({
    channel: number;
    label: string;
    description: string;
    example: string;
  } & Partial<LabelAnswer>)[];
  /** With a key: labels that it may still add; 0 for one that only reads or is for one user. */
  free?: number;
}

/** A short-lived token for one user, sent as a key is. */
export interface TokenAnswer {
  /** `sbt_…` */
  token: string;
  expires_at: string;
}

export interface ResetAnswer {
  status: "ok";
  channel_count: 0;
}
