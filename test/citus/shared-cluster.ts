/**
 * One Citus cluster for a test process: a coordinator and two workers, started when the first test asks for it and
 * removed after the last. Each test has a database of its own, distributed as an operator would do it, or a copy of such a one.
 */

import { after } from "node:test";
import { CitusCluster, findCitus } from "../../bench/store/citus-cluster.ts";
import { readConfig } from "../../src/config.ts";
import { distributeDatabase } from "../../src/main/database-upkeep.ts";

const WORKERS = 2;

let starting: Promise<CitusCluster> | undefined;

after(async () => (await starting?.catch(() => undefined))?.remove());

export function sharedCluster(): Promise<CitusCluster> {
  starting ??= startCluster(WORKERS);
  return starting;
}

export async function startCluster(workers: number): Promise<CitusCluster> {
  const found = findCitus();
  if (typeof found === "string") throw new Error(found);
  return CitusCluster.start(found, workers);
}

const ORIGINAL = "original";
let original: Promise<void> | undefined;

/** A new database of the shared cluster, empty and distributed. */
export async function copyDistributedDatabase(name: string): Promise<void> {
  const cluster = await sharedCluster();
  original ??= newDistributedDatabase(cluster, ORIGINAL).then(() => cluster.closeDatabase(ORIGINAL));
  await original;
  await inTurn(() => cluster.copyDatabase(name, ORIGINAL));
}

let creating: Promise<unknown> = Promise.resolve();

/** A new database, empty and distributed; resolves to its address on the coordinator. */
export function newDistributedDatabase(cluster: CitusCluster, name: string): Promise<string> {
  return inTurn(async () => {
    const url = await cluster.createDatabase(name);
    await distributeDatabase(readConfig({ SIDEBAND_DATABASE_URL: url }));
    return url;
  });
}

/** One at a time: test files ask for theirs all at once, and a machine that does too much at once misses the time limits of Citus. */
function inTurn<T>(create: () => Promise<T>): Promise<T> {
  const created = creating.then(create);
  creating = created.catch(() => {});
  return created;
}
