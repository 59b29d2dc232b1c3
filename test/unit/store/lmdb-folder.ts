/** Data folders for the tests of the embedded store. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Metrics } from "../../../src/base/metrics.ts";
import { type AtStep, noStep } from "../../../src/base/steps.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";

export function openFolder(folder: string, create = true, atStep: AtStep = noStep): Promise<LmdbStore> {
  return LmdbStore.open({ folder, create, queueMax: 10_000, metrics: new Metrics(), atStep });
}

export async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-store-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
