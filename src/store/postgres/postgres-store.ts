/**
 * The store for more than one machine: PostgreSQL, shared by any number of nodes. Only the version of the keys is
 * cached here. Every other read asks the database, so it sees the last write that any node has acknowledged.
 */

import { assert, elementAt } from "../../base/assert.ts";
import {
  type Clock,
  type MonotonicClock,
  monotonicClock,
  type ServiceClock,
  trusted,
} from "../../base/clock.ts";
import { Failure } from "../../base/errors.ts";
import { FairTurns } from "../../base/fair-turns.ts";
import { HISTORY_DEFAULT } from "../../base/limits.ts";
import type { Metrics } from "../../base/metrics.ts";
import type {
  CompactReport,
  FactRecord,
  LifeAsked,
  PlacedCode,
  Store,
  StoreStatistics,
  UserDescription,
  UserLife,
  UserState,
  View,
  WriteOutcome,
  WriteRequest,
} from "../../memory/ports.ts";
import type {
  AccountRecord,
  AddKeyOutcome,
  AddLabelOutcome,
  ChangeLabelOutcome,
  EndedFact,
  EventLog,
  FreeLabel,
  KeyApproval,
  KeyRecord,
  KeyRequest,
  LabelChange,
  LabelRecord,
  Place,
  RemoveLabelOutcome,
} from "../../memory/records.ts";
import { SLOT_COUNT, userSlot } from "./cluster/placement.ts";
import { HungWorkers, SlotWorkers } from "./cluster/workers.ts";
import { DATABASE_DEFAULTS, Database, type DatabaseOptions, type Query } from "./connection/database.ts";
import { GroupCommit } from "./group-commit.ts";
import { checkSchema, loadMigrations, type Migration, migrate } from "./migrations.ts";
import * as events from "./queries/event-queries.ts";
import * as facts from "./queries/fact-queries.ts";
import { userName } from "./queries/group-locks.ts";
import { beginHistoryLimit, historyInForce, shortenHistories } from "./queries/histories.ts";
import * as keys from "./queries/key-queries.ts";
import * as requests from "./queries/key-request-queries.ts";
import { KeysWatch } from "./queries/keys-watch.ts";
import * as labels from "./queries/label-queries.ts";
import * as upkeep from "./queries/upkeep.ts";

export interface PostgresStoreOptions extends Partial<Omit<DatabaseOptions, "url">> {
  readonly url: string;
  readonly queueMax: number;
  readonly metrics: Metrics;
  /** Writes in one commit; 1 makes every write a statement of its own. */
  readonly groupMax?: number;
  /** How many earlier values of a fact are kept; undefined for as many as under the node that was started last. */
  readonly historyMax?: number | undefined;
  /** Instead of the database's. */
  readonly clock?: Clock;
  readonly monotonic?: MonotonicClock;
  /** Rows in the form that a cluster needs, wherever they go: for tests. */
  readonly clusterForms?: boolean;
  /** Shares the event loop between accounts. */
  readonly turns?: FairTurns;
  /** The schema that this program knows. */
  readonly migrations?: readonly Migration[];
}

interface StoreParts {
  readonly clock: ServiceClock;
  readonly monotonic: MonotonicClock;
  readonly readOnly: boolean;
  readonly historyMax: number;
  readonly turns: FairTurns;
}

const GROUP_MAX = 256;
/** A probe is not needed if a write was stored within this time. */
const STORED_MS = 1_000;
/** After a failed commit the database counts as not ready for this time, unless a later commit succeeds. */
const FAILED_MS = 5_000;

export class PostgresStore implements Store, EventLog {
  readonly #database: Database;
  readonly #commit: GroupCommit;
  readonly #keys: KeysWatch;
  readonly #workers: SlotWorkers;
  readonly #hung: HungWorkers;
  /** The database's: a node's own may be wrong. */
  readonly clock: ServiceClock;
  readonly #monotonic: MonotonicClock;
  readonly #readOnly: boolean;
  readonly #turns: FairTurns;
  /** How many earlier values of each fact are kept. */
  readonly historyMax: number;
  /** Nodes may have different limits for a while: each shortens the histories once. */
  #isShortened = false;

