/**
 * The embedded store: lmdb in a data folder that this process owns. Reads are memory-mapped point reads and return
 * without waiting; writes go through the group commit. Compaction and backup run here too, one at a time, while
 * requests go on.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Clock, type MonotonicClock, monotonicClock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/errors.ts";
import type { Metrics } from "../../base/metrics.ts";
import { type AtStep, noStep } from "../../base/steps.ts";
import type {
  AccountRecord,
  AddKeyOutcome,
  BackupReport,
  CompactReport,
  ComputedCode,
  FactRecord,
  KeyApproval,
  KeyRecord,
  KeyRequest,
  Progress,
  Store,
  StoreStatistics,
  UserState,
  WriteOutcome,
  WriteRequest,
} from "../../memory/ports.ts";
import {
  makeFolder,
  makeStoreFolder,
  nameStore,
  readStoreName,
  removeStore,
  syncPath,
} from "./data-folder.ts";
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
import { describeKey, Environment, FIRST_KEY, isSound, TABLES, type TableName } from "./environment.ts";
import { addUsage, forgetFacts, forgetUser, saveCodes, sweepExpired, writeFacts } from "./fact-writes.ts";
import { GroupCommit } from "./group-commit.ts";
import {
  addKey,
  addKeyRequest,
  changeKey,
  decideKeyRequest,
  deleteKeyRequest,
  touchKeys,
} from "./key-writes.ts";
import { type CopyReport, LiveCopy } from "./live-copy.ts";
import { type OpenFolder, openFolder } from "./open-folder.ts";
import {
  channelCount,
  FORGOTTEN,
  hasChannel,
  LifeSource,
  packNumber,
  stampOf,
  unpackFact,
  unpackJson,
  unpackNumber,
  unpackUser,
} from "./records.ts";

export interface LmdbStoreOptions {
  readonly folder: string;
  /** Makes the store if the folder has none. */
  readonly create: boolean;
  /** How long to wait for an owner that is about to end. */
  readonly lockWaitMs?: number;
  readonly queueMax: number;
  /** How long the disk may take to confirm a write. */
  readonly confirmMs?: number;
  readonly metrics: Metrics;
  readonly clock?: Clock;
  readonly monotonic?: MonotonicClock;
  /** Bytes that nobody can guess. */
  readonly randomBytes?: (length: number) => Buffer;
  readonly atStep?: AtStep;
}

const PAGE = 256;
const PROBE = Buffer.from("probe");
const CORRUPT_RECORDS = "sideband_corrupt_records_total";

export class LmdbStore implements Store {
  readonly #options: LmdbStoreOptions;
  readonly #clock: Clock;
  readonly #monotonic: MonotonicClock;
  readonly #lives: LifeSource;
  readonly #atStep: AtStep;
  readonly #opened: OpenFolder;
  readonly #commit: GroupCommit;
  #environment: Environment;
  /** The name of the store in use. */
  #name: string;
  /** The copy in progress, if any. */
  #copy: LiveCopy | undefined;
  #keysVersion = 0;

