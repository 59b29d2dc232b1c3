/**
 * One PostgreSQL for the whole test run, started when the first test asks for it and stopped after the last.
 * Each test works in a database of its own.
 */

import { after } from "node:test";
import postgres from "postgres";
import type { CitusCluster } from "../../bench/store/citus-cluster.ts";
import { binariesIn, createDatabase, PostgresServer } from "../../bench/store/postgres-server.ts";
import { Metrics } from "../../src/base/metrics.ts";
import { DATABASE_DEFAULTS, type Sql } from "../../src/store/postgres/connection/database.ts";
import { PostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/postgres-store.ts";
import { copyDistributedDatabase, sharedCluster } from "../citus/shared-cluster.ts";
import type { StoreUnderTest } from "../conformance/store-under-test.ts";

/** What survives a crash of the machine is not what these tests are about. */
const WITHOUT_SYNC = ["fsync=off", "full_page_writes=off"];

/** How long a service waits for a lock. */
export const SERVICE_LOCK_MS: number = DATABASE_DEFAULTS.statementTimeoutMs;
/** Stores and services of the tests are patient: a busy machine may take longer by itself than a service would wait. */
Object.assign(DATABASE_DEFAULTS, { connectTimeoutMs: 30_000, statementTimeoutMs: 60_000 });

/** How long rows may be held by what a test has left. */
const LOCK_MS = 30_000;

let starting: Promise<PostgresServer> | undefined;
let count = 0;
/** What stays open until the last test. */
const closers: (() => Promise<unknown>)[] = [];

// One hook that fails keeps those after it from running. A failed start is reported by the tests that asked for it.
after(async () => {
  await Promise.allSettled(closers.map((close) => close()));
  await (await starting?.catch(() => undefined))?.remove();
});

/** TEST_POSTGRES_BIN names the folder of another PostgreSQL's binaries. */
export function sharedServer(): Promise<PostgresServer> {
  const folder = process.env.TEST_POSTGRES_BIN;
  starting ??= PostgresServer.start(WITHOUT_SYNC, folder === undefined ? undefined : binariesIn(folder));
  return starting;
}

/**
 * The address of a new database, empty or a copy of another one. With TEST_CITUS it is a cluster's, on each of its machines in
 * turn, and never a copy; TEST_POSTGRES_URL is the address of a server that several processes share.
 */
async function makeDatabase(template?: string): Promise<string> {
  count += 1;
  const name = `test_${count}`;
  if (process.env.TEST_CITUS === "1") {
    const cluster = await sharedCluster();
    await copyDistributedDatabase(name);
    const machines = machinesOf(cluster);
    return cluster.urlOf(machines[count % machines.length], name);
  }
  const url = process.env.TEST_POSTGRES_URL;
  if (url !== undefined) return createDatabase(url, `${name}_${process.pid}`, template);
  return createDatabase((await sharedServer()).url(), name, template);
}

function machinesOf({ coordinator, workers }: CitusCluster) {
  return [coordinator, ...workers];
}

export function newEmptyDatabase(): Promise<string> {
  return makeDatabase();
}

let withTables: Promise<string> | undefined;

/** The address of a new database with all tables: a copy, for half of the processor time that the migrations take. */
export async function newDatabase(): Promise<string> {
  withTables ??= newEmptyDatabase().then(async (url) => {
    await (await openStore(url)).close();
    return nameOf(url);
  });
  return makeDatabase(await withTables);
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

export function openStore(url: string, options: Partial<PostgresStoreOptions> = {}): Promise<PostgresStore> {
  return PostgresStore.open({ url, queueMax: 10_000, metrics: new Metrics(), poolMax: 4, ...options });
}

/** A client of the database beside any store, that reads numbers as a store's does. */
export function openClient(url: string, max = 1): Sql {
  const bigint = { to: 20, from: [20], serialize: String, parse: Number };
  return postgres(url, { max, onnotice: () => {}, types: { bigint } }) as unknown as Sql;
}

/** A store on a database of its own, as the conformance suite takes it. */
export async function openNewStore(): Promise<StoreUnderTest> {
  const url = await newDatabase();
  let store = await openStore(url);
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openStore(url);
      return store;
    },
    second: () => openStore(url),
    end: () => store.close(),
  };
}

/** A store on a database of its own whose rows were taken away, with the connection that takes them. */
interface EmptiedStore {
  readonly url: string;
  readonly sql: postgres.Sql;
  store: PostgresStore;
}

/** On a cluster one for each of its machines, in turn. */
const spares: EmptiedStore[] = [];

/**
 * As openNewStore, but the open store goes from one test to the next without its rows: a tenth of the processor time that
 * a database, its connections and their first statements take. What counts on from the start of a database counts on.
 */
export async function openEmptiedStore(): Promise<StoreUnderTest> {
  const sparesMax = process.env.TEST_CITUS === "1" ? machinesOf(await sharedCluster()).length : 1;
  const under = (made < sparesMax ? undefined : spares.shift()) ?? (await makeEmptiedStore());
  return {
    store: under.store,
    reopen: async () => {
      await under.store.close();
      under.store = await openStore(under.url);
      return under.store;
    },
    second: () => openStore(under.url),
    // Where a failed test still holds rows, the next one gets another store.
    end: () =>
      takeRows(under.sql).then(
        () => {
          spares.push(under);
        },
        () => {},
      ),
  };
}

let made = 0;

async function makeEmptiedStore(): Promise<EmptiedStore> {
  made += 1;
  const url = await newDatabase();
  const sql = postgres(url, { max: 1, onnotice: () => {}, connection: { lock_timeout: LOCK_MS } });
  const under = { url, sql, store: await openStore(url) };
  closers.push(
    () => under.store.close(),
    () => under.sql.end(),
  );
  return under;
}

/** All rows of all tables but those that the migrations write. */
async function takeRows(sql: postgres.Sql): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables
    WHERE schemaname = 'sideband' AND tablename NOT IN ('migrations', 'settings')`;
  await sql.unsafe(tables.map(({ name }) => `DELETE FROM sideband.${name};`).join(""));
}
