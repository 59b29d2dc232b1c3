/**
 * The embedded store: lmdb in a data folder. Reads are memory-mapped point reads and answer at once; writes go
 * through the group commit. Any number of processes may have the folder open at the same time, each of them once:
 * lmdb-js opens databases on the JavaScript thread and would wait there for a write of the same process.
 */

import { mkdirSync } from "node:fs";
import type { Metrics } from "../../base/metrics.ts";
import type {
  AccountRecord,
  CompactReport,
  ComputedCode,
  KeyRecord,
  KeyRequest,
  Progress,
  Store,
  StoredFact,
  StoreStatistics,
  UserState,
  WriteOutcome,
  WriteRequest,
} from "../../memory/ports.ts";
import { compactStore, forgottenSince } from "./compaction.ts";
import { generationFolder, nameGeneration } from "./data-folder.ts";
import {
  channelOfFactKey,
  counterKey,
  factKey,
  rangeBelow,
  splitUserKey,
  USERS,
  userKey,
  userOfKey,
} from "./entry-keys.ts";
import type { DatabaseName } from "./environment.ts";
import { addUsage, forgetFacts, forgetUser, saveCodes, sweepLapsed, writeFacts } from "./fact-writes.ts";
import { Generations, type OpenOptions } from "./generations.ts";
import { GroupCommit } from "./group-commit.ts";
import {
  addKey,
  addKeyRequest,
  changeKey,
  decideKeyRequest,
  KEYS_VERSION,
  touchKeys,
  unpackJson,
} from "./key-writes.ts";
import { packNumber, stampOf, unpackFact, unpackNumber } from "./records.ts";

export interface LmdbStoreOptions extends OpenOptions {
  readonly folder: string;
  readonly queueMax: number;
  readonly metrics: Metrics;
}

const WALK_PAGE = 256;
const SWEEP_PAGE = 256;
const PROBE = Buffer.from("probe");

export class LmdbStore implements Store {
  readonly readsAtOnce = true;
  readonly #generations: Generations;
  readonly #commit: GroupCommit;
  /** Every request asks for it: it is read once for each snapshot. */
  #keys = { snapshot: -1, version: 0 };

  private constructor(generations: Generations, commit: GroupCommit) {
    this.#generations = generations;
    this.#commit = commit;
  }

  static async open(options: LmdbStoreOptions): Promise<LmdbStore> {
    const generations = await Generations.open(options.folder, options);
    return new LmdbStore(generations, new GroupCommit(generations, options));
  }

  readFact(account: string, userId: string, channel: number): StoredFact | undefined {
    const bytes = this.#generations.current.peek("facts", factKey(account, userId, channel));
    return bytes && unpackFact(channel, bytes, false);
  }

  readStamp(account: string, userId: string): string | undefined {
    const bytes = this.#generations.current.peek("facts", userKey(account, userId));
    return bytes && stampOf(bytes);
  }

  /** Both reads are of one snapshot: nothing else runs between them. */
  readUser(account: string, userId: string): UserState | undefined {
    const environment = this.#generations.current;
    const key = userKey(account, userId);
    const bytes = environment.get("facts", key);
    if (bytes === undefined) return undefined;
    const facts: StoredFact[] = [];
    for (const entry of environment.table("facts").getRange(rangeBelow(key))) {
      facts.push(unpackFact(channelOfFactKey(entry.key), entry.value));
    }
    return { stamp: stampOf(bytes), facts };
  }

  write(request: WriteRequest): Promise<WriteOutcome> {
    return this.#commit.run(writeFacts(request));
  }

  saveCodes(account: string, userId: string, codes: readonly ComputedCode[]): Promise<void> {
    return this.#commit.run(saveCodes(account, userId, codes));
  }

  forgetFacts(
    account: string,
    userId: string,
    facts: readonly { channel: number; revision?: number }[],
  ): Promise<{ forgotten: number; channelCount: number }> {
    return this.#commit.run(forgetFacts(account, userId, facts));
  }

  forgetUser(account: string, userId: string): Promise<boolean> {
    return this.#commit.run(forgetUser(account, userId));
  }

  async *walkUsers(account?: string): AsyncGenerator<{ account: string; userId: string }> {
    const range = account === undefined ? { start: Buffer.of(0) } : rangeBelow(Buffer.from(account));
    for (let start = range.start; ; ) {
      // Page by page, each of a fresh snapshot: a long walk does not keep old pages from being used again.
      const users: Buffer[] = [];
      while (users.length < WALK_PAGE) {
        const [key] = this.#generations.current.table("facts").getKeys({ ...range, start, limit: 1 });
        if (key === undefined) break;
        const user = userOfKey(key);
        users.push(user);
        start = rangeBelow(user).end;
      }
      for (const user of users) yield splitUserKey(user);
      if (users.length < WALK_PAGE) return;
    }
  }

