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
import { eraseUser } from "../../memory/erasure.ts";
import type {
  CompactReport,
  DatabaseServer,
  FactRecord,
  PlacedCode,
  PlacedVector,
  Store,
  StoreStatistics,
  UserState,
  View,
  WriteOutcome,
  WriteRequest,
} from "../../memory/ports.ts";
import type { EndedFact, EventLog } from "../../memory/records.ts";
import { AccountTables } from "./account-tables.ts";
import { SLOT_COUNT, userSlot } from "./cluster/placement.ts";
import { SlotWorkers, UnresponsiveWorkers } from "./cluster/workers.ts";
import { DATABASE_DEFAULTS, Database, type DatabaseOptions, type Query } from "./connection/database.ts";
import { GroupCommit } from "./group-commit.ts";
import { checkSchema, loadMigrations, type Migration, migrate } from "./migrations.ts";
import { sweepAudit } from "./queries/audit-queries.ts";
import * as events from "./queries/event-queries.ts";
import * as facts from "./queries/fact-queries.ts";
import { userName } from "./queries/group-locks.ts";
import { beginHistoryLimit, historyInForce, shortenHistories } from "./queries/histories.ts";
import * as keys from "./queries/key-queries.ts";
import { KeysWatch } from "./queries/keys-watch.ts";
import * as upkeep from "./queries/upkeep.ts";
import { SchemaWatch } from "./schema-watch.ts";
import { tryRead, tryWrite } from "./trial.ts";

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
  /** Whether the database is brought to this program's form, or refused where it is in an earlier one. */
  readonly migrates?: boolean;
  /** The schema that this program knows. */
  readonly migrations?: readonly Migration[];
}

interface StoreParts {
  readonly clock: ServiceClock;
  readonly monotonic: MonotonicClock;
  readonly readOnly: boolean;
  readonly historyMax: number;
  readonly turns: FairTurns;
  readonly schema: SchemaWatch;
}

const GROUP_MAX = 256;
/** A probe is not needed if a write was stored within this time. */
const STORED_MS = 1_000;
/** After a failed commit the database counts as not ready for this time, unless a later commit succeeds. */
const FAILED_MS = 5_000;

export class PostgresStore extends AccountTables implements Store, EventLog {
  readonly #database: Database;
  readonly #commit: GroupCommit;
  readonly #keys: KeysWatch;
  readonly #workers: SlotWorkers;
  readonly #hung: UnresponsiveWorkers;
  /** The database's: a node's own may be wrong. */
  readonly clock: ServiceClock;
  readonly #monotonic: MonotonicClock;
  readonly #readOnly: boolean;
  readonly #turns: FairTurns;
  readonly #schema: SchemaWatch;
  /** How many earlier values of each fact are kept. */
  readonly historyMax: number;
  /** Nodes may have different limits for a while: each shortens the histories once. */
  #isShortened = false;

  private constructor(
    database: Database,
    commit: GroupCommit,
    watch: KeysWatch,
    workers: SlotWorkers,
    { clock, monotonic, readOnly, historyMax, turns, schema }: StoreParts,
  ) {
    super(database, watch);
    this.#database = database;
    this.#commit = commit;
    this.#keys = watch;
    this.#workers = workers;
    this.#hung = new UnresponsiveWorkers(database, workers);
    this.clock = clock;
    this.#monotonic = monotonic;
    this.#readOnly = readOnly;
    this.historyMax = historyMax;
    this.#turns = turns;
    this.#schema = schema;
  }

