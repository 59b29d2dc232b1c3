/**
 * What the calls of the client take: labels as types, and options.
 *
 * A label that is written into a program is one of the 40, or one of the account's own that the client was told of:
 * `new Sideband<"FAMILY.wife">()`. A typing error in it does not compile. A label that is known only when the program runs
 * goes through `label`, and the service judges it.
 */

import type { SectionParts } from "../agent-side/memory-section.ts";
import type { Label } from "../base/channel-labels.ts";
import type { FactOrigin, LabelScope, PlaceKind } from "../contract/answers.ts";
import type { CallOptions, Fetch } from "./transport.ts";

declare const knownAtRunTime: unique symbol;

/** A label that is known only at run time. */
export type RunTimeLabel = string & { readonly [knownAtRunTime]: true };

/** The labels that a client takes. @typeParam Own the account's own labels */
export type LabelOf<Own extends string> = Label | Own | RunTimeLabel;

/** A label to add: one of those that the client was told of, or any if it was told of none. */
export type NewLabelOf<Own extends string> = [Own] extends [never] ? string : Own | RunTimeLabel;

/** Takes a text for a label: from a user, a model, a file or an answer. */
export function label(text: string): RunTimeLabel {
  return text as RunTimeLabel;
}

export interface SidebandOptions {
  /** An API key, `sb_live_…`, or a token, `sbt_…`. Not needed for the demo and for `channels`. Default: SIDEBAND_API_KEY. */
  apiKey?: string | undefined;
  /** The address of the service, http or https. It may have a path. Default: SIDEBAND_API_URL, else http://127.0.0.1:8787. */
  baseUrl?: string | undefined;
  /** Where the person works, for every call that does not say (`PersonOptions`). Default: the person's facts alone. */
  project?: string | undefined;
  /** Who writes, such as `my-agent`, for every write that does not say. */
  writtenBy?: string | undefined;
  /** What the helpers put into a prompt. Default: SIDEBAND_INCLUDE, else `index`. */
  include?: SectionParts | undefined;
  /**
   * Tokens that the section of the helpers may have, 200 to 100,000, where it has no block; 0: all facts.
   * Default: SIDEBAND_CONTEXT_TOKENS, else 0.
   */
  contextTokens?: number | undefined;
  /**
   * For a whole call, retries included. 0 fails at once, as `AbortSignal.timeout(0)` does; Infinity sets no limit.
   * Default: 10 seconds.
   */
  timeoutMs?: number | undefined;
  /** How often a failed call is repeated, if that is safe. Default: 2. */
  retries?: number | undefined;
  /**
   * While memory is away, the helpers use the last known memory up to this age, and tell the model how old it is. 0: never.
   * Default: SIDEBAND_STALE_IF_ERROR_MS, else 10 minutes.
   */
  staleIfErrorMs?: number | undefined;
  /** Replaces the global fetch, for tests or proxies. */
  fetch?: Fetch | undefined;
  /** Called when a helper goes on without memory. Default: writes a line to standard error. */
  onWarning?: ((message: string, error: unknown) => void) | undefined;
}

/** A moment: a Date, or a text of RFC 3339 with its zone, such as `2026-11-15T18:00:00Z`. */
export type Moment = string | Date;

export interface PersonOptions extends CallOptions {
  /**
   * Where the person works: `loom`, or `loom/feature-x` for a worktree of it. Reads add its facts to the person's own, and
   * the innermost counts. Default: the client's.
   */
  project?: string | undefined;
}

export interface ContextOptions extends PersonOptions {
  /**
   * The facts in plain text, the sealed block, or both. `index` saves the work of a block. Default: `both` for `context`, and
   * the client's for the helpers.
   */
  include?: SectionParts | undefined;
  /**
   * With `index`: as many facts, and names of others, as have no more tokens of o200k than this, 50 to 100,000. Pinned facts
   * come first, then those of the innermost place, then the latest. Default: all facts, and for the helpers as
   * `contextTokens` of the client says.
   */
  maxTokens?: number | undefined;
  /** Only labels of these groups: `USER,PREF`, or with a minus all but those: `-HEALTH,-HOME`. Default: all. */
  groups?: string | undefined;
}

