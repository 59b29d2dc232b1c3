/**
 * What stores keep beside facts: labels and keys of accounts, requests for keys, and what is told to listeners. Facts, and
 * what a store does with them, are in ports.ts.
 */

import type { Tier } from "../base/accounts.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";

/**
 * A place where a person's facts are kept: "" is the person's own, a project's is its name, a worktree's is the
 * project's and its own with a slash between. (places.ts)
 */
export type Place = string;

/** Where a label's facts go if a call does not say: `worktree` means the innermost place that the call names. */
export type Scope = "person" | "project" | "worktree";

/**
 * Where a write goes, whatever its label says. In a project that is shared, `project` and `shared` are what its members share,
 * and `own` is the person's own place.
 */
export type WriteScope = Scope | "shared" | "own";

/** A label of an account's own (channels 40 to 255), or what an account has changed of a standard one (0 to 39). */
export interface LabelRecord {
  readonly channel: number;
  readonly label: string;
  readonly description: string;
  readonly example: string;
  readonly oneOf: readonly string[] | null;
  readonly maxBytes: number | null;
  readonly ttlS: number | null;
  readonly scope: Scope | null;
  readonly hidden: boolean;
  /** Only the account's own key, bound to no user, writes it; absent: everyone who may write. */
  readonly writers?: "account" | undefined;
  readonly createdAtMs: number;
  /** What the writer that added it calls itself, and the first 12 characters of its key, where they are known. */
  readonly createdBy?: string;
  readonly createdKey?: string;
  /** It is no label any more; its channel is kept for it. */
  readonly removed?: true;
}

/** What can be changed of a label. */
export type LabelChange = Partial<
  Pick<LabelRecord, "description" | "example" | "oneOf" | "maxBytes" | "ttlS" | "hidden" | "writers">
>;

/**
 * A label that a person has made by writing it. It is there as long as it has a fact or a history at any place of the
 * person.
 */
export interface FreeLabel {
  readonly label: string;
  /** From 1, in the order in which the person's labels were made; none is given again. Answers add it to 256. */
  readonly number: number;
  /** Places where it has a fact or a history. */
  readonly uses: number;
  readonly description: string | null;
}

/** `full`: no channel is left. `text_full`: the texts of the account's labels would be too long together. */
export type AddLabelOutcome =
  | { readonly outcome: "added" | "exists"; readonly label: LabelRecord }
  | { readonly outcome: "full" | "text_full" };

export type ChangeLabelOutcome =
  | { readonly outcome: "changed"; readonly label: LabelRecord }
  /** one_of_long: a value of one_of is longer than max_bytes, one of which was changed meanwhile. */
  | { readonly outcome: "missing" | "text_full" | "one_of_long" };

export type RemoveLabelOutcome = "removed" | "in_use" | "missing";

/** A key that reads cannot write or forget. */
export type KeyAccess = "read" | "write";

export interface KeyRecord {
  readonly id: string;
  readonly account: string;
  readonly tier: Tier;
  /** SHA-256 of the key, in hexadecimal. */
  readonly hash: string;
  /** The key's first 12 characters. */
  readonly prefix: string;
  readonly note: string;
  /** The one user whose facts the key is for; null: all users of the account. */
  readonly user: string | null;
  readonly access: KeyAccess;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  /** The groups of labels that the key is for (base/groups.ts); absent: all. */
  readonly groups?: string;
  /** The labels that it may write (base/label-patterns.ts); absent: all. */
  readonly write?: string;
  /** What a person has allowed an application: no text is this key, and only tokens made from it are used. */
  readonly grant?: KeyGrant;
}

/** The application and what it was allowed beside the terms of its key. (src/oauth) */
export interface KeyGrant {
  /** The key with which it was allowed: the grant ends with that key, and counts to it. */
  readonly keyId: string;
  /** The address that its tokens are for. */
  readonly resource: string;
  /** SHA-256 of the application's client_id, in hexadecimal. */
  readonly client: string;
  /** Where the application was sent back to, for people. */
  readonly returnsTo: string;
  /** How many of its refresh tokens were used; -1: not even its code. */
  readonly refreshes: number;
  /** When the last of these were used first. */
  readonly recentMs: readonly number[];
}

export interface AccountRecord {
  readonly account: string;
  readonly createdAtMs: number;
  /** Encodes a month of all its keys together, in place of what each of their tiers allows; absent: those of the tiers. */
  readonly monthlyLimit?: number;
}

/** What can be changed of a key. */
export interface KeyChange {
  readonly revokedAtMs?: number;
  readonly expiresAtMs?: number | null;
  /** With the month, of which what was used so far counts. */
  readonly tier?: Tier;
  readonly month?: string;
}

/** That a project is shared, and by whom. (shared-places.ts) */
export interface ProjectRecord {
  readonly project: string;
  /** null: all users of the account. */
  readonly members: readonly string[] | null;
  /** What members may do with what they share. */
  readonly access: KeyAccess;
  readonly createdAtMs: number;
}

