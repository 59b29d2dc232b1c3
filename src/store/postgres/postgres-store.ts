/**
 * The store for more than one machine: PostgreSQL, shared by any number of nodes. Only the version of the keys is
 * cached here. Every other read asks the database, so it sees the last write that any node has acknowledged.
 */

import { type MonotonicClock, monotonicClock } from "../../base/clock.ts";
import type { Metrics } from "../../base/metrics.ts";
import type {
  AccountRecord,
  AddKeyOutcome,
  CompactReport,
  FactCode,
  FactRecord,
  KeyApproval,
  KeyRecord,
  KeyRequest,
  Store,
  StoreStatistics,
  UserState,
  WriteOutcome,
  WriteRequest,
} from "../../memory/ports.ts";
import { DATABASE_DEFAULTS, Database, type DatabaseOptions, type Query } from "./database.ts";
import { unavailable } from "./database-failure.ts";
import { readShardMap } from "./distribution.ts";
import * as facts from "./fact-queries.ts";
import { GroupCommit } from "./group-commit.ts";
import * as keys from "./key-queries.ts";
import * as requests from "./key-request-queries.ts";
import { KeysWatch } from "./keys-watch.ts";
import { migrate } from "./migrations.ts";
import { isWritable, readStatistics, rewriteTables, sweepReplays } from "./upkeep.ts";

export interface PostgresStoreOptions extends Partial<Omit<DatabaseOptions, "url">> {
  readonly url: string;
  readonly queueMax: number;
  readonly metrics: Metrics;
  /** Writes in one commit; 1 makes every write a statement of its own. */
  readonly groupMax?: number;
  readonly monotonic?: MonotonicClock;
}

const GROUP_MAX = 256;

export class PostgresStore implements Store {
  readonly #database: Database;
  readonly #commit: GroupCommit;
  readonly #keys: KeysWatch;
  readonly #monotonic: MonotonicClock;

  private constructor(database: Database, commit: GroupCommit, watch: KeysWatch, monotonic: MonotonicClock) {
    this.#database = database;
    this.#commit = commit;
    this.#keys = watch;
    this.#monotonic = monotonic;
  }

