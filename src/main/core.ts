/** The service without HTTP: store, workers, keys and memory, joined for one process. */

import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { ServiceClock } from "../base/clock.ts";
import { FairTurns } from "../base/fair-turns.ts";
import { Metrics } from "../base/metrics.ts";
import { SharedWork } from "../base/shared-work.ts";
import { BlockScheduler } from "../blockwork/block-scheduler.ts";
import { BlockThreads, startWorker, timerClock } from "../blockwork/block-threads.ts";
import { BlockWork } from "../blockwork/block-work.ts";
import { CODEBOOK_VERSION, checkReader } from "../blockwork/codebooks.ts";
import { type Config, ConfigError } from "../config.ts";
import { Authentication } from "../memory/authentication.ts";
import type { FlushedBlock } from "../memory/blocks.ts";
import { Blocks } from "../memory/blocks.ts";
import { sealedIds } from "../memory/event-ids.ts";
import { UserEvents } from "../memory/events.ts";
import { IdempotencyGate } from "../memory/idempotency.ts";
import { KeyManager } from "../memory/key-manager.ts";
import { KeyRing, type MasterKey } from "../memory/key-ring.ts";
import { Labels } from "../memory/labels.ts";
import { LocalEvents } from "../memory/local-events.ts";
import type { Store, StoreStatistics } from "../memory/ports.ts";
import type { MemoryServices } from "../memory/services.ts";
import { SharedEvents } from "../memory/shared-events.ts";
import { Tokens } from "../memory/tokens.ts";
import type { LmdbStore } from "../store/lmdb/lmdb-store.ts";
import { ExpiryTimer } from "./expiry-timer.ts";
import { BLOCK_WORKER } from "./package.ts";
import { hasMasterKey, MASTER_KEY_FILE, masterKeys, removeLeftSecrets } from "./secrets.ts";
import { agreeOnMasterKeys, type OpenedStore, type OpenStoreOptions, openStore } from "./stores.ts";

export interface Core {
  readonly memory: MemoryServices;
  readonly store: Store;
  /** The store where it is the embedded one: what only that one does. */
  readonly embedded: LmdbStore | undefined;
  /** Leaves no byte in the store's files of what was forgotten. */
  readonly compact: OpenedStore["compact"];
  readonly clock: ServiceClock;
  readonly blockWork: BlockWork;
  readonly authentication: Authentication;
  readonly keys: KeyManager;
  readonly metrics: Metrics;
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
  const { queueMax, review } = config;
  if (options.newMasterKey === false && config.databaseUrl === undefined && !hasMasterKey(config))
    throw new ConfigError(
      `${config.dataFolder} has no master.key. Blocks handed out so far can be read only with the one they were made with: ` +
        "name its file with --master-key FILE, or give those blocks up with --new-master-key",
    );
  const found = await openStore(config, { ...options, metrics, turns });
  const { store: opened, embedded, eventLog, clock, compact, historyMax } = found;
  const keyRing = new KeyRing(await openMasterKeys(config, found));
  const workers = new BlockThreads({
    start: startWorker(options.blockWorker ?? BLOCK_WORKER),
    count: config.blockWorkers,
    clock: timerClock,
  });
  const scheduler = new BlockScheduler({ workers, clock: timerClock, queueMax, metrics });
  const blockWork = new BlockWork(scheduler, CODEBOOK_VERSION);
  const labels = new Labels(opened);
  const idsOf = sealedIds(keyRing.eventKey);
  const local = new LocalEvents(clock, idsOf);
  const shared = eventLog && new SharedEvents(eventLog, clock, idsOf);
  const events = new UserEvents(shared ?? local);
  // Nodes know the same ends: one of them comes first, and the others find the work done.
  const ends = new ExpiryTimer(clock, () => (eventLog === undefined ? 0 : Math.random() * ENDS_APART_MS));
  const store = ends.watched(eventLog === undefined ? local.tellsOf(opened) : opened);
  const blocks = new Blocks({ store, blockWork, keyRing, labels, clock: timerClock, review });
  const idempotency = new IdempotencyGate(keyRing.digestKey);
  const flushes = new SharedWork<FlushedBlock>();
  const memory = {
    store,
    blockWork,
    keyRing,
    labels,
    events,
    blocks,
    flushes,
    turns,
    idempotency,
    clock,
    historyMax,
    review,
  };
  const authentication = new Authentication(store, clock, new Tokens(keyRing.tokenKey));
  defineGauges(metrics, store, blocks);
  return {
    memory,
    store,
    embedded,
    compact,
    clock,
    blockWork,
    authentication,
    keys: new KeyManager(store, clock),
    metrics,
    ends,
    async close() {
      events.close();
      await blockWork.close();
      await store.touchKeys(authentication.takeUses()).catch(() => {});
      await store.close();
    },
  };
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
  const path = join(config.dataFolder, MASTER_KEY_FILE);
  throw new ConfigError(
    `${config.dataFolder} holds facts but no master.key, without which the blocks handed out so far cannot be read: put the ` +
      `file back, or set SIDEBAND_MASTER_KEY, or give those blocks up with a new key: openssl rand -hex 32 > ${path}`,
  );
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
const DELAY_RESOLUTION_MS = 20;

const GAUGES = {
  sideband_store_bytes: "Size of the data file.",
  sideband_store_facts: "Facts in the store.",
  sideband_store_users: "Users in the store.",
  sideband_cached_blocks: "Blocks in the cache.",
  sideband_resident_bytes: "Resident memory of the process.",
  sideband_heap_bytes: "JavaScript heap in use.",
  sideband_event_loop_delay_seconds: "The longest delay of the event loop since the last collection.",
};

function defineGauges(metrics: Metrics, store: Store, blocks: Blocks): void {
  for (const [name, help] of Object.entries(GAUGES)) metrics.define({ name, help, type: "gauge" });
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
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
    const { rss, heapUsed } = process.memoryUsage();
    metrics.set("sideband_resident_bytes", rss);
    metrics.set("sideband_heap_bytes", heapUsed);
    // Before the first measurement this is 0. The resolution of the timer is not counted as delay.
    metrics.set(
      "sideband_event_loop_delay_seconds",
      Math.max(0, delay.max / 1e9 - DELAY_RESOLUTION_MS / 1000),
    );
    delay.reset();
  });
}
