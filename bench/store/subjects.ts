/**
 * What the benchmark compares: the embedded store, PostgreSQL with group commit, and PostgreSQL with one
 * statement for each encode, as a program with a pool of connections would do it without a queue of its own.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FairTurns } from "../../src/base/fair-turns.ts";
import { HISTORY_DEFAULT } from "../../src/base/limits.ts";
import { Metrics } from "../../src/base/metrics.ts";
import { readConfig } from "../../src/config.ts";
import { distributeDatabase } from "../../src/main/database-upkeep.ts";
import type { Store } from "../../src/memory/ports.ts";
import { LmdbStore } from "../../src/store/lmdb/lmdb-store.ts";
import { DATABASE_DEFAULTS, Database } from "../../src/store/postgres/connection/database.ts";
import { groupTransaction } from "../../src/store/postgres/group-transaction.ts";
import { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import type { BenchOptions } from "../options.ts";
import { CitusCluster, findCitus } from "./citus-cluster.ts";
import { PostgresServer } from "./postgres-server.ts";

export interface Subject {
  readonly name: string;
  readonly store: Pick<Store, "write" | "readFact" | "readUsage" | "statistics">;
  /** Processor seconds that the store's own processes have used; not known for a server elsewhere. */
  cpuS(): number | undefined;
  close(): Promise<void>;
}

const QUEUE_MAX = 100_000;
/** A quarter of it is for writes: sixteen statements at a time. */
const SINGLE_POOL_MAX = 64;

export async function openLmdb(): Promise<Subject & { readonly store: LmdbStore }> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-bench-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  const store = await LmdbStore.open({ folder, create: true, queueMax: QUEUE_MAX, metrics: new Metrics() });
  return {
    name: "lmdb",
    store,
    cpuS: () => undefined,
    async close() {
      await store.close();
      process.off("exit", remove);
      remove();
    },
  };
}

export interface PostgresSubjects {
  readonly batched: Subject;
  readonly single: Subject;
  /** Several stores in this process, each with its own queue and connections as a node has them; callers in turn. */
  openNodes(count: number): Promise<Subject>;
  close(): Promise<void>;
}

/** On the database that the options name, or on a server or cluster started for the run. */
export async function openPostgres(options: BenchOptions): Promise<PostgresSubjects> {
  const server = await startServer(options);
  const address = options.databaseUrl ?? (await server!.createDatabase("bench"));
  if (options.citus !== undefined) await distributeDatabase(readConfig({ SIDEBAND_DATABASE_URL: address }));
  const store = await PostgresStore.open({ url: address, queueMax: QUEUE_MAX, metrics: new Metrics() });
  if ((await store.statistics()).facts > 0) {
    await store.close();
    throw new Error("the database holds facts already: the benchmark wants an empty one");
  }
  const database = new Database({
    ...DATABASE_DEFAULTS,
    url: address,
    poolMax: SINGLE_POOL_MAX,
    statementTimeoutMs: 60_000,
  });
  const cpuS = () => server?.cpuS();
  const close = async () => {};
  return {
    batched: { name: "postgres", store, cpuS, close },
    single: {
      name: "postgres, one statement per encode",
      store: {
        write: async (request) => {
          const options = { historyMax: HISTORY_DEFAULT, isCluster: false, turns: new FairTurns() };
          const [result] = await database.commit(groupTransaction([request], options));
          if (result instanceof Error) throw result;
          return result;
        },
        readFact: (view, label) => store.readFact(view, label),
        readUsage: (keyId, month) => store.readUsage(keyId, month),
        statistics: () => store.statistics(),
      },
      cpuS,
      close,
    },
    async openNodes(count) {
      const stores = await Promise.all(
        Array.from({ length: count }, () =>
          PostgresStore.open({ url: address, queueMax: QUEUE_MAX, metrics: new Metrics() }),
        ),
      );
      let turn = 0;
      return {
        name: `${count} nodes`,
        store: {
          write: (request) => stores[turn++ % count].write(request),
          readFact: (view, label) => stores[turn++ % count].readFact(view, label),
          readUsage: (keyId, month) => stores[0].readUsage(keyId, month),
          statistics: () => stores[0].statistics(),
        },
        cpuS,
        close: async () => void (await Promise.all(stores.map((node) => node.close()))),
      };
    },
    async close() {
      await store.close();
      await database.close();
      await server?.remove();
    },
  };
}

async function startServer({ databaseUrl, citus }: BenchOptions) {
  if (databaseUrl !== undefined) return undefined;
  if (citus !== undefined) {
    const binaries = findCitus();
    if (typeof binaries === "string") throw new Error(binaries);
    return CitusCluster.start(binaries, citus);
  }
  try {
    return await PostgresServer.start();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new Error(
      "there is no PostgreSQL to measure: install the development dependencies or give --database-url",
    );
  }
}
