/**
 * Which store this process works on: the embedded one in the data folder, or PostgreSQL where
 * SIDEBAND_DATABASE_URL is set. Nodes that share a database must share the master keys too, else one could not
 * read what another wrote: the database keeps a check of each key, and a node with another key does not start.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Clock, ServiceClock } from "../base/clock.ts";
import { ConfigError } from "../base/errors.ts";
import type { FairTurns } from "../base/fair-turns.ts";
import type { Metrics } from "../base/metrics.ts";
import type { AtStep } from "../base/steps.ts";
import type { Config } from "../config.ts";
import type { MasterKey } from "../memory/key-ring.ts";
import type { CompactReport, DatabaseServer, Progress, Store } from "../memory/ports.ts";
import type { EventLog } from "../memory/records.ts";
import { makeFolder } from "../store/lmdb/durable-files.ts";
import { LmdbStore } from "../store/lmdb/lmdb-store.ts";
import { databaseError } from "./operator-errors.ts";

export interface OpenStoreOptions {
  /** Makes the store where the data folder has none. */
  readonly create: boolean;
  /** False refuses a data folder without a master key, instead of making one. */
  readonly newMasterKey?: boolean;
  /** How long to wait for an owner of the data folder that is about to end. */
  readonly lockWaitMs?: number;
  /** Nothing is changed, so that a standby of PostgreSQL may be used. */
  readonly readOnly?: boolean;
  /** What the operator should know. */
  readonly warn?: (line: string) => void;
  /** What belongs in the log. */
  readonly inform?: (line: string) => void;
  /** Called once, with a line for the operator, when the embedded store is given up. */
  readonly onLost?: (line: string) => void;
  /** Free bytes of the disk that a folder is on. */
  readonly freeBytes?: (folder: string) => number;
  readonly atStep?: AtStep;
  /** Instead of the machine's, or of the database's. */
  readonly clock?: Clock;
}

export interface OpenedStore {
  readonly store: Store;
  /** Where the store is the embedded one: what only that one does. */
  readonly embedded: LmdbStore | undefined;
  /** Where the store is shared by nodes: what they tell each other. */
  readonly eventLog: EventLog | undefined;
  /** The clock that everything goes by. */
  readonly clock: ServiceClock;
  /** How many earlier values of each fact it keeps. */
  readonly historyMax: number;
  readonly compact: (progress?: Progress) => Promise<CompactReport>;
  /** Where the store is a database: the server that takes its writes. */
  readonly server: () => DatabaseServer | undefined;
  /** Where the store is shared by nodes: agrees with them on a setting, the first value holds. */
  readonly agreeOn: ((name: string, value: string) => Promise<string>) | undefined;
}

export async function openStore(
  config: Config,
  options: OpenStoreOptions & { metrics: Metrics; turns: FairTurns },
): Promise<OpenedStore> {
  const { databasePool, dataFolder, historyMax, migrate, queueMax } = config;
  const { clock, inform, metrics, readOnly, turns, warn } = options;
  if (config.databaseUrl === undefined) {
    const store = await LmdbStore.open({ ...options, folder: dataFolder, queueMax, historyMax });
    const compact = (progress?: Progress) => store.compact(progress);
    return {
      store,
      embedded: store,
      eventLog: undefined,
      clock: store.clock,
      historyMax: store.historyMax,
      compact,
      server: () => undefined,
      agreeOn: undefined,
    };
  }
  // Loaded only now: the embedded store does without.
  const { PostgresStore } = await import("../store/postgres/postgres-store.ts");
  const store = await PostgresStore.open({
    ...databaseOf(config),
    poolMax: databasePool,
    migrates: migrate,
    queueMax,
    historyMax,
    metrics,
    turns,
    ...(clock === undefined ? {} : { clock }),
    ...(readOnly === undefined ? {} : { readOnly }),
    ...(warn === undefined ? {} : { warn }),
    ...(inform === undefined ? {} : { inform }),
  }).catch((error: unknown) => {
    throw databaseError(error);
  });
  // The admin token's file still stands there, unless it comes from the environment.
  if (config.adminTokens === undefined) makeFolder(dataFolder);
  return {
    store,
    embedded: undefined,
    eventLog: store,
    clock: store.clock,
    historyMax: store.historyMax,
    compact: () => store.compact(),
    server: () => store.server,
    agreeOn: (name, value) => store.agreeOn(name, value),
  };
}

/** Where the database is, and the certificates to check it with. */
export function databaseOf({ databaseUrl: url, databaseCa }: Config): { url: string; ca?: string } {
  if (url === undefined) {
    throw new ConfigError(
      "SIDEBAND_DATABASE_URL is not set: there is no database, the embedded store is used",
    );
  }
  if (databaseCa === undefined) return { url };
  let ca: string;
  try {
    ca = readFileSync(databaseCa, "utf8");
  } catch (error) {
    throw new ConfigError(`SIDEBAND_DATABASE_CA cannot be read: ${(error as Error).message}`);
  }
  if (!ca.includes("-----BEGIN CERTIFICATE-----"))
    throw new ConfigError(
      `SIDEBAND_DATABASE_CA takes a file with certificates (PEM): ${databaseCa} has none`,
    );
  return { url, ca };
}

/** Only a digest of a key is kept in the database: it tells keys apart and nothing else. */
export async function agreeOnMasterKeys(
  masters: readonly MasterKey[],
  agreeOn: OpenedStore["agreeOn"],
): Promise<void> {
  if (agreeOn === undefined) return;
  for (const { id, material } of masters) {
    const check = createHash("sha256").update("sideband master key check\0").update(material).digest("hex");
    if ((await agreeOn(`master-key-${id}`, check)) !== check) {
      throw new ConfigError(
        `master key ${id} is not the one that this database's nodes use: give every node the same ` +
          "SIDEBAND_MASTER_KEY, or copy the file master.key",
      );
    }
  }
}