  findKey(hash: string): KeyRecord | undefined {
    const id = this.#generations.current.get("key-hashes", Buffer.from(hash, "hex"));
    return id && this.readKey(id.toString());
  }

  readKey(id: string): KeyRecord | undefined {
    const bytes = this.#generations.current.get("keys", Buffer.from(id));
    return bytes && unpackJson<KeyRecord>(bytes);
  }

  async listKeys(account?: string): Promise<KeyRecord[]> {
    const keys = this.#all<KeyRecord>("keys").filter(
      (key) => account === undefined || key.account === account,
    );
    return keys.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  }

  async listAccounts(): Promise<AccountRecord[]> {
    return this.#all<AccountRecord>("accounts");
  }

  addKey(record: KeyRecord): Promise<void> {
    return this.#commit.run(addKey(record));
  }

  changeKey(
    id: string,
    change: { revokedAtMs?: number; expiresAtMs?: number | null },
  ): Promise<KeyRecord | undefined> {
    return this.#commit.run(changeKey(id, change));
  }

  async touchKeys(uses: ReadonlyMap<string, number>): Promise<void> {
    if (uses.size > 0) await this.#commit.run(touchKeys(uses));
  }

  keysVersion(): number {
    const { snapshot } = this.#generations;
    if (snapshot !== this.#keys.snapshot) {
      const version = unpackNumber(this.#generations.current.peek("meta", KEYS_VERSION));
      this.#keys = { snapshot, version };
    }
    return this.#keys.version;
  }

  readUsage(keyId: string, month: string): number {
    return unpackNumber(this.#generations.current.peek("counters", counterKey(keyId, month)));
  }

  async readDailyUsage(
    keyId: string,
    fromDay: string,
    toDay: string,
  ): Promise<{ day: string; count: number }[]> {
    const start = counterKey(keyId, fromDay);
    const end = counterKey(keyId, `${toDay}~`);
    const entries = [...this.#generations.current.table("counters").getRange({ start, end })];
    return entries
      .map(({ key, value }) => ({ day: key.toString("utf8", keyId.length + 1), count: unpackNumber(value) }))
      .filter(({ day }) => day.length === 10);
  }

  addUsage(key: KeyRecord, days: readonly { day: string; count: number }[]): Promise<void> {
    return this.#commit.run(addUsage(key.id, days));
  }

  addKeyRequest(request: KeyRequest): Promise<void> {
    return this.#commit.run(addKeyRequest(request));
  }

  async listKeyRequests(): Promise<KeyRequest[]> {
    return this.#all<KeyRequest>("key-requests").sort((a, b) => a.createdAtMs - b.createdAtMs);
  }

  decideKeyRequest(
    id: string,
    decision: Pick<KeyRequest, "status" | "decidedAtMs" | "keyId">,
  ): Promise<KeyRequest | undefined> {
    return this.#commit.run(decideKeyRequest(id, decision));
  }

  /** On a full disk a few bytes may still find room: a commit that failed a moment ago counts as well. */
  async probe(): Promise<void> {
    const failure = this.#commit.recentFailure;
    if (failure !== undefined) throw failure;
    await this.#commit.run((writer) => writer.put("meta", PROBE, packNumber(Date.now())));
  }

  statistics(): StoreStatistics {
    const environment = this.#generations.current;
    const users = unpackNumber(environment.get("counters", Buffer.from(USERS)));
    return {
      facts: environment.entryCount("facts") - users,
      users,
      sizeBytes: environment.sizeBytes,
    };
  }

  async sweep(nowMs: number): Promise<void> {
    while ((await this.#commit.run(sweepLapsed(nowMs, SWEEP_PAGE))) === SWEEP_PAGE);
  }

  /** Rewrites the store without the bytes of what was forgotten or overwritten before it began. */
  compact(progress?: Progress): Promise<CompactReport> {
    return compactStore(this.#generations, this.#commit, progress);
  }

  /** When something was first forgotten since the last compaction. */
  forgottenSinceMs(): number | undefined {
    return forgottenSince(this.#generations.current);
  }

  /** A consistent copy, while others read and write: the new folder is a data folder that can be opened. */
  async backup(folder: string): Promise<void> {
    const store = generationFolder(folder, 1);
    mkdirSync(store, { recursive: true, mode: 0o700 });
    await this.#generations.current.copyTo(store);
    nameGeneration(folder, 1);
  }

  async close(): Promise<void> {
    await this.#commit.close();
    await this.#generations.close();
  }

  #all<T>(name: DatabaseName): T[] {
    const entries = [...this.#generations.current.table(name).getRange({ start: Buffer.of(0) })];
    return entries.map(({ value }) => unpackJson<T>(value));
  }
}
