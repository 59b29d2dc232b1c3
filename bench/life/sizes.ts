/** The disk that facts take on each store: written once, and replaced eight times with their history and without. */

import { LABELS } from "../../src/base/channel-labels.ts";
import { Metrics } from "../../src/base/metrics.ts";
import type { Store } from "../../src/memory/ports.ts";
import { LmdbStore } from "../../src/store/lmdb/lmdb-store.ts";
import { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import type { LifeServices } from "./services.ts";

export interface Sizes {
  readonly store: string;
  readonly facts: number;
  /** Bytes after a compaction. */
  readonly once: number;
  readonly replaced: number;
  readonly withoutHistory: number;
}

type Measured = Pick<Store, "write" | "readLife" | "statistics" | "close"> & { compact(): Promise<unknown> };

const FACTS_OF_USER = 40;
const REPLACED = 8;
const USERS_AT_ONCE = 64;
const ACCOUNT = "bench";

export async function measureSizes(services: LifeServices, facts: number): Promise<Sizes[]> {
  const options = { queueMax: 100_000, metrics: new Metrics() };
  const openers: Record<string, (historyMax: number) => Promise<Measured>> = {
    LMDB: (historyMax) =>
      LmdbStore.open({ ...options, folder: services.newFolder(), create: true, historyMax }),
    PostgreSQL: async (historyMax) =>
      PostgresStore.open({ ...options, url: await services.newDatabase(), historyMax }),
  };
  const sizes: Sizes[] = [];
  for (const [store, open] of Object.entries(openers)) {
    const [once, replaced] = await measure(await open(REPLACED), facts, REPLACED);
    const [, withoutHistory] = await measure(await open(0), facts, 0);
    sizes.push({ store, facts, once, replaced, withoutHistory });
  }
  return sizes;
}

/** The sizes when all facts are written, and when all are replaced. */
async function measure(store: Measured, facts: number, historyMax: number): Promise<[number, number]> {
  const users = facts / FACTS_OF_USER;
  const before = (await store.statistics()).sizeBytes;
  const sizeNow = async () => {
    await store.compact();
    return (await store.statistics()).sizeBytes - before;
  };
  try {
    await writeAll(store, users, 0);
    const once = await sizeNow();
    for (let round = 1; round <= REPLACED; round++) await writeAll(store, users, round);
    const life = await store.readLife(ACCOUNT, "user-0", { nowMs: Date.now() });
    if (life?.earlier.length !== historyMax * FACTS_OF_USER)
      throw new Error("the history is not as it was told");
    return [once, await sizeNow()];
  } finally {
    await store.close();
  }
}

async function writeAll(store: Measured, users: number, round: number): Promise<void> {
  for (let first = 0; first < users; first += USERS_AT_ONCE) {
    const count = Math.min(USERS_AT_ONCE, users - first);
    await Promise.all(
      Array.from({ length: count }, (_, i) => {
        const userId = `user-${first + i}`;
        const changes = LABELS.slice(0, FACTS_OF_USER).map((label, number) => ({
          place: "",
          label,
          value: `value ${round} of ${number} of ${userId}`.padEnd(40, "."),
        }));
        return store.write({
          account: ACCOUNT,
          userId,
          changes,
          places: [""],
          nowMs: Date.now(),
          writtenBy: "bench",
        });
      }),
    );
  }
}
