/**
 * What the service needs of the world: a store. Stores implement `Store` and pass the conformance suite (test/conformance); nothing here knows which one it is.
 *
 * Texts in these calls have passed identifiers.ts. Reads may answer at once or later, since a memory-mapped store
 * has nothing to wait for. Writes are answered when the data is on disk, or rejected with
 * a Failure (`store_unavailable`, `overloaded`) when nothing was stored, or `outcome_unknown` where that is not
 * certain. A read that meets a damaged record fails with `store_corrupt`.
 */

import type { Groups } from "../base/groups.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { FactCode } from "../blockwork/fact-code.ts";
import type { Change, EarlierFact, FactRecord } from "./changes.ts";
import type {
  AccountRecord,
  AddKeyOutcome,
  AddLabelOutcome,
  AuditNote,
  AuditStore,
  ChangeLabelOutcome,
  EndedFact,
  FreeLabel,
  KeyApproval,
  KeyChange,
  KeyGrant,
  KeyRecord,
  KeyRequest,
  LabelChange,
  LabelRecord,
  OperatorRecord,
  Place,
  ProjectChange,
  ProjectRecord,
  RemoveLabelOutcome,
  RemoveProjectOutcome,
  UserChange,
} from "./records.ts";
import type { Writable } from "./rights.ts";

export type * from "./changes.ts";
/** A store keeps code bits without knowing what they mean. */
export type { FactCode };

/** A code, and the fact that it was computed from. */
export type PlacedCode = Required<Pick<FactRecord, "place" | "label" | "value" | "revision" | "code">>;

/** A vector, and the fact that it was made of. A store keeps its bytes without knowing what they mean. */
export type PlacedVector = Pick<FactRecord, "place" | "label" | "revision"> & { readonly vector: Uint8Array };

/** What a read sees: a user's facts in these places, at this moment. */
export interface View {
  readonly account: string;
  readonly userId: string;
  /** The person's own first, each further one inside the one before. Where several have a label, the last counts. */
  readonly places: readonly Place[];
  readonly nowMs: number;
  /** The project that one of the places is of, where it is shared. (shared-places.ts) */
  readonly shared?: SharedProject | undefined;
}

export interface SharedProject {
  readonly project: string;
  /** It is done for the account, whatever members may do. */
  readonly isForAccount?: true;
}

export interface UserState {
  /** Another text after every change of the user's facts at any place, never used again, not even after forgetting. */
  readonly stamp: string;
  /** Those that count, by label (in the order of bytes, as everything here); never empty. */
  readonly facts: readonly FactRecord[];
  /** When the next fact of these places expires, or null. Until then the same stamp means the same facts. */
  readonly nextEndMs: number | null;
}

/** Everything that is kept of a user. */
export interface UserLife {
  readonly stamp: string;
  /** Of all places, by place and label. */
  readonly facts: readonly FactRecord[];
  /** By place, label and ordinal. A fact that has expired is here, even if the sweep has not found it yet. */
  readonly earlier: readonly EarlierFact[];
}

/** What a list of users shows of one. */
export interface UserDescription {
  /** How many facts each place has, where it has any; in the order of their bytes. */
  readonly facts: ReadonlyMap<Place, number>;
  /** When a fact was last written; null where only a history is left. */
  readonly updatedAtMs: number | null;
}

export interface WriteRequest {
  readonly account: string;
  readonly userId: string;
  /** Made all or none, in this order: facts, each label of a place once, or one change of another kind. (law/law.ts) */
  readonly changes: readonly Change[];
  /** The places whose labels the outcome counts. */
  readonly places: readonly Place[];
  readonly nowMs: number;
  /** Stored with it where it changes something. */
  readonly audit?: AuditNote | undefined;
  /** Its user must share this project when it is written. Its place is a shared one (shared-places.ts). */
  readonly shared?: SharedProject | undefined;
  /** The groups whose labels are counted, and rolled back; absent: all. What a change names is in them. */
  readonly groups?: Groups;
  /** What its author may write; absent: everything. */
  readonly writable?: Writable;
  readonly writtenBy?: string | null;
  readonly sessionId?: string | null;
  /** What the write counts against, one for each value; absent for imports and the demo. */
  readonly quota?: {
    readonly keyId: string;
    readonly month: string;
    readonly day: string;
    readonly limit: number | null;
    /** What the limit is counted by, where it is not the key: all keys of a limited account together. */
    readonly counter?: string | undefined;
  };
  readonly idempotency?:
    | {
        readonly keyId: string;
        readonly key: string;
        readonly fingerprint: Uint8Array;
        /** Those by which the same request may have been kept before. */
        readonly otherFingerprints?: readonly Uint8Array[];
        readonly expiresAtMs: number;
      }
    | undefined;
}

