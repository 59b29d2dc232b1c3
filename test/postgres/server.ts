/**
 * One PostgreSQL for the whole test run, started when the first test asks for it and stopped after the last.
 * Each test works in a database of its own.
 */

import { after } from "node:test";
import { binariesIn, PostgresServer } from "../../bench/store/postgres-server.ts";
import { Metrics } from "../../src/base/metrics.ts";
import { PostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/postgres-store.ts";

let starting: Promise<PostgresServer> | undefined;
let count = 0;

// One hook that fails keeps those after it from running. A failed start is reported by the tests that asked for it.
after(async () => (await starting?.catch(() => undefined))?.remove());

/** TEST_POSTGRES_BIN names the folder of another PostgreSQL's binaries. */
export function sharedServer(): Promise<PostgresServer> {
  const folder = process.env.TEST_POSTGRES_BIN;
  starting ??= PostgresServer.start([], folder === undefined ? undefined : binariesIn(folder));
  return starting;
}

/** The address of a new, empty database. */
export async function newDatabase(): Promise<string> {
  count += 1;
  const name = `test_${count}`;
  return (await sharedServer()).createDatabase(name);
}

export function openStore(url: string, options: Partial<PostgresStoreOptions> = {}): Promise<PostgresStore> {
  return PostgresStore.open({ url, queueMax: 10_000, metrics: new Metrics(), poolMax: 4, ...options });
}