  private constructor(
    database: Database,
    commit: GroupCommit,
    watch: KeysWatch,
    workers: SlotWorkers,
    { clock, monotonic, readOnly, historyMax, turns }: StoreParts,
  ) {
    this.#database = database;
    this.#commit = commit;
    this.#keys = watch;
    this.#workers = workers;
    this.#hung = new HungWorkers(database, workers);
    this.clock = clock;
    this.#monotonic = monotonic;
    this.#readOnly = readOnly;
    this.historyMax = historyMax;
    this.#turns = turns;
  }

  /** Migrates the database, or refuses it, and then opens it. With `readOnly` it is changed in no way. */
  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    const { url, queueMax, metrics, groupMax = GROUP_MAX, ...more } = options;
    const { clock: given, monotonic = monotonicClock, ...rest } = more;
    const { migrations = loadMigrations(), readOnly = false, clusterForms, ...others } = rest;
    const { historyMax: wanted, turns = new FairTurns(), ...limits } = others;
    const database = new Database({ ...DATABASE_DEFAULTS, ...limits, readOnly, url });
    const clock = given === undefined ? database.clock : trusted(given);
    const workers = new SlotWorkers(database);
    const watch = new KeysWatch(database, monotonic);
    try {
      const historyMax = await database.withoutTimeLimit(async (sql) => {
        await (readOnly ? checkSchema(sql, migrations) : migrate(sql, migrations));
        const limit = wanted ?? (await historyInForce()(sql)) ?? HISTORY_DEFAULT;
        if (!readOnly) await beginHistoryLimit(limit)(sql);
        return limit;
      });
      await workers.start();
      await watch.start(!readOnly);
      defineMetrics(metrics, database);
      const lockWaitMs = limits.statementTimeoutMs ?? DATABASE_DEFAULTS.statementTimeoutMs;
      const commit = new GroupCommit(database, {
        queueMax,
        groupMax,
        historyMax,
        lockWaitMs,
        metrics,
        monotonic,
        workerOf: (slot) => workers.of(slot),
        isCluster: () => clusterForms ?? workers.areMany,
        turns,
      });
      const parts = { clock, monotonic, readOnly, historyMax, turns };
      return new PostgresStore(database, commit, watch, workers, parts);
    } catch (error) {
      workers.stop();
      watch.stop();
      await database.close();
      throw error;
    }
  }

  readFact(view: View, label: string): Promise<FactRecord | undefined> {
    return this.#ofUser(view.account, view.userId, () => this.#database.read(facts.readFact(view, label)));
  }

  readUser(view: View): Promise<UserState | undefined> {
    return this.#ofUser(view.account, view.userId, () =>
      this.#database.read(facts.readUser(view, this.#turnOf(view))),
    );
  }

  readLife(account: string, userId: string, options: LifeAsked): Promise<UserLife | undefined> {
    const query = facts.readLife(account, userId, options, this.#turnOf({ account }));
    return this.#ofUser(account, userId, () => this.#database.read(query));
  }

  listPlaces(account: string, userId: string): Promise<Place[]> {
    return this.#ofUser(account, userId, () => this.#database.read(facts.listPlaces(account, userId)));
  }

  describeUser(account: string, userId: string, nowMs: number): Promise<UserDescription | undefined> {
    const query = facts.describeUser(account, userId, nowMs);
    return this.#ofUser(account, userId, () => this.#database.read(query));
  }

  readFreeLabels(...[account, userId, options]: Parameters<Store["readFreeLabels"]>): Promise<FreeLabel[]> {
    const query = facts.readFreeLabels(account, userId, options);
    return this.#ofUser(account, userId, () => this.#database.read(query));
  }

  readStamp(account: string, userId: string): Promise<string | undefined> {
    return this.#ofUser(account, userId, () => this.#database.read(facts.readStamp(account, userId)));
  }

  write(request: WriteRequest): Promise<WriteOutcome> {
    return this.#ofUser(request.account, request.userId, () => this.#commit.write(request));
  }

  saveCodes(account: string, userId: string, codes: readonly PlacedCode[]): Promise<void> {
    return this.#ofUser(account, userId, () => this.#database.write(facts.saveCodes(account, userId, codes)));
  }

  async forgetUser(account: string, userId: string, place?: Place): Promise<boolean> {
    const changes = [{ kind: "erase", within: place ?? null } as const];
    const outcome = await this.write({ account, userId, changes, places: [], nowMs: this.clock.now() });
    assert(outcome.outcome === "stored" && outcome.report !== undefined, "an erasure is reported");
    return outcome.report.erased === true;
  }

  walkUsers(account?: string): AsyncIterable<{ account: string; userId: string }> {
    const read = <T>(query: Query<T>) => this.#database.read(query);
    return account === undefined ? facts.walkAllUsers(read) : facts.walkUsersOf(read, account);
  }

  listUsers(account: string, options: { prefix: string; after: string; limit: number }): Promise<string[]> {
    return this.#database.read(facts.listUsers(account, options));
  }

  readLabels(account: string): Promise<LabelRecord[]> {
    return this.#database.read(labels.readLabels(account));
  }

  async addLabel(account: string, label: Omit<LabelRecord, "channel">): Promise<AddLabelOutcome> {
    const { outcome, version } = await this.#database.write(labels.addLabel(account, label));
    this.#keys.note(version);
    return outcome;
  }

  async changeLabel(account: string, base: LabelRecord, change: LabelChange): Promise<ChangeLabelOutcome> {
    const { outcome, version } = await this.#database.write(labels.changeLabel(account, base, change));
    this.#keys.note(version);
    return outcome;
  }

  async removeLabel(account: string, label: string): Promise<RemoveLabelOutcome> {
    // First without a lock: nearly all labels are in use, and that is soon seen.
    if (await this.#database.read(labels.isUsed(account, label))) return "in_use";
    const { outcome, version } = await this.#database.write(labels.removeLabel(account, label));
    this.#keys.note(version);
    return outcome;
  }

  readStrict(account: string): Promise<boolean> {
    return this.#database.read(labels.readStrict(account));
  }

  async changeStrict(account: string, isStrict: boolean): Promise<void> {
    const { version } = await this.#database.write(labels.changeStrict(account, isStrict));
    this.#keys.note(version);
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

  keysVersion(isNow = false): number | Promise<number> {
    return this.#keys.version(isNow);
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

  followEvents(account: string, untilMs: number): Promise<{ log: string; last: number }> {
    return events.follow(this.#database, account, untilMs);
  }

  readEvents(accounts: readonly string[], after: number, limit: number): ReturnType<EventLog["readEvents"]> {
    return this.#database.read(events.readEvents(accounts, after, limit));
  }

  /** Agrees with the other nodes on a setting: the first value stays, and every node gets it. */
  async agreeOn(name: string, value: string): Promise<string> {
    if (this.#readOnly) return (await this.#database.read(keys.readSetting(name))) ?? value;
    return this.#database.write(keys.agreeOn(name, value));
  }

  /**
   * A store that has just stored a write is ready. Without such a write, one row is written. A full disk may have room
   * for that row, so a commit that failed moments ago counts as not ready. On a cluster it does not count: there a
   * worker that stops affects only its own users.
   */
  async probe(): Promise<void> {
    const failure = this.#workers.areMany ? undefined : this.#commit.recentFailure(FAILED_MS);
    if (failure !== undefined) throw failure;
    if (this.#commit.hasStored(STORED_MS)) return;
    await this.#database.write(upkeep.writeProbe(Math.floor(Math.random() * SLOT_COUNT), this.clock.now()));
  }

  statistics(): Promise<StoreStatistics> {
    return this.#database.read(upkeep.readStatistics());
  }

  async sweep(nowMs: number): Promise<readonly EndedFact[]> {
    if (this.#readOnly) return [];
    if (!this.#isShortened) await this.#database.withoutTimeLimit(shortenHistories(this.historyMax));
    this.#isShortened = true;
    await this.#database.withoutTimeLimit(upkeep.sweepReplays(nowMs));
    await this.#database.write(events.sweepEvents(nowMs));
    const swept: EndedFact[] = [];
    for (let page = await this.endFacts(nowMs); page.length > 0; page = await this.endFacts(nowMs))
      swept.push(...page);
    return swept;
  }

  async endFacts(nowMs: number): Promise<readonly EndedFact[]> {
    if (this.#readOnly) return [];
    const due = await this.#database.read(upkeep.readEnded(nowMs));
    const byUser = new Map<string, EndedFact[]>();
    for (const fact of due) byUser.set(userName(fact), [...(byUser.get(userName(fact)) ?? []), fact]);
    const ended = await Promise.all(
      [...byUser.values()].map(async (facts) => {
        const { account, userId } = elementAt(facts, 0);
        const changes = facts.map(({ place, label }) => ({ kind: "expire", place, label }) as const);
        try {
          const outcome = await this.write({ account, userId, changes, places: [], nowMs });
          assert(outcome.outcome === "stored", "an end has no condition and no limit");
          // What another node has ended meanwhile, it tells.
          return facts.filter(({ place, label, revision }) =>
            outcome.events.some((e) => e.place === place && e.label === label && e.revision === revision),
          );
        } catch (error) {
          // The facts of others end meanwhile; those of a user whom somebody keeps locked, next time.
          if (!(error instanceof Failure) || error.code !== "store_unavailable") throw error;
          return [];
        }
      }),
    );
    return ended.flat();
  }

  nextEndMs(): Promise<number | undefined> {
    return this.#database.read(upkeep.readNextEnd());
  }

  /** PostgreSQL checks its own pages (data_checksums, amcheck). */
  async *findDamage(): AsyncGenerator<string> {}

  /** Rewrites the tables without what was forgotten or overwritten. Requests wait while their table is rewritten. */
  async compact(): Promise<CompactReport> {
    await this.#database.withoutTimeLimit(shortenHistories(this.historyMax));
    return this.#database.withoutTimeLimit(upkeep.rewriteTables(this.#monotonic));
  }

  #turnOf({ account }: Pick<View, "account">): () => Promise<void> {
    return () => this.#turns.next(account);
  }

  #ofUser<T>(account: string, userId: string, call: () => Promise<T>): Promise<T> {
    return this.#hung.guard(() => userSlot(account, userId), call);
  }

  async close(): Promise<void> {
    this.#keys.stop();
    this.#workers.stop();
    this.#hung.stop();
    await this.#commit.close();
    await this.#database.close();
  }
}

function defineMetrics(metrics: Metrics, database: Database): void {
  const [pending, mixedUp] = ["sideband_database_pending", "sideband_database_mixed_up_answers_total"];
  metrics.define({ name: pending, help: "Queries that wait or run.", type: "gauge" });
  metrics.define({ name: mixedUp, help: "Answers that belonged to another request.", type: "counter" });
  const ahead = "sideband_clock_ahead_seconds";
  metrics.define({
    name: ahead,
    help: "How far this node's own clock is ahead of the database's.",
    type: "gauge",
  });
  metrics.onCollect(() => {
    metrics.set(ahead, database.clock.aheadMs / 1000);
    metrics.set(pending, database.pending);
    metrics.set(mixedUp, database.mixedUp);
  });
}