  private constructor(options: LmdbStoreOptions, opened: OpenFolder, environment: Environment) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#monotonic = options.monotonic ?? monotonicClock;
    this.#lives = new LifeSource(options.randomBytes ?? randomBytes);
    this.#atStep = options.atStep ?? noStep;
    this.#opened = opened;
    this.#name = opened.name;
    this.#environment = environment;
    this.#commit = new GroupCommit(() => this.#environment, {
      ...options,
      monotonic: this.#monotonic,
      atStep: this.#atStep,
      isOwner: () => this.isOwner,
      onCommitted: (changes) => {
        this.#copy?.note(changes);
        // Here, not where a write is answered: a change that the disk confirms late counts too.
        if (changes.some(({ table }) => table === "keys")) this.#keysVersion += 1;
      },
    });
  }

  /** Throws a DataFolderError, with a message for the operator, if the folder has an owner or cannot be used. */
  static async open(options: LmdbStoreOptions): Promise<LmdbStore> {
    options.metrics.define({
      name: CORRUPT_RECORDS,
      help: "Reads that met a record which fails its checksum.",
      type: "counter",
    });
    options.metrics.add(CORRUPT_RECORDS, "", 0);
    const opened = await openFolder(options);
    try {
      return new LmdbStore(options, opened, openStore(options.folder, opened.name, options.metrics));
    } catch (error) {
      opened.release();
      throw error;
    }
  }

  /** False if the data folder or its data file was removed or replaced. */
  get isOwner(): boolean {
    return this.#opened.isHeld() && this.#environment.isInPlace;
  }

  readFact(account: string, userId: string, channel: number): FactRecord | undefined {
    const bytes = this.#environment.peek("facts", factKey(account, userId, channel));
    if (bytes !== undefined) return unpackFact(channel, bytes, false);
    const user = this.#environment.peek("facts", userKey(account, userId));
    if (user !== undefined && hasChannel(unpackUser(user), channel)) throw incomplete(account, userId);
    return undefined;
  }

  readStamp(account: string, userId: string): string | undefined {
    const bytes = this.#environment.peek("facts", userKey(account, userId));
    return bytes && stampOf(bytes);
  }

  readStamps(users: readonly { account: string; userId: string }[]): (string | undefined)[] {
    return users.map(({ account, userId }) => this.readStamp(account, userId));
  }

  /** Both reads are of one snapshot: nothing else runs between them. */
  readUser(account: string, userId: string): UserState | undefined {
    const environment = this.#environment;
    const key = userKey(account, userId);
    const bytes = environment.get("facts", key);
    const facts = environment
      .entries("facts", rangeBelow(key))
      .map((entry) => unpackFact(channelOfFactKey(entry.key), entry.value));
    if (bytes === undefined && facts.length === 0) return undefined;
    // A missing record is damage as well: its key may have been changed.
    if (bytes === undefined || channelCount(unpackUser(bytes)) !== facts.length)
      throw incomplete(account, userId);
    return { stamp: stampOf(bytes), facts };
  }

  write(request: WriteRequest): Promise<WriteOutcome> {
    return this.#commit.run(writeFacts(request, this.#lives));
  }

  saveCodes(account: string, userId: string, codes: readonly ComputedCode[]): Promise<void> {
    return this.#commit.run(saveCodes(account, userId, codes));
  }

  forgetFacts(
    account: string,
    userId: string,
    facts: readonly { channel: number; revision?: number }[],
  ): Promise<{ forgotten: number; channelCount: number }> {
    return this.#commit.run(forgetFacts(account, userId, facts, this.#clock.now()));
  }

  forgetUser(account: string, userId: string): Promise<boolean> {
    return this.#commit.run(forgetUser(account, userId, this.#clock.now()));
  }

  async *walkUsers(account?: string): AsyncGenerator<{ account: string; userId: string }> {
    const range = account === undefined ? { start: FIRST_KEY } : rangeBelow(Buffer.from(account));
    for (let start = range.start; ; ) {
      // Each page is read from a fresh snapshot: one long snapshot would keep lmdb from reusing old pages.
      const users: Buffer[] = [];
      while (users.length < PAGE) {
        const [key] = this.#environment.keys("facts", { ...range, start, limit: 1 });
        if (key === undefined) break;
        const user = userOfKey(key);
        users.push(user);
        start = rangeBelow(user).end;
      }
      for (const user of users) yield splitUserKey(user);
      if (users.length < PAGE) return;
    }
  }

  findKey(hash: string): KeyRecord | undefined {
    const id = this.#environment.get("key-hashes", Buffer.from(hash, "hex"));
    return id && this.readKey(id.toString());
  }

  readKey(id: string): KeyRecord | undefined {
    const bytes = this.#environment.get("keys", Buffer.from(id));
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

  async addKey(record: KeyRecord, approval?: KeyApproval): Promise<AddKeyOutcome> {
    return this.#commit.run(addKey(record, approval));
  }

  async changeKey(
    id: string,
    change: { revokedAtMs?: number; expiresAtMs?: number | null },
  ): Promise<KeyRecord | undefined> {
    return this.#commit.run(changeKey(id, change));
  }

  async touchKeys(uses: ReadonlyMap<string, number>): Promise<void> {
    if (uses.size > 0) await this.#commit.run(touchKeys(uses));
  }

  keysVersion(): number {
    return this.#keysVersion;
  }

  readUsage(keyId: string, month: string): number {
    return unpackNumber(this.#environment.peek("counters", counterKey(keyId, month)));
  }

  async readDailyUsage(
    keyId: string,
    fromDay: string,
    toDay: string,
  ): Promise<{ day: string; count: number }[]> {
    const start = counterKey(keyId, fromDay);
    const end = counterKey(keyId, `${toDay}~`);
    return this.#environment
      .entries("counters", { start, end })
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

  deleteKeyRequest(id: string): Promise<boolean> {
    return this.#commit.run(deleteKeyRequest(id, this.#clock.now()));
  }

  /** A full disk may still have room for these few bytes, so a commit that failed moments ago counts too. */
  async probe(): Promise<void> {
    const failure = this.#commit.recentFailure;
    if (failure !== undefined) throw failure;
    await this.#commit.run((writer) => writer.put("meta", PROBE, packNumber(this.#clock.now())));
  }

  statistics(): StoreStatistics {
    const environment = this.#environment;
    const users = unpackNumber(environment.get("counters", Buffer.from(USERS)));
    return {
      facts: environment.entryCount("facts") - users,
      users,
      sizeBytes: environment.sizeBytes,
    };
  }

  async sweep(nowMs: number): Promise<void> {
    while ((await this.#commit.run(sweepExpired(nowMs, PAGE))) === PAGE);
  }

  async *findDamage(): AsyncGenerator<string> {
    for (const table of TABLES) {
      for (let start = FIRST_KEY; ; ) {
        const page = this.#environment.records(table, { start, limit: PAGE });
        for (const { key, value } of page) {
          if (!isSound(table, key, value)) yield `${table} ${describeKey(key)}`;
        }
        if (page.length < PAGE) break;
        start = Buffer.concat([page[page.length - 1].key, Buffer.of(0)]);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  /** Rewrites the store without the bytes of what was forgotten or overwritten before it began. */
  async compact(progress?: Progress): Promise<CompactReport> {
    const { folder } = this.#options;
    const startedMs = this.#monotonic.now();
    const old = { environment: this.#environment, name: this.#name };
    const beforeBytes = old.environment.sizeBytes;
    const { entries } = await this.#copyInto(folder, progress, async (fresh, name) => {
      this.#atStep("compaction: caught up");
      try {
        nameStore(folder, name);
      } finally {
        // Also if the disk failed after the name was replaced: writes must go to the store that the next start opens.
        if (readStoreName(folder) === name) {
          this.#environment = fresh;
          this.#name = name;
        }
      }
      this.#atStep("compaction: moved over");
    });
    await old.environment.close();
    removeStore(folder, old.name);
    this.#atStep("compaction: old store removed");
    const afterBytes = this.#environment.sizeBytes;
    return { beforeBytes, afterBytes, entries, durationMs: Math.round(this.#monotonic.now() - startedMs) };
  }

  /**
   * A consistent copy while requests go on: the new folder is a data folder that can be opened.
   * @param beforeNaming adds what else belongs in the folder; until the store is named, the folder is no backup
   */
  async backup(
    folder: string,
    beforeNaming: () => void = () => {},
    progress?: Progress,
  ): Promise<BackupReport> {
    makeFolder(folder);
    let done = { name: "", copy: undefined as Environment | undefined };
    const report = await this.#copyInto(folder, progress, async (copy, name) => {
      done = { name, copy };
      this.#atStep("backup: caught up");
    });
    await done.copy?.close();
    beforeNaming();
    this.#atStep("backup: master key copied");
    syncPath(folder);
    nameStore(folder, done.name);
    this.#atStep("backup: named");
    return report;
  }

  /** Fills a new store in `folder` with all live entries, and calls `complete` between two groups. */
  async #copyInto(
    folder: string,
    progress: Progress | undefined,
    complete: (fresh: Environment, name: string) => Promise<void>,
  ): Promise<CopyReport> {
    if (this.#copy !== undefined)
      throw new Failure("conflict", "A compaction or a backup is already running.");
    const name = makeStoreFolder(folder);
    const fresh = openStore(folder, name, this.#options.metrics);
    const copy = new LiveCopy(this.#environment, fresh, this.#atStep);
    this.#copy = copy;
    let report: CopyReport = { entries: 0, damaged: [] };
    try {
      await copy.copyAll(progress);
      await this.#commit.between(async () => {
        report = await copy.finish(this.#clock.now());
        await complete(fresh, name);
      });
      return report;
    } catch (error) {
      if (this.#environment !== fresh) {
        await fresh.close();
        removeStore(folder, name);
      }
      throw error;
    } finally {
      this.#copy = undefined;
    }
  }

  /** When something was first forgotten since the last compaction. */
  forgottenSinceMs(): number | undefined {
    const bytes = this.#environment.get("meta", FORGOTTEN);
    return bytes && unpackNumber(bytes);
  }

  /** A compaction or backup in progress is given up, and its copy is removed. */
  async close(): Promise<void> {
    this.#copy?.stop();
    await this.#commit.close();
    await this.#environment.close();
    this.#opened.release();
  }

  #all<T>(table: TableName): T[] {
    return this.#environment.entries(table).map(({ value }) => unpackJson<T>(value));
  }
}

function openStore(folder: string, name: string, metrics: Metrics): Environment {
  return new Environment(join(folder, name), () => metrics.add(CORRUPT_RECORDS));
}

function incomplete(account: string, userId: string): Failure {
  const cause = new Error(
    `the records of user ${JSON.stringify(userId)} of ${account} do not belong together`,
  );
  return new Failure("store_corrupt", "A stored record is missing or damaged.", { cause });
}
