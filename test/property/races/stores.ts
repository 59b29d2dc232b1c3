/** The stores that calls race on: a data folder, a PostgreSQL by one node with eight connections, and by two with four each. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../../src/base/clock.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import { PostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { FakeClock } from "../../unit/blockwork/fake-workers.ts";
import { START_MS } from "../life/steps.ts";
import { openFolder } from "../life/world.ts";
import { HISTORY_MAX, type Nodes, nodesOf } from "./round.ts";

export const STORES = ["embedded", "postgres", "nodes"] as const;
export type StoreName = (typeof STORES)[number];

const CONNECTIONS = 8;

export interface OpenNodes extends Nodes {
  close(): Promise<void>;
}

/** @param at a data folder, or the address of a database */
export async function openNodes(store: StoreName, at: string): Promise<OpenNodes> {
  const clock = new FakeClock(START_MS);
  const count = store === "nodes" ? 2 : 1;
  const stores = await Promise.all(
    Array.from({ length: count }, () =>
      store === "embedded" ? openFolder(at, HISTORY_MAX, clock) : openNode(at, CONNECTIONS / count, clock),
    ),
  );
  const close = async () => void (await Promise.all(stores.map((opened) => opened.close())));
  return { ...nodesOf(stores, clock), close };
}

function openNode(url: string, poolMax: number, clock: Clock): Promise<PostgresStore> {
  const metrics = new Metrics();
  return PostgresStore.open({ url, queueMax: 10_000, metrics, poolMax, historyMax: HISTORY_MAX, clock });
}

export async function inNewFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-races-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