/**
 * What is made, or changed, of a shared project; with `onlyNew` one that is there stays as it is; or, with `leaver`, who is no member
 * any more, and nothing else.
 */
export type ProjectChange = Pick<ProjectRecord, "project" | "createdAtMs"> &
  Partial<Pick<ProjectRecord, "members" | "access">> & { readonly onlyNew?: true; readonly leaver?: string };

/** `in_use`: facts, or earlier values, are shared in it. */
export type RemoveProjectOutcome = "removed" | "in_use" | "missing";

/** Who operates the service by name. */
export interface OperatorRecord {
  readonly name: string;
  readonly access: KeyAccess;
  /** SHA-256 of their token, in hexadecimal. */
  readonly hash: string;
  readonly createdAtMs: number;
}

export interface KeyRequest {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly purpose: string;
  readonly tier: Tier;
  readonly createdAtMs: number;
  readonly status: "open" | "approved" | "declined";
  readonly decidedAtMs: number | null;
  /** The key that an approval made. */
  readonly keyId: string | null;
}

/** What must hold for an approval to add its key. An account exists where it has, or had, a key, or holds facts. */
export interface KeyApproval {
  /** The request, which must be open. */
  readonly requestId: string;
  readonly account: "new" | "existing";
}

export type AddKeyOutcome =
  | "added"
  | "key_exists"
  | "request_not_open"
  | "account_exists"
  | "account_missing";

/** A fact that was found expired. */
export interface EndedFact {
  readonly account: string;
  readonly userId: string;
  readonly place: Place;
  readonly label: string;
  readonly revision: number;
  /** The moment at which it expired, not that at which it was found. */
  readonly endedAtMs: number;
}

/**
 * Who has changed what, and when: names only, never a value. A person is a keyed hash here. The name to it is kept apart, and
 * goes when the person is erased. (audit.ts)
 */
export interface AuditEntry {
  /** With the moment it names the entry: the same change stored twice is one entry. */
  readonly id: string;
  readonly atMs: number;
  readonly operation: string;
  /** null: what belongs to no account. */
  readonly account: string | null;
  readonly by: {
    readonly keyId?: string;
    readonly operator?: string;
    /** Whom the key, the token or the connected application is bound to. */
    readonly person?: string;
  };
  readonly of: AuditedNames;
  readonly address: string | null;
  readonly requestId: string;
}

/** What an entry is about, by its names. */
export interface AuditedNames {
  readonly user?: string;
  readonly members?: readonly string[];
  readonly project?: string;
  readonly label?: string;
  readonly set?: string;
  readonly keyId?: string;
  readonly requestId?: string;
  readonly operator?: string;
}

export interface PersonName {
  readonly hash: string;
  readonly account: string;
  readonly name: string;
}

/** An entry, with the names of its persons: what a change brings along to be stored in its transaction. */
export interface AuditNote {
  readonly entry: AuditEntry;
  readonly names: readonly PersonName[];
}

export interface AuditQuery {
  readonly account?: string | undefined;
  readonly operation?: string | undefined;
  /** Entries by or about a person: those with one of these hashes, or with one that the name is kept for. */
  readonly person?: { readonly name: string; readonly hashes: readonly string[] } | undefined;
  /** From this moment on. */
  readonly sinceMs: number;
  /** Before this moment; with an id, before that entry. */
  readonly before: { readonly atMs: number; readonly id?: string | undefined };
  readonly limit: number;
}

export interface AuditStore {
  /** What has no change to be stored with. */
  add(note: AuditNote): Promise<void>;
  /** The newest first. */
  read(query: AuditQuery): Promise<AuditNote[]>;
}

export type EventKind = "written" | "forgotten" | "expired";

/** Something that happened to a fact, as stores record it for listeners. */
export interface RecordedEvent {
  readonly account: string;
  /** Grows with each event of any account, in the order in which they can be read. */
  readonly number: number;
  readonly userId: string;
  readonly place: Place;
  /** null: everything at the place, and inside it, was forgotten. */
  readonly label: string | null;
  readonly revision: number;
  readonly kind: EventKind;
  readonly writtenBy: string | null;
  readonly atMs: number;
}

/** What a write tells listeners. */
export type UserChange = Omit<RecordedEvent, "account" | "userId" | "number">;

/** What a store records that several processes write to. */
export interface EventLog {
  /** Who is told of what is shared. */
  readProjects(account: string): MaybePromise<readonly ProjectRecord[]>;
  /**
   * Has what happens in an account recorded until a moment, or a later one. What is written after it resolves is
   * recorded. `log` is another text where recording has begun anew; `last` is the number of the last event of all.
   */
  followEvents(account: string, untilMs: number): Promise<{ readonly log: string; readonly last: number }>;
  /**
   * The events of accounts after a number, in order. `last` is as above. Of events up to `first` some may be missing; it is
   * that of the first account.
   */
  readEvents(
    accounts: readonly string[],
    after: number,
    limit: number,
  ): Promise<{ readonly first: number; readonly last: number; readonly events: readonly RecordedEvent[] }>;
}