/** A fact that a write has set or forgotten. */
export interface MadeChange {
  readonly place: Place;
  readonly label: string;
  /** That of its label, where the person has made it. */
  readonly number?: number | undefined;
  readonly value: string | null;
  /** 0 where nothing has changed. */
  readonly revision: number;
  readonly expiresAtMs: number | null;
  /** The fact that was there before; its code need not come with it. */
  readonly before: FactRecord | undefined;
  /** False where there was neither a fact nor a history to forget. */
  readonly found: boolean;
}

/** What an answer says of the fact that was there before. */
export type PreviousFact = Pick<FactRecord, "value" | "revision" | "updatedAtMs" | "writtenBy" | "author">;

/** A fact that a request has written, as its first answer had it. */
export interface ReplayedChange extends Omit<MadeChange, "before" | "found"> {
  readonly previous: PreviousFact | null;
}

/** What is known of a request that was answered before. */
export interface Replay {
  readonly channelCount: number;
  readonly revision: number;
  /** Absent where the request says all of it, or where it was forgotten. */
  readonly changes?: readonly ReplayedChange[];
}

export interface RollbackReport {
  /** null: there is, or was, no fact. */
  readonly changes: readonly {
    readonly place: Place;
    readonly label: string;
    readonly from: string | null;
    readonly to: string | null;
  }[];
  /** What has a history that does not reach back that far. */
  readonly unreached: readonly { readonly place: Place; readonly label: string }[];
  readonly isDone: boolean;
  /** What is left as it is, because it has changed again. */
  readonly changedSince: readonly { readonly place: Place; readonly label: string }[];
}

/** What a change of another kind has to tell. */
export interface WriteReport {
  readonly rollback?: RollbackReport;
  /** Facts that were moved, or imported. */
  readonly moved?: number;
  /** Those of a move of some labels. */
  readonly movedFacts?: readonly { readonly label: string; readonly value: string }[];
  /** Values, present and earlier, that have lost a name. */
  readonly disowned?: number;
  readonly imported?: number;
  /** What was erased; of nothing, all numbers are 0. */
  readonly erased?: ErasedCounts;
}

/** What an erasure has found, while the user was locked. */
export interface ErasedCounts {
  /** Facts that had not ended. */
  readonly facts: number;
  /** Earlier values of facts that were there, or had been. */
  readonly earlier: number;
  /** Labels, at each place, that had a fact or earlier values: 0 where there was nothing. */
  readonly labels: number;
  readonly places: number;
}

/** What has become of the rights that were bound to a user who was erased. */
export interface EndedGrants {
  /** Grants of applications that had not ended, and have now. */
  readonly connections: number;
  /** Keys that are bound to the user and go on: whoever manages keys revokes them. */
  readonly keysLeft: number;
}

export interface ErasedUser extends ErasedCounts, EndedGrants {}

/**
 * `used`: encodes of the key in the month. 0 without a limit, where a store need not know the sum at once.
 * `revision`: the user's last one after the write. Each change that changes anything takes one, in order.
 */
export type WriteOutcome =
  | {
      readonly outcome: "stored";
      readonly channelCount: number;
      readonly used: number;
      readonly revision: number;
      /** Where there is a report, only facts that expire. */
      readonly changes: readonly MadeChange[];
      readonly events: readonly UserChange[];
      readonly report?: WriteReport;
    }
  | ({ readonly outcome: "replayed"; readonly used: number } & Replay)
  | { readonly outcome: "limit"; readonly used: number }
  | { readonly outcome: "mismatch"; readonly used: number }
  /** The label of this change was removed meanwhile. `param`: what stands before its fields in the request. */
  | { readonly outcome: "label_gone"; readonly used: number; readonly label: string; readonly param: string }
  /** Neither the account has the label of this change, nor the person. */
  | {
      readonly outcome: "label_unknown";
      readonly used: number;
      readonly label: string;
      readonly param: string;
    }
  | {
      readonly outcome: "conflict";
      readonly used: number;
      /** The first change whose `ifRevision` does not hold, and the fact that is there. */
      readonly label: string;
      readonly param: string;
      readonly ifRevision: number;
      readonly present: FactRecord | undefined;
    };

export interface StoreStatistics {
  readonly facts: number;
  readonly users: number;
  readonly sizeBytes: number;
}

export interface CompactReport {
  readonly beforeBytes: number;
  readonly afterBytes: number;
  readonly entries: number;
  readonly durationMs: number;
}

