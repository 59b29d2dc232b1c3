/**
 * A data folder of an earlier format becomes one of the present format: its entries are copied into a new store in the new
 * form, and the new store is named in its place. Until then the old store is untouched and in use; killed at any step,
 * the next start begins again.
 */

import { join } from "node:path";
import { type AtStep, noStep } from "../../base/steps.ts";
import { DataFolderError, FIRST_FORMAT, makeStoreFolder, STORE_BYTES_MIN } from "./data-folder.ts";
import {
  type Change,
  type Entry,
  Environment,
  FIRST_KEY,
  isSound,
  pagesFrom,
  TABLES,
  type TableName,
} from "./environment.ts";
import type { FolderLock } from "./folder-lock.ts";

/** What an entry becomes in the next format. Its record has been checked, and comes without its checksum. */
export type FormatStep = (table: TableName, entry: Entry) => readonly Change[];

/** The first makes format 2 of format 1, and so on. */
export const FORMAT_STEPS: readonly FormatStep[] = [];
/** The highest format that this release knows. */
export const PRESENT_FORMAT = FIRST_FORMAT + FORMAT_STEPS.length;

const PAGE = 1_000;
const RECORD_CHECKSUM_BYTES = 4;
const COPY_SHARE = 2;

interface UpgradeOptions {
  /** Those that are missing, in order. */
  readonly steps: readonly FormatStep[];
  readonly freeBytes: number;
  readonly atStep?: AtStep;
}

/** Fills a new store from the old one, and resolves to its name; the caller names it. */
export async function upgradeStore(
  lock: FolderLock,
  oldName: string,
  { steps, freeBytes, atStep = noStep }: UpgradeOptions,
): Promise<string> {
  const old = new Environment(join(lock.folder, oldName));
  try {
    const bytesMin = Math.ceil(old.liveBytes * COPY_SHARE) + STORE_BYTES_MIN;
    if (freeBytes < bytesMin) {
      throw new DataFolderError(
        `${lock.folder} has an earlier data format, and bringing it to the present one takes up to ` +
          `${(bytesMin / 2 ** 20).toFixed(1)} MiB; its disk has ${(freeBytes / 2 ** 20).toFixed(1)} MiB free: make room. Nothing was changed`,
      );
    }
    const name = makeStoreFolder(lock);
    atStep("upgrade: begun");
    const fresh = new Environment(join(lock.folder, name));
    try {
      for (const table of TABLES) await copyTable(old, fresh, table, steps, atStep);
      atStep("upgrade: copied");
      return name;
    } finally {
      await fresh.close();
    }
  } finally {
    await old.close();
  }
}

async function copyTable(
  old: Environment,
  fresh: Environment,
  table: TableName,
  steps: readonly FormatStep[],
  atStep: AtStep,
): Promise<void> {
  for (const page of pagesFrom(FIRST_KEY, PAGE, (range) => old.records(table, range))) {
    const changes: Change[] = [];
    const damaged: Change[] = [];
    for (const { key, value } of page) {
      // A damaged record stays one: it is copied as it is.
      if (!isSound(table, key, value)) damaged.push({ table, key, value });
      else changes.push(...stepped(steps, { table, key, value: value.subarray(0, -RECORD_CHECKSUM_BYTES) }));
    }
    await fresh.commit(changes);
    if (damaged.length > 0) await fresh.copy(damaged);
    atStep("upgrade: page written");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function stepped(steps: readonly FormatStep[], entry: Change): readonly Change[] {
  return steps.reduce<readonly Change[]>(
    (entries, step) =>
      entries.flatMap(({ table, key, value }) => (value === undefined ? [] : step(table, { key, value }))),
    [entry],
  );
}