export interface FactsOptions extends PersonOptions {
  /** Only labels of these groups: `USER,PREF`, or with a minus all but those: `-HEALTH,-HOME`. Default: all. */
  groups?: string | undefined;
}

export interface InjectOptions extends ContextOptions {
  /** Whether an agent goes on without its memory, or with the last known one, while the service is away. Default: `continue`. */
  onOutage?: OnOutage | undefined;
}

/** What a read does while memory is away. A write always throws. */
export type OnOutage = "throw" | "continue";

export interface FlushOptions extends PersonOptions {
  sessionId?: string | undefined;
}

/** Of every call that writes. */
export interface WriterOptions extends FlushOptions {
  /** Who writes, such as `my-agent`; shown with the fact and in its history. Default: the client's. */
  writtenBy?: string | undefined;
  /** A write sent twice with the same key counts once, for 24 hours. Default: a random key. */
  idempotencyKey?: string | undefined;
}

/** The fact that a call expects to find. */
export interface ExpectedFact {
  /** The revision that the fact must have now; 0: there must be none. Otherwise `revision_mismatch`. */
  ifRevision?: number | undefined;
}

/** Where a fact is kept. */
export interface FactPlace {
  /** Where the fact goes, whatever its label says; in a shared project `own` is the person's own place in it. */
  scope?: PlaceKind | undefined;
}

/** When a fact ends; one of both. Without either it lasts, or lives as long as its label says. */
export interface FactEnd {
  ttlS?: number | undefined;
  expiresAt?: Moment | undefined;
}

/** Where a value comes from. */
export interface FromWhere {
  /** `said` by the person, `concluded` by an agent, or `read` in a file, a page or a tool's answer. */
  origin?: FactOrigin | undefined;
}

export interface Pinnable {
  /** Whether it comes first where a context has not room for all facts. Default: as it is. */
  pinned?: boolean | undefined;
}

/** Only one place of the call: in a shared project a label may have a fact of all, and one of the person's own. */
export interface HistoryOptions extends PersonOptions, FactPlace {}

export interface RestoreOptions extends WriterOptions, ExpectedFact, FactPlace {}

export type RemoveOptions = RestoreOptions;

/** A label that neither the account nor the person has. */
export interface UnknownLabel {
  /**
   * Makes it, as one of the person's own: `GROUP.name`. Where a label that is there is a slip away, `unknown_label` with
   * its `hint`; `certain` makes it all the same.
   */
  newLabel?: boolean | "certain" | undefined;
  /** What a label of the person's own is for, 1 to 200 characters; kept with the label. */
  description?: string | undefined;
}

export interface EncodeOptions extends RemoveOptions, FactEnd, UnknownLabel, FromWhere, Pinnable {}

export interface RenameOptions extends WriterOptions, ExpectedFact {
  /** Makes a list of both where the other label has a fact. Otherwise `fact_exists`. */
  merge?: "append" | undefined;
}

export interface ForgetOptions extends PersonOptions, ExpectedFact, FactPlace {
  /** Keeps the earlier values, and the forgotten one as the last of them. */
  keepHistory?: boolean | undefined;
}

export interface ForgetUserOptions extends PersonOptions {
  /** In all projects, and the person's own facts. Needed only where the client has a project. */
  everywhere?: boolean | undefined;
}

/** A fact of a batch. */
export interface FactToEncode<Own extends string = never>
  extends ExpectedFact,
    FactPlace,
    FactEnd,
    UnknownLabel,
    FromWhere,
    Pinnable {
  label: LabelOf<Own>;
  value: string;
}

export interface PageOptions extends CallOptions {
  /** Entries on a page, 1 to 200. Default: 50. */
  limit?: number | undefined;
  /** `next_cursor` of the page before. */
  cursor?: string | undefined;
}

export interface ChangesOptions extends PageOptions, PersonOptions {
  since?: Moment | undefined;
}

