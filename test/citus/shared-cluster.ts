/**
 * One Citus cluster for a test process: a coordinator and two workers, started when the first test asks for it and
 * removed after the last. Each test has a database of its own, distributed as an operator would do it.
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

let creating: Promise<unknown> = Promise.resolve();

/**
 * A new database, empty and distributed; resolves to its address on the coordinator. One at a time: test files ask for
 * theirs all at once, and a machine that does too much at once misses the time limits of Citus.
 */
export function newDistributedDatabase(cluster: CitusCluster, name: string): Promise<string> {
  const created = creating.then(async () => {
    const url = await cluster.createDatabase(name);
    await distributeDatabase(readConfig({ SIDEBAND_DATABASE_URL: url }));
    return url;
  });
  creating = created.catch(() => {});
  return created;
}
