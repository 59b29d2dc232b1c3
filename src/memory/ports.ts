/**
 * What the service needs of the world: a store. Stores implement `Store` and pass the conformance suite (test/conformance); nothing here knows which one it is.
 *
 * Texts in these calls have passed identifiers.ts. Reads may answer at once or later, since a memory-mapped store
 * has nothing to wait for. Writes are answered when the data is on disk, or rejected with
 * a Failure (`store_unavailable`, `overloaded`) when nothing was stored, or `outcome_unknown` where that is not
 * certain. A read that meets a damaged record fails with `store_corrupt`.
 */

import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Tier } from "../base/tiers.ts";
import type { CodableFact, ComputedCode } from "../blockwork/fact-code.ts";

/** A store keeps code bits without knowing what they mean. */
export type { ComputedCode, FactCode } from "../blockwork/fact-code.ts";

export interface FactRecord extends CodableFact {
  readonly updatedAtMs: number;
}

export interface UserState {
  /** Changes with every change of the user's facts. No stamp is used twice, not even after forgetting. */
  readonly stamp: string;
  /** In channel order; never empty. */
  readonly facts: readonly FactRecord[];
}

export interface WriteRequest {
  readonly account: string;
  readonly userId: string;
  /** 1 to 40, each channel once, written all or none, in this order. */
  readonly facts: readonly {
    readonly channel: number;
    readonly value: string;
    readonly updatedAtMs?: number;
  }[];
  readonly nowMs: number;
  /** What the write counts against; absent for imports and the demo. */
  readonly quota?: {
    readonly keyId: string;
    readonly month: string;
    readonly day: string;
    readonly limit: number | null;
  };
  readonly idempotency?:
    | {
        readonly keyId: string;
        readonly key: string;
        readonly fingerprint: Uint8Array;
        readonly expiresAtMs: number;
      }
    | undefined;
}

/** `used`: encodes of the key in the month. 0 without a limit, where a store need not know the sum at once. */
export type WriteOutcome =
  | { readonly outcome: "stored"; readonly channelCount: number; readonly used: number }
  | { readonly outcome: "replayed"; readonly channelCount: number; readonly used: number }
  | { readonly outcome: "limit"; readonly used: number }
  | { readonly outcome: "mismatch"; readonly used: number };

export interface KeyRecord {
  readonly id: string;
  readonly account: string;
  readonly tier: Tier;
  /** SHA-256 of the key, in hexadecimal. */
  readonly hash: string;
  /** The key's first 12 characters. */
  readonly prefix: string;
  readonly note: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly lastUsedAtMs: number | null;
}

export interface AccountRecord {
  readonly account: string;
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

export interface FactStore {
  /** One fact; its code need not come with it. */
  readFact(account: string, userId: string, channel: number): MaybePromise<FactRecord | undefined>;
  readUser(account: string, userId: string): MaybePromise<UserState | undefined>;
  readStamp(account: string, userId: string): MaybePromise<string | undefined>;
  /** The stamps of many users, in their order; fails where one cannot be read. */
  readStamps(
    users: readonly { account: string; userId: string }[],
  ): MaybePromise<readonly (string | undefined)[]>;
  write(request: WriteRequest): Promise<WriteOutcome>;
  /** Keeps code bits with their facts, where revision and value are still those. The stamp stays as it is. */
  saveCodes(account: string, userId: string, codes: readonly ComputedCode[]): Promise<void>;
  /**
   * Forgets facts; with `revision`, only if the fact still has it. Resolves to how many were forgotten, and how many
   * channels are still in use.
   */
  forgetFacts(
    account: string,
    userId: string,
    facts: readonly { channel: number; revision?: number }[],
  ): Promise<{ forgotten: number; channelCount: number }>;
  /** False where there was nothing. */
  forgetUser(account: string, userId: string): Promise<boolean>;
  /** Users in the order of the store, of one account or of all; what changes meanwhile may or may not be seen. */
  walkUsers(account?: string): AsyncIterable<{ account: string; userId: string }>;
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
  addKey(record: KeyRecord, approval?: KeyApproval): Promise<AddKeyOutcome>;
  changeKey(
    id: string,
    change: { revokedAtMs?: number; expiresAtMs?: number | null },
  ): Promise<KeyRecord | undefined>;
  touchKeys(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Changes with every change of any key: at once for changes of this process, otherwise within 5 s. */
  keysVersion(): MaybePromise<number>;
  readUsage(keyId: string, month: string): MaybePromise<number>;
  /** Days with use from `fromDay` to `toDay` (YYYY-MM-DD, both included). */
  readDailyUsage(keyId: string, fromDay: string, toDay: string): Promise<{ day: string; count: number }[]>;
  /** Adds to what a key has used: for moving from one store to another. */
  addUsage(key: KeyRecord, days: readonly { day: string; count: number }[]): Promise<void>;
  addKeyRequest(request: KeyRequest): Promise<void>;
  listKeyRequests(): Promise<KeyRequest[]>;
  /** Decides an open request; undefined where there is none, or where it is decided already. */
  decideKeyRequest(
    id: string,
    decision: Pick<KeyRequest, "status" | "decidedAtMs" | "keyId">,
  ): Promise<KeyRequest | undefined>;
  /** False where there is none. */
  deleteKeyRequest(id: string): Promise<boolean>;
}

export interface Store extends FactStore, KeyStore {
  /** Rejects while the store cannot be written to. */
  probe(): Promise<void>;
  statistics(): MaybePromise<StoreStatistics>;
  /** Removes what has expired (idempotency records). */
  sweep(nowMs: number): Promise<void>;
  /** Records that are damaged, in words for the operator. */
  findDamage(): AsyncIterable<string>;
  close(): Promise<void>;
}
