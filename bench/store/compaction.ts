/**
 * Compaction beside three writers and three readers: the longest write and the longest read with it and without it,
 * in one run. Every read is compared with what its writer was last told, and at the end everything is.
 */

import type { LmdbStore } from "../../src/store/lmdb/lmdb-store.ts";

export interface CompactionReport {
  readonly facts: number;
  readonly rounds: number;
  readonly compactMs: number;
  readonly longestWriteMs: { readonly alone: number; readonly beside: number };
  readonly longestReadMs: { readonly alone: number; readonly beside: number };
  readonly writes: { readonly alone: number; readonly beside: number };
}

/** How much longer the longest write may take. */
export const COMPACTION_BAR_MS = 250;
const ACCOUNT = "bench";
const LANES = 3;
const USERS = 1_000;

export async function measureCompaction(
  store: LmdbStore,
  facts: number,
  rounds: number,
): Promise<CompactionReport> {
  for (let first = 0; first < facts; first += USERS) {
    const users = Array.from({ length: Math.min(USERS, facts - first) }, (_, i) => `filler-${first + i}`);
    await Promise.all(users.map((user) => write(store, user, "x".repeat(60))));
  }
  let durationMs = 0;
  const beside = await load(store, async () => {
    const startedMs = performance.now();
    for (let round = 0; round < rounds; round++) await store.compact();
    durationMs = performance.now() - startedMs;
  });
  const alone = await load(store, () => new Promise((resolve) => setTimeout(resolve, durationMs)));
  return {
    facts,
    rounds,
    compactMs: durationMs / rounds,
    longestWriteMs: { alone: alone.writeMs, beside: beside.writeMs },
    longestReadMs: { alone: alone.readMs, beside: beside.readMs },
    writes: { alone: alone.writes, beside: beside.writes },
  };
}

async function load(store: LmdbStore, work: () => Promise<void>) {
  const longest = { writeMs: 0, readMs: 0, writes: 0 };
  const known = new Map<string, string>();
  /** A write in flight may be read before its writer is told. */
  const inFlight = new Map<string, string>();
  let running = true;
  const writer = async (lane: number) => {
    for (let i = 0; running; i++) {
      const user = `lane-${lane}-${i % USERS}`;
      const startedMs = performance.now();
      inFlight.set(user, `value ${i}`);
      await write(store, user, `value ${i}`);
      longest.writeMs = Math.max(longest.writeMs, performance.now() - startedMs);
      longest.writes += 1;
      known.set(user, `value ${i}`);
      check(store, user, `value ${i}`);
    }
  };
  const reader = async (lane: number) => {
    for (let i = 0; running; i++) {
      // A turn of the event loop each: how long it takes is how long a request would have waited.
      const startedMs = performance.now();
      await new Promise((resolve) => setImmediate(resolve));
      const user = `lane-${lane}-${i % USERS}`;
      const value = known.get(user);
      if (value !== undefined) check(store, user, value, inFlight.get(user));
      longest.readMs = Math.max(longest.readMs, performance.now() - startedMs);
    }
  };
  const lanes = Array.from({ length: LANES }, (_, lane) => [writer(lane), reader(lane)]).flat();
  await work();
  running = false;
  await Promise.all(lanes);
  for (const [user, value] of known) check(store, user, value);
  return longest;
}

function write(store: LmdbStore, userId: string, value: string) {
  return store.write({
    account: ACCOUNT,
    userId,
    nowMs: Date.now(),
    changes: [{ place: "", label: "USER.name", value }],
    places: [""],
  });
}

function check(store: LmdbStore, user: string, ...allowed: (string | undefined)[]): void {
  const value = store.readFact(
    { account: ACCOUNT, userId: user, places: [""], nowMs: 0 },
    "USER.name",
  )?.value;
  if (!allowed.includes(value)) throw new Error(`${user} reads ${value} instead of ${allowed}`);
}