export interface BackupReport {
  readonly entries: number;
  /** Records that fail their checksum, in the store as in the backup. */
  readonly damaged: readonly string[];
}

export type Progress = (done: number, total: number) => void;

export interface LifeQuery {
  readonly nowMs: number;
  readonly place?: Place;
  readonly label?: string;
  /** Only what has not ended: `earlier` is empty. */
  readonly isPresent?: boolean;
}

/** Labels that begin with `prefix` and come after `after`, at most `limit`. */
export interface FreeLabelsQuery {
  readonly prefix: string;
  readonly after?: string;
  readonly limit: number;
}

export interface FactStore {
  /** The fact that counts in a view; its code need not come with it. */
  readFact(view: View, label: string): MaybePromise<FactRecord | undefined>;
  readUser(view: View): MaybePromise<UserState | undefined>;
  readStamp(account: string, userId: string): MaybePromise<string | undefined>;
  /** Facts and history of all places; of one place and label only, or the facts alone, where given. */
  readLife(account: string, userId: string, options: LifeQuery): Promise<UserLife | undefined>;
  /** Where a user has facts or a history, in the order of their bytes; places with neither may be among them. */
  listPlaces(account: string, userId: string): Promise<Place[]>;
  describeUser(account: string, userId: string, nowMs: number): Promise<UserDescription | undefined>;
  /** Labels that a person has made, in the order of their bytes. */
  readFreeLabels(account: string, userId: string, asked: FreeLabelsQuery): MaybePromise<readonly FreeLabel[]>;
  write(request: WriteRequest): Promise<WriteOutcome>;
  /** Keeps code bits with their facts, where revision and value are still those. The stamp stays as it is. */
  saveCodes(account: string, userId: string, codes: readonly PlacedCode[]): Promise<void>;
  /** The vectors of a user's facts at all places. */
  readVectors(account: string, userId: string): MaybePromise<readonly PlacedVector[]>;
  /** The same for vectors. Whatever writes or removes a fact removes its vector. */
  saveVectors(account: string, userId: string, vectors: readonly PlacedVector[]): Promise<void>;
  /**
   * Forgets a user; with `place`, only that place and those inside it. History goes too, and what the user has allowed to
   * applications, and the name in the audit and among the members of projects, unless only a place is forgotten. Undefined where there was nothing. `writable` and
   * `audit`: as of a write.
   */
  forgetUser(
    account: string,
    userId: string,
    place?: Place,
    writable?: Writable,
    audit?: AuditNote,
  ): Promise<ErasedUser | undefined>;
  /** Users in the order of the store, of one account or of all; what changes meanwhile may or may not be seen. */
  walkUsers(account?: string): AsyncIterable<{ account: string; userId: string }>;
  /** The ids of an account's users in the order of their bytes, at most `limit`, after `after`, beginning with `prefix`. */
  listUsers(
    account: string,
    options: { readonly prefix: string; readonly after: string; readonly limit: number },
  ): Promise<string[]>;
}

/** Here and below: an audit note is stored in the transaction of its change, and only where there is one. */
export interface LabelStore {
  /** In channel order. */
  readLabels(account: string): MaybePromise<readonly LabelRecord[]>;
  /** Gives the label its channel (label-records.ts). One that exists stays as it is, whatever its terms. */
  addLabel(account: string, label: Omit<LabelRecord, "channel">, audit?: AuditNote): Promise<AddLabelOutcome>;
  /** Changes what is there. @param base what a standard label has before its first change */
  changeLabel(
    account: string,
    base: LabelRecord,
    change: LabelChange,
    audit?: AuditNote,
  ): Promise<ChangeLabelOutcome>;
  /**
   * Removes an own label, unless a user of the account has a fact or a history with it. A write at the same time comes
   * before, and keeps the label, or after, and is refused (`label_gone`).
   */
  removeLabel(account: string, label: string, audit?: AuditNote): Promise<RemoveLabelOutcome>;
  /** Whether the persons of an account make no labels. */
  readStrict(account: string): MaybePromise<boolean>;
  changeStrict(account: string, isStrict: boolean, audit?: AuditNote): Promise<void>;
}

export interface ProjectStore {
  /** By name. */
  readProjects(account: string): MaybePromise<readonly ProjectRecord[]>;
  /** Makes or changes one; undefined where `changedProject` says so. Writes of its members come before, or after. */
  changeProject(
    account: string,
    change: ProjectChange,
    audit?: AuditNote,
  ): Promise<ProjectRecord | undefined>;
  /** Removes one unless something is shared in it. A write at the same time comes before, or is refused. */
  removeProject(account: string, project: string, audit?: AuditNote): Promise<RemoveProjectOutcome>;
}