  /** Migrates the database, or refuses it, and then opens it. */
  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    const { url, queueMax, metrics, groupMax = GROUP_MAX, monotonic = monotonicClock, ...more } = options;
    const database = new Database({ ...DATABASE_DEFAULTS, ...more, url });
    try {
      await database.withoutTimeLimit((sql) => migrate(sql));
      const shards = await database.read(readShardMap());
      const laneOf = (slot: number) => shards?.[slot] ?? 0;
      const watch = new KeysWatch(database, monotonic);
      await watch.start();
      metrics.define({ name: "sideband_database_pending", help: "Queries that wait or run.", type: "gauge" });
      metrics.onCollect(() => metrics.set("sideband_database_pending", database.pending));
      return new PostgresStore(
        database,
        new GroupCommit(database, { queueMax, groupMax, metrics, monotonic, laneOf }),
        watch,
        monotonic,
      );
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  readFact(account: string, userId: string, channel: number): Promise<FactRecord | undefined> {
    return this.#database.read(facts.readFact(account, userId, channel));
  }

  readUser(account: string, userId: string): Promise<UserState | undefined> {
    return this.#database.read(facts.readUser(account, userId));
  }

  readStamp(account: string, userId: string): Promise<string | undefined> {
    return this.#database.read(facts.readStamp(account, userId));
  }

  write(request: WriteRequest): Promise<WriteOutcome> {
    return this.#commit.write(request);
  }

  saveCodes(
    account: string,
    userId: string,
    codes: readonly { channel: number; revision: number; code: FactCode }[],
  ): Promise<void> {
    return this.#database.write(facts.saveCodes(account, userId, codes));
  }

  forgetFacts(
    account: string,
    userId: string,
    forgotten: readonly { channel: number; revision?: number }[],
  ): Promise<{ forgotten: number; channelCount: number }> {
    return this.#database.write(facts.forgetFacts(account, userId, forgotten));
  }

  async forgetUser(account: string, userId: string): Promise<boolean> {
    return (await this.#database.write(facts.forgetFacts(account, userId))).forgotten > 0;
  }

  walkUsers(account?: string): AsyncIterable<{ account: string; userId: string }> {
    const read = <T>(query: Query<T>) => this.#database.read(query);
    return account === undefined ? facts.walkAllUsers(read) : facts.walkUsersOf(read, account);
  }

  findKey(hash: string): Promise<KeyRecord | undefined> {
    return this.#database.read(keys.findKey(hash));
  }

  readKey(id: string): Promise<KeyRecord | undefined> {
    return this.#database.read(keys.readKey(id));
  }

  listKeys(account?: string): Promise<KeyRecord[]> {
    return this.#database.read(keys.listKeys(account));
  }

  listAccounts(): Promise<AccountRecord[]> {
    return this.#database.read(keys.listAccounts());
  }

  async addKey(record: KeyRecord, approval?: KeyApproval): Promise<AddKeyOutcome> {
    const { outcome, version } = await this.#database.write(keys.addKey(record, approval));
    this.#keys.note(version);
    return outcome;
  }

  async changeKey(
    id: string,
    change: { revokedAtMs?: number; expiresAtMs?: number | null },
  ): Promise<KeyRecord | undefined> {
    const changed = await this.#database.write(keys.changeKey(id, change));
    if (changed !== undefined) this.#keys.note(changed.version);
    return changed?.record;
  }

  touchKeys(uses: ReadonlyMap<string, number>): Promise<void> {
    return this.#database.write(keys.touchKeys(uses));
  }

  keysVersion(): number | Promise<number> {
    return this.#keys.version();
  }

  readUsage(keyId: string, month: string): Promise<number> {
    return this.#database.read(keys.readUsage(keyId, month));
  }

  readDailyUsage(keyId: string, fromDay: string, toDay: string): Promise<{ day: string; count: number }[]> {
    return this.#database.read(keys.readDailyUsage(keyId, fromDay, toDay));
  }

  addUsage(key: KeyRecord, days: readonly { day: string; count: number }[]): Promise<void> {
    return this.#database.write(keys.addUsage(key, days));
  }

  addKeyRequest(request: KeyRequest): Promise<void> {
    return this.#database.write(requests.addKeyRequest(request));
  }

  listKeyRequests(): Promise<KeyRequest[]> {
    return this.#database.read(requests.listKeyRequests());
  }

  decideKeyRequest(
    id: string,
    decision: Pick<KeyRequest, "status" | "decidedAtMs" | "keyId">,
  ): Promise<KeyRequest | undefined> {
    return this.#database.write(requests.decideKeyRequest(id, decision));
  }

  deleteKeyRequest(id: string): Promise<boolean> {
    return this.#database.write(requests.deleteKeyRequest(id));
  }

  /** Agrees with the other nodes on a setting: the first value stays, and every node gets it. */
  agreeOn(name: string, value: string): Promise<string> {
    return this.#database.write(keys.agreeOn(name, value));
  }

  async probe(): Promise<void> {
    if (!(await this.#database.write(isWritable()))) throw unavailable("The database takes no writes now.");
  }

  statistics(): Promise<StoreStatistics> {
    return this.#database.read(readStatistics());
  }

  sweep(nowMs: number): Promise<void> {
    return this.#database.withoutTimeLimit(sweepReplays(nowMs));
  }

  /** PostgreSQL checks its own pages (data_checksums, amcheck). */
  async *findDamage(): AsyncGenerator<string> {}

  /** Rewrites the tables without what was forgotten or overwritten. Requests wait while their table is rewritten. */
  compact(): Promise<CompactReport> {
    return this.#database.withoutTimeLimit(rewriteTables(this.#monotonic));
  }

  async close(): Promise<void> {
    this.#keys.stop();
    await this.#commit.close();
    await this.#database.close();
  }
}