  /** Migrates the database, or refuses it, and then opens it. With `readOnly` it is changed in no way. */
  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    const { url, queueMax, metrics, groupMax = GROUP_MAX, ...more } = options;
    const { clock: given, monotonic = monotonicClock, ...rest } = more;
    const {
      migrations = loadMigrations(),
      migrates = true,
      readOnly = false,
      clusterForms,
      ...others
    } = rest;
    const { historyMax: wanted, turns = new FairTurns(), ...limits } = others;
    const database = new Database({ ...DATABASE_DEFAULTS, ...limits, readOnly, url });
    const clock = given === undefined ? database.clock : trusted(given);
    const workers = new SlotWorkers(database);
    const watch = new KeysWatch(database, monotonic);
    const schema = new SchemaWatch(database, migrations);
    try {
      const historyMax = await database.withoutTimeLimit(async (sql) => {
        await (readOnly || !migrates ? checkSchema(sql, migrations) : migrate(sql, migrations));
        const limit = wanted ?? (await historyInForce()(sql)) ?? HISTORY_DEFAULT;
        if (!readOnly) await beginHistoryLimit(limit)(sql);
        return limit;
      });
      await workers.start();
      await watch.start(!readOnly);
      schema.start();
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
      const parts = { clock, monotonic, readOnly, historyMax, turns, schema };
      return new PostgresStore(database, commit, watch, workers, parts);
    } catch (error) {
      workers.stop();
      watch.stop();
      schema.stop();
      await database.close();
      throw error;
    }
  }

  /** The server that takes its writes. */
  get server(): DatabaseServer | undefined {
    return this.#database.server;
  }

  readFact(view: View, label: string): Promise<FactRecord | undefined> {
    return this.#ofUser(view.account, view.userId, () => this.#database.read(facts.readFact(view, label)));
  }

  readUser(view: View): Promise<UserState | undefined> {
    return this.#ofUser(view.account, view.userId, () =>
      this.#database.read(facts.readUser(view, this.#turnOf(view))),
    );
  }

  readLife: Store["readLife"] = (account, userId, options) => {
    const query = facts.readLife(account, userId, options, this.#turnOf({ account }));
    return this.#ofUser(account, userId, () => this.#database.read(query));
  };

  listPlaces = (account: string, userId: string) =>
    this.#ofUser(account, userId, () => this.#database.read(facts.listPlaces(account, userId)));

  describeUser: Store["describeUser"] = (account, userId, nowMs) =>
    this.#ofUser(account, userId, () => this.#database.read(facts.describeUser(account, userId, nowMs)));

  readFreeLabels: Store["readFreeLabels"] = (account, userId, asked) =>
    this.#ofUser(account, userId, () => this.#database.read(facts.readFreeLabels(account, userId, asked)));

  readStamp = (account: string, userId: string) =>
    this.#ofUser(account, userId, () => this.#database.read(facts.readStamp(account, userId)));

  write(request: WriteRequest): Promise<WriteOutcome> {
    return this.#ofUser(request.account, request.userId, () => this.#commit.write(request));
  }

  saveCodes = (account: string, userId: string, codes: readonly PlacedCode[]) =>
    this.#ofUser(account, userId, () => this.#database.write(facts.saveCodes(account, userId, codes)));

  readVectors = (account: string, userId: string) =>
    this.#ofUser(account, userId, () => this.#database.read(facts.readVectors(account, userId)));

  saveVectors = (account: string, userId: string, vectors: readonly PlacedVector[]) =>
    this.#ofUser(account, userId, () => this.#database.write(facts.saveVectors(account, userId, vectors)));

  forgetUser(...erased: Parameters<Store["forgetUser"]>) {
    return eraseUser(this, this.clock.now(), ...erased);
  }

  walkUsers(account?: string): AsyncIterable<{ account: string; userId: string }> {
    const read = <T>(query: Query<T>) => this.#database.read(query);
    return account === undefined ? facts.walkAllUsers(read) : facts.walkUsersOf(read, account);
  }

  listUsers: Store["listUsers"] = (...given) => this.#database.read(facts.listUsers(...given));

  followEvents = (account: string, untilMs: number) =>
    events.follow(this.#database, account, untilMs, this.#workers.areMany);

  readEvents: EventLog["readEvents"] = (...given) => this.#database.read(events.readEvents(...given));

  /** Agrees with the other nodes on a setting: the first value stays, and every node gets it. */
  async agreeOn(name: string, value: string): Promise<string> {
    if (this.#readOnly) return (await this.#database.read(keys.readSetting(name))) ?? value;
    return this.#database.write(keys.agreeOn(name, value));
  }

  /**
   * A store that has just stored a write, and can be read, is ready. Without such a write one is tried, and one row is
   * written. A full disk may have room for that row, so a commit that failed moments ago counts as not ready. On a cluster
   * no user is tried: there a worker that stops affects only its own users.
   */
  async probe(): Promise<void> {
    const failure = this.#workers.areMany ? undefined : this.#commit.recentFailure(FAILED_MS);
    if (failure !== undefined) throw failure;
    await this.#schema.ask();
    const nowMs = this.clock.now();
    const isCluster = this.#workers.areMany;
    await tryRead(this.#database, nowMs, isCluster);
    if (this.#commit.hasStored(STORED_MS)) return;
    const options = { historyMax: this.historyMax, isCluster, turns: this.#turns };
    if (!isCluster) await tryWrite(this.#database, nowMs, options);
    await this.#database.write(upkeep.writeProbe(Math.floor(Math.random() * SLOT_COUNT), nowMs));
  }

  statistics = (): Promise<StoreStatistics> => this.#database.read(upkeep.readStatistics());

  async sweep(nowMs: number): Promise<readonly EndedFact[]> {
    if (this.#readOnly) return [];
    if (!this.#isShortened) await this.#database.withoutTimeLimit(shortenHistories(this.historyMax));
    this.#isShortened = true;
    await this.#database.withoutTimeLimit(upkeep.sweepReplays(nowMs));
    await this.#database.write(events.sweepEvents(nowMs));
    await this.#database.withoutTimeLimit(sweepAudit(nowMs));
    const swept: EndedFact[] = [];
    for (let page = await this.endFacts(nowMs); page.length > 0; page = await this.endFacts(nowMs))
      swept.push(...page);
    return swept;
  }

  async endFacts(nowMs: number): Promise<readonly EndedFact[]> {
    if (this.#readOnly) return [];
    const due = await this.#database.read(upkeep.readEnded(nowMs));
    assert(
      due.every(({ endedAtMs }) => endedAtMs <= nowMs),
      "what ends has expired",
    );
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

  nextEndMs = (): Promise<number | undefined> => this.#database.read(upkeep.readNextEnd());

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
    this.#schema.stop();
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
  const timeline = "sideband_database_timeline";
  const help = "The number of the database server's timeline, which grows with each fail-over, by server.";
  metrics.define({ name: timeline, help, type: "gauge" });
  const ahead = "sideband_clock_ahead_seconds";
  metrics.define({
    name: ahead,
    help: "How far this node's own clock is ahead of the database's.",
    type: "gauge",
  });
  metrics.onCollect(() => {
    metrics.set(ahead, database.clock.aheadMs / 1000);
    metrics.clear(timeline);
    if (database.server !== undefined)
      metrics.set(timeline, database.server.timeline, `server="${database.server.server}"`);
    metrics.set(pending, database.pending);
    metrics.set(mixedUp, database.mixedUp);
  });
}