export interface FindOptions extends FactsOptions {
  /** How many facts at most, 1 to 50; 10 by default. */
  limit?: number | undefined;
  /** Looks in all projects; what counts in `project` is preferred. */
  everywhere?: boolean | undefined;
}

export interface UsersOptions extends PageOptions {
  /** What the user_ids begin with. */
  prefix?: string | undefined;
}

export interface AuditOptions extends PageOptions {
  /** Only entries by or about this user, also after the user was erased. */
  user?: string | undefined;
  operation?: string | undefined;
  /** A moment with its zone, or a Date. */
  since?: string | Date | undefined;
  /** Before this moment. */
  until?: string | Date | undefined;
}

export interface EventsOptions extends CallOptions {
  /** Only what happens in this project. */
  project?: string | undefined;
  /** The `id` of the last event that is known. Default: the events from now on. */
  lastEventId?: string | undefined;
  /** Told when events come, and when the connection is lost. */
  onConnected?: ((isConnected: boolean) => void) | undefined;
  /** Only labels of these groups, as for `facts`. */
  groups?: string | undefined;
}

/** A change of a fact. */
export interface FactEvent {
  readonly id: string;
  readonly kind: "written" | "forgotten" | "expired";
  readonly user_id: string;
  /** null: of the person. */
  readonly project: string | null;
  /** null: everything at the place, and inside it, was forgotten. */
  readonly label: string | null;
  readonly revision: number;
  readonly written_by: string | null;
  readonly at: string;
}

/** `reset`: what happened before is not known. */
export type UserEvent = FactEvent | { readonly kind: "reset" };

export interface RollbackOptions extends FlushOptions {
  /** Only lists what would change. */
  dryRun?: boolean | undefined;
  /** Goes back also where the history of some labels does not reach that far; they stay as they are. */
  partial?: boolean | undefined;
  writtenBy?: string | undefined;
  /** In a shared project: only what its members share goes back. Without it that never does. */
  scope?: "project" | undefined;
  /** Only facts that have not changed since this moment go back. */
  unchangedSince?: Moment | undefined;
}

/** Who shares a project, and what comes along. */
export interface ShareOptions extends CallOptions {
  /** The user_ids; null: all of the account. Default: as it is, and all of a new one. */
  members?: readonly string[] | null | undefined;
  /** What members may do with what they share. Default: as it is, and write in a new one. */
  access?: "read" | "write" | undefined;
  /** Moves what a member has in the project to what is shared, with its history. */
  take?: TakeOptions | undefined;
  /** Changes nothing, and lists what `take` would move. */
  dryRun?: boolean | undefined;
}

export interface TakeOptions {
  userId: string;
  /** Only these; else all but those of a worktree. */
  labels?: readonly string[] | undefined;
}

export interface UnshareOptions extends CallOptions {
  /** The member who gets what was shared, with its history. Without it `project_has_facts` where there is any. */
  giveTo?: string | undefined;
}

/** What can be changed of a label; null takes a limit away. */
export interface LabelTermsChange {
  /** 1 to 200 characters: a model chooses the label by it. */
  description?: string | undefined;
  example?: string | undefined;
  /** The values that it may have, 2 to 32. */
  oneOf?: readonly string[] | null | undefined;
  /** The longest value, 1 to 1,024 bytes. */
  maxBytes?: number | null | undefined;
  /** The life of its facts where a write does not say. */
  ttlS?: number | null | undefined;
  /** Not offered to agents and pages. */
  hidden?: boolean | undefined;
  /** `account`: only the account's own key, bound to no user, writes it. */
  writers?: "account" | "everyone" | undefined;
}

export interface OwnLabelTerms extends LabelTermsChange {
  description: string;
  /** Whose its facts are. */
  scope?: LabelScope | undefined;
}

export interface TokenOptions extends CallOptions {
  access: "read" | "write";
  /** 60 seconds to 24 hours. */
  ttlS: number;
  /** Only labels of these groups, as for `facts`. Default: those of the key. */
  groups?: string | undefined;
  /** The labels that it may write: exact ones (`PREF.tone`) and groups (`LANG.*`). Default: those of the key. */
  write?: readonly string[] | undefined;
}
