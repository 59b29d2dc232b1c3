/** The service without HTTP: store, workers, keys and memory, joined for one process. */

import type { ServiceClock } from "../base/clock.ts";
import { ConfigError } from "../base/errors.ts";
import { FairTurns } from "../base/fair-turns.ts";
import { ALL_GROUPS } from "../base/groups.ts";
import { Metrics } from "../base/metrics.ts";
import { SingleFlight } from "../base/single-flight.ts";
import { BlockScheduler } from "../blockwork/block-scheduler.ts";
import { BlockThreads, startWorker, timerClock } from "../blockwork/block-threads.ts";
import { BlockWork } from "../blockwork/block-work.ts";
import { CODEBOOK_VERSION, checkReader } from "../blockwork/codebooks.ts";
import type { Config } from "../config.ts";
import { Authentication } from "../memory/authentication.ts";
import type { FlushedBlock } from "../memory/blocks.ts";
import { Blocks } from "../memory/blocks.ts";
import { notedErasures } from "../memory/erasures.ts";
import { sealedIds } from "../memory/event-ids.ts";
import { UserEvents } from "../memory/events.ts";
import { FactIndexes } from "../memory/fact-indexes.ts";
import { GrantTokens } from "../memory/grant-tokens.ts";
import { IdempotencyGate } from "../memory/idempotency.ts";
import { KeyManager } from "../memory/key-manager.ts";
import { KeyRing, type MasterKey } from "../memory/key-ring.ts";
import { Labels } from "../memory/labels.ts";
import { LocalEvents } from "../memory/local-events.ts";
import { Meaning } from "../memory/meaning.ts";
import type { Store, StoreStatistics } from "../memory/ports.ts";
import type { MemoryServices } from "../memory/services.ts";
import { SharedEvents } from "../memory/shared-events.ts";
import { SharedProjects } from "../memory/shared-projects.ts";
import { sharedReads } from "../memory/shared-reads.ts";
import { TokenCounts } from "../memory/token-count.ts";
import { Tokens } from "../memory/tokens.ts";
import type { LmdbStore } from "../store/lmdb/lmdb-store.ts";
import { embeddingService } from "./embedding-service.ts";
import { addErasure, applyErasures, erasuresFile } from "./erasure-list.ts";
import { ExpiryTimer } from "./expiry-timer.ts";
import { BLOCK_WORKER } from "./package.ts";
import { defineProcessMetrics } from "./process-metrics.ts";
import { hasMasterKey, masterKeys, missingMasterKey, removeLeftSecrets } from "./secrets.ts";
import { agreeOnMasterKeys, type OpenedStore, type OpenStoreOptions, openStore } from "./stores.ts";

export interface Core {
  readonly memory: MemoryServices;
  readonly store: Store;
  /** The store where it is the embedded one: what only that one does. */
  readonly embedded: LmdbStore | undefined;
  /** Leaves no byte in the store's files of what was forgotten. */
  readonly compact: OpenedStore["compact"];
  readonly databaseServer: OpenedStore["server"];
  readonly clock: ServiceClock;
  readonly blockWork: BlockWork;
  readonly authentication: Authentication;
  readonly keys: KeyManager;
  readonly metrics: Metrics;
  /** Erasures and moves that may be noted and are not done yet. */
  readonly erasing: ReadonlySet<Promise<unknown>>;
  /** Knows when the next fact expires. */
  readonly ends: ExpiryTimer;
  close(): Promise<void>;
}

export interface CoreOptions extends OpenStoreOptions {
  /** What the threads of block work run, instead of the built module. */
  readonly blockWorker?: URL;
}

export async function openCore(config: Config, options: CoreOptions): Promise<Core> {
  checkReader();
  const metrics = new Metrics();
  const turns = new FairTurns();
  if (options.newMasterKey === false) requireNamedKey(config);
  const found = await openStore(config, { ...options, metrics, turns });
  const { store: opened, embedded, eventLog, clock, compact, historyMax } = found;
  const keyRing = new KeyRing(await openMasterKeys(config, found));
  const blockWork = openBlockWork(config, options.blockWorker ?? BLOCK_WORKER, metrics);
  const labels = new Labels(opened);
  const idsOf = sealedIds(keyRing.eventSecrets);
  const local = new LocalEvents(clock, idsOf);
  const events = new UserEvents(eventLog === undefined ? local : new SharedEvents(eventLog, clock, idsOf));
  // Nodes know the same ends: one of them comes first, and the others find the work done.
  const ends = new ExpiryTimer(clock, () => (eventLog === undefined ? 0 : Math.random() * ENDS_APART_MS));
  const inner = ends.watched(sharedReads(eventLog === undefined ? local.withEvents(opened) : opened));
  const indexes = new FactIndexes({ store: inner, labels, turns });
  const meaning = openMeaning(config, { store: inner, indexes, clock });
  const watched = meaning?.watched(inner) ?? inner;
  if (embedded !== undefined)
    await applyErasures(config.dataFolder, { store: opened, keyRing, clock }, options.warn ?? (() => {}));
  const add = (lines: string) => addErasure(erasuresFile(config), lines);
  const erasing = new Set<Promise<unknown>>();
  const store = notedErasures(watched, { keyRing, clock, add, underWay: erasing });
  const blocks = new Blocks({ store, blockWork, keyRing, labels, clock: timerClock, review: config.review });
  blocks.onDrop = (account, userId) => indexes.drop(account, userId);
  const memory = {
    store,
    blockWork,
    keyRing,
    labels,
    events,
    blocks,
    projects: new SharedProjects(store),
    flushes: new SingleFlight<FlushedBlock>(),
    turns,
    idempotency: new IdempotencyGate(keyRing.digestSecrets),
    clock,
    historyMax,
    review: config.review,
    tokenCounts: new TokenCounts(turns),
    indexes,
    groups: ALL_GROUPS,
    meaning,
  };
  const authentication = openAuthentication(config, { store, clock, keyRing });
  defineGauges(metrics, store, blocks);
  defineProcessMetrics(metrics, embedded && config.dataFolder);
  return {
    memory,
    store,
    embedded,
    compact,
    databaseServer: found.server,
    clock,
    blockWork,
    authentication,
    keys: new KeyManager(store, clock, { tier: config.keyTier }),
    metrics,
    erasing,
    ends,
    async close() {
      events.close();
      meaning?.close();
      await blockWork.close();
      await store.touchKeys(authentication.takeUses()).catch(() => {});
      await store.close();
    },
  };
}