export interface KeyStore {
  findKey(hash: string): MaybePromise<KeyRecord | undefined>;
  readKey(id: string): MaybePromise<KeyRecord | undefined>;
  listKeys(account?: string): Promise<KeyRecord[]>;
  listAccounts(): Promise<AccountRecord[]>;
  /**
   * Adds the key, and its account where it is new. A key that has the id or the hash already stays as it is
   * ("key_exists"). With an approval the request is decided in the same step. Anything but "added" has changed nothing.
   */
  addKey(record: KeyRecord, approval?: KeyApproval, audit?: AuditNote): Promise<AddKeyOutcome>;
  changeKey(id: string, change: KeyChange, audit?: AuditNote): Promise<KeyRecord | undefined>;
  readAccount(account: string): MaybePromise<AccountRecord | undefined>;
  /** Limits an account that exists as a whole, or no more (null). What its keys have used in the month counts. `onlyNew`: a limit that is there stays. */
  changeAccount(
    account: string,
    monthlyLimit: number | null,
    month: string,
    audit?: AuditNote,
    onlyNew?: boolean,
  ): Promise<AccountRecord | undefined>;
  /** Replaces a grant that is still as it was `before`, and whose key is not revoked; false where it is not. */
  changeGrant(id: string, before: KeyGrant, after: KeyGrant): Promise<boolean>;
  /** Removes the grants of a user that ended before a moment. */
  removeGrants(account: string, user: string, endedBeforeMs: number): Promise<void>;
  /** Removes all grants of a user, which end with it, and counts the user's keys. `removed`: with those that had ended before. */
  endGrants(
    account: string,
    user: string,
    nowMs: number,
    audit?: AuditNote,
  ): Promise<EndedGrants & { readonly removed: number }>;
  touchKeys(uses: ReadonlyMap<string, number>): Promise<void>;
  /**
   * Another number after every change of any key, label, strictness, shared project or operator: at once for changes of this process, else within 5 s; with
   * `isNow` at once for all.
   */
  keysVersion(isNow?: boolean): MaybePromise<number>;
  readUsage(keyId: string, month: string): MaybePromise<number>;
  /** Days with use from `fromDay` to `toDay` (YYYY-MM-DD, both included). */
  readDailyUsage(keyId: string, fromDay: string, toDay: string): Promise<{ day: string; count: number }[]>;
  /** Raises what a key has used on days to these counts, where it is less: for moving from one store to another. */
  raiseUsage(key: KeyRecord, days: readonly { day: string; count: number }[]): Promise<void>;
  /** False where one has the id, which stays as it is. */
  addKeyRequest(request: KeyRequest): Promise<boolean>;
  listKeyRequests(): Promise<KeyRequest[]>;
  /** Decides an open request; undefined where there is none, or where it is decided already. */
  decideKeyRequest(
    id: string,
    decision: Pick<KeyRequest, "status" | "decidedAtMs" | "keyId">,
    audit?: AuditNote,
  ): Promise<KeyRequest | undefined>;
  /** False where there is none. */
  deleteKeyRequest(id: string, audit?: AuditNote): Promise<boolean>;
}

/** A database server that takes writes, and the number of its timeline, which grows with each fail-over. */
export interface DatabaseServer {
  readonly server: string;
  readonly timeline: number;
}

export interface OperatorStore {
  /** By name. */
  list(): MaybePromise<readonly OperatorRecord[]>;
  /** False where one has the name. */
  add(record: OperatorRecord, audit?: AuditNote): Promise<boolean>;
  /** False where there is none. */
  remove(name: string, audit?: AuditNote): Promise<boolean>;
}

export interface Store extends FactStore, LabelStore, ProjectStore, KeyStore {
  readonly operators: OperatorStore;
  readonly audit: AuditStore;
  /** Rejects while the store cannot be written to. */
  probe(): Promise<void>;
  statistics(): MaybePromise<StoreStatistics>;
  /** Removes what has expired: idempotency records, entries of the audit, and facts, which become history. */
  sweep(nowMs: number): Promise<readonly EndedFact[]>;
  /** Of a sweep the facts alone: a page of those that expired first. Empty where none is left. */
  endFacts(nowMs: number): Promise<readonly EndedFact[]>;
  /** When the first of the facts that were not ended yet expires, or has; undefined where none ever does. */
  nextEndMs(): MaybePromise<number | undefined>;
  /** Records that are damaged, in words for the operator. */
  findDamage(): AsyncIterable<string>;
  close(): Promise<void>;
}
