/**
 * The calls of the service that an agent's tools and hooks need. The client of a remote service implements them, and
 * so does the memory layer inside the service itself. Where the person works is an option of each call: the service
 * merges what belongs to the person, the project and the worktree.
 */

import type {
  ChannelsAnswer,
  ContextAnswer,
  DetailedDecodeAnswer,
  FactOrigin,
  FactsAnswer,
  FindAnswer,
  FlushAnswer,
  ForgetAnswer,
  HistoryAnswer,
  LabelAnswer,
  LabelScope,
  PlaceKind,
  ReadAnswer,
  WrittenAnswer,
} from "../contract/answers.ts";
import type { SectionParts } from "./memory-section.ts";

export const PLACE_KINDS = ["person", "project", "worktree"] as const satisfies readonly LabelScope[];
/** Where facts are, in the order of the merge: what comes later counts. */
export const FACT_PLACES = [
  "person",
  "shared",
  "own",
  "project",
  "worktree",
] as const satisfies readonly PlaceKind[];

export interface AgentCallOptions {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** A read fails at once while the service is known to be away. */
  failFast?: boolean | undefined;
  /** Where the person works: a project, or a project and a worktree with a slash between. */
  project?: string | undefined;
}

interface AgentContextOptions extends AgentCallOptions {
  /** Only what is asked for: the index needs no block work. Default: both. */
  include?: SectionParts | undefined;
  /** With the index alone: as many facts, and names of others, as have no more tokens than this, 50 to 100,000. */
  maxTokens?: number | undefined;
  /** Only labels of these groups: `USER,PREF`, or all but those: `-HEALTH`. */
  groups?: string | undefined;
}

interface AgentFindOptions extends AgentCallOptions {
  limit?: number | undefined;
  /** Looks in all projects. */
  everywhere?: boolean | undefined;
}

export interface AgentHistoryOptions extends AgentCallOptions {
  /** Only that place of the call. */
  scope?: PlaceKind | undefined;
}

interface AgentForgetOptions extends AgentHistoryOptions {
  /** Keeps the earlier values, and the forgotten one as the last of them. */
  keepHistory?: boolean | undefined;
}

/** Who writes. */
export interface AgentWriterOptions extends AgentCallOptions {
  writtenBy?: string | undefined;
  sessionId?: string | undefined;
  /** The revision that the fact must have now; 0: there must be none. */
  ifRevision?: number | undefined;
}

export interface AgentWriteOptions extends AgentWriterOptions {
  /** Where the fact goes, whatever its label says. */
  scope?: PlaceKind | undefined;
  /** How long it lives, in seconds; or until when, in RFC 3339 with a zone. */
  ttlS?: number | undefined;
  expiresAt?: string | undefined;
  /** Makes an unknown label, as one of the person's own; `certain`: also one that is a slip away from another. */
  newLabel?: boolean | "certain" | undefined;
  /** Where the value comes from. */
  origin?: FactOrigin | undefined;
  /** Whether it comes first where a prompt has not room for all facts. Default: as it is. */
  pinned?: boolean | undefined;
}

interface AgentRenameOptions extends AgentWriterOptions {
  /** Makes a list of both where the other label has a fact. */
  merge?: "append" | undefined;
}

/** What a label of the account's own asks of its values, and where they go. */
export interface NewLabelTerms {
  /** A model chooses the label by it. */
  description: string;
  example?: string | undefined;
  oneOf?: readonly string[] | undefined;
  maxBytes?: number | undefined;
  /** How long its facts live unless they say otherwise, in seconds. */
  ttlS?: number | undefined;
  scope?: LabelScope | undefined;
  /** Not offered to agents and pages. */
  hidden?: boolean | undefined;
}

export interface AgentMemory {
  encode(userId: string, label: string, value: string, options?: AgentWriteOptions): Promise<WrittenAnswer>;
  append(userId: string, label: string, item: string, options?: AgentWriteOptions): Promise<WrittenAnswer>;
  decode(userId: string, label: string, options?: AgentCallOptions): Promise<DetailedDecodeAnswer>;
  forget(userId: string, label: string, options?: AgentForgetOptions): Promise<ForgetAnswer>;
  facts(userId: string, options?: AgentCallOptions): Promise<FactsAnswer>;
  find(userId: string, query: string, options?: AgentFindOptions): Promise<FindAnswer>;
  context(userId: string, options?: AgentContextOptions): Promise<ContextAnswer>;
  flush(userId: string, options?: AgentCallOptions): Promise<FlushAnswer>;
  read(userId: string, block: string, options?: AgentCallOptions): Promise<ReadAnswer>;
  history(userId: string, label: string, options?: AgentHistoryOptions): Promise<HistoryAnswer>;
  restore(
    userId: string,
    label: string,
    revision: number,
    options?: AgentWriterOptions & Pick<AgentHistoryOptions, "scope">,
  ): Promise<WrittenAnswer>;
  rename(userId: string, label: string, to: string, options?: AgentRenameOptions): Promise<WrittenAnswer>;
  /** The labels of the account. */
  channels(options?: AgentCallOptions): Promise<ChannelsAnswer>;
  addLabel(label: string, terms: NewLabelTerms, options?: AgentWriterOptions): Promise<LabelAnswer>;
}