function openBlockWork({ blockWorkers: count, queueMax }: Config, worker: URL, metrics: Metrics): BlockWork {
  const workers = new BlockThreads({ start: startWorker(worker), count, clock: timerClock });
  const scheduler = new BlockScheduler({ workers, clock: timerClock, queueMax, metrics });
  return new BlockWork(scheduler, CODEBOOK_VERSION);
}

/** What is restored needs the key that its blocks were made with, or the word that they are given up. */
function requireNamedKey(config: Config): void {
  if (config.databaseUrl !== undefined || hasMasterKey(config)) return;
  throw new ConfigError(
    `${config.dataFolder} has no master.key. Blocks handed out so far can be read only with the one they were made with: ` +
      "name its file with --master-key FILE, or give those blocks up with --new-master-key",
  );
}

/** Tokens of applications count only where the operator lets them connect. */
function openAuthentication(
  { oauth }: Config,
  { store, clock, keyRing }: { store: Store; clock: ServiceClock; keyRing: KeyRing },
): Authentication {
  const grants = oauth ? new GrantTokens(keyRing.grantSecrets) : undefined;
  return new Authentication(store, clock, new Tokens(keyRing.tokenSecrets), grants);
}

/** Undefined where the operator has named no embedding service. */
function openMeaning(
  { embeddingsUrl: url, embeddingsModel: model, embeddingsKey: key }: Config,
  parts: Omit<ConstructorParameters<typeof Meaning>[0], "embeddings" | "timers">,
): Meaning | undefined {
  if (url === undefined) return undefined;
  if (model === undefined)
    throw new ConfigError(
      "SIDEBAND_EMBEDDINGS_URL needs SIDEBAND_EMBEDDINGS_MODEL, the name of a model there",
    );
  return new Meaning({ ...parts, embeddings: embeddingService({ url, model, key }), timers: timerClock });
}

/** Closes the store where they cannot be used. */
async function openMasterKeys(
  config: Config,
  { store, embedded, agreeOn }: OpenedStore,
): Promise<MasterKey[]> {
  try {
    if (embedded !== undefined) {
      embedded.requireOwner();
      removeLeftSecrets(config.dataFolder);
      requireMasterKey(config, embedded);
    }
    const masters = masterKeys(config, () => embedded?.requireOwner());
    await agreeOnMasterKeys(masters, agreeOn);
    return masters;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A new key for a store that has users would make every block that was handed out unreadable, without a word. */
function requireMasterKey(config: Config, store: LmdbStore): void {
  if (hasMasterKey(config) || !holdsUsers(store)) return;
  throw new ConfigError(`${config.dataFolder} holds facts but ${missingMasterKey(config.dataFolder)}`);
}

/** True also if a damaged counter hides how many there are. */
function holdsUsers(store: LmdbStore): boolean {
  try {
    return store.statistics().users > 0;
  } catch {
    return true;
  }
}

const ENDS_APART_MS = 400;

const GAUGES = {
  sideband_store_bytes: "Size of the data file.",
  sideband_store_facts: "Facts in the store.",
  sideband_store_users: "Users in the store.",
  sideband_cached_blocks: "Blocks in the cache.",
};

function defineGauges(metrics: Metrics, store: Store, blocks: Blocks): void {
  for (const [name, help] of Object.entries(GAUGES)) metrics.define({ name, help, type: "gauge" });
  const show = ({ sizeBytes, facts, users }: StoreStatistics) => {
    metrics.set("sideband_store_bytes", sizeBytes);
    metrics.set("sideband_store_facts", facts);
    metrics.set("sideband_store_users", users);
  };
  const look = () => {
    try {
      const statistics = store.statistics();
      // A store that has to ask for them shows those of the last collection.
      if (statistics instanceof Promise) statistics.then(show).catch(() => {});
      else show(statistics);
    } catch {
      // A damaged counter: the service starts and answers without these figures, and `sideband verify` names the record.
    }
  };
  look();
  metrics.onCollect(() => {
    look();
    metrics.set("sideband_cached_blocks", blocks.cachedCount);
  });
}
