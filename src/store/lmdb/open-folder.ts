/**
 * Opening a data folder as its owner: take the lock, check the format, make the store on the first start, remove
 * the leftovers of interrupted work. Everything here happens with the lock held.
 */

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type AtStep, noStep } from "../../base/steps.ts";
import {
  DATA_FILE,
  DataFolderError,
  ensureWritable,
  FolderInUseError,
  leastSize,
  makeStoreFolder,
  nameStore,
  readStoreName,
  removeStore,
  requireNamedStore,
  syncPath,
  unnamedStores,
  unnamedText,
} from "./data-folder.ts";
import { Environment, TABLES } from "./environment.ts";
import { type HeldLock, readOwnerNote, takeFolderLock, writeOwnerNote } from "./folder-lock.ts";

export interface OpenFolder extends HeldLock {
  /** The name of the store in use. */
  readonly name: string;
}

export interface OpenFolderOptions {
  readonly folder: string;
  readonly create: boolean;
  readonly lockWaitMs?: number;
  readonly atStep?: AtStep;
}

export async function openFolder(options: OpenFolderOptions): Promise<OpenFolder> {
  const { folder, create, lockWaitMs = 0, atStep = noStep } = options;
  // A folder that is no data folder stays unchanged.
  if (!create) requireNamedStore(folder);
  ensureWritable(folder);
  const lock = await takeFolderLock(folder, lockWaitMs);
  if (lock === undefined) throw new FolderInUseError(`${folder} is in use ${describeOwner(folder)}`);
  try {
    writeOwnerNote(folder, { pid: process.pid, address: null });
    atStep("start: locked");
    const named = readStoreName(folder);
    if (!create) requireNamedStore(folder);
    // Checked before anything is removed: if the name is wrong, an apparent leftover may be the only store.
    if (named !== undefined) requireStore(folder, named);
    await removeLeftovers(folder, named);
    return { name: named ?? (await makeStore(folder, atStep)), ...lock };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** lmdb treats an empty file as a new one and would create an empty store in it; reading a cut one ends the process. */
function requireStore(folder: string, name: string): void {
  const store = join(folder, name);
  const size = statSync(join(store, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0;
  if (size >= leastSize(store)) return;
  const what = size === 0 ? "is missing or empty" : "is truncated";
  throw new DataFolderError(
    `${folder} names the store ${name}, which ${what}: nothing was changed; restore a backup, or correct sideband.json`,
  );
}

/** The owner of the folder, as far as it is known. */
export function describeOwner(folder: string): string {
  const owner = readOwnerNote(folder);
  if (owner === undefined) return "by another process";
  return `by process ${owner.pid}${owner.address === null ? "" : `, which answers at ${owner.address}`}`;
}

async function makeStore(folder: string, atStep: AtStep): Promise<string> {
  const name = makeStoreFolder(folder);
  const environment = new Environment(join(folder, name));
  await environment.close();
  syncPath(join(folder, name));
  atStep("start: store made");
  nameStore(folder, name);
  atStep("start: store named");
  return name;
}

/**
 * With a store in use, the others are interrupted copies. Without one, only a store that never held anything is
 * removed: sideband.json may have been lost.
 */
async function removeLeftovers(folder: string, named: string | undefined): Promise<void> {
  for (const name of unnamedStores(folder, named)) {
    if (named === undefined && !(await isEmptyStore(join(folder, name)))) {
      throw new DataFolderError(unnamedText(folder, name));
    }
    removeStore(folder, name);
  }
}

async function isEmptyStore(folder: string): Promise<boolean> {
  if (!existsSync(join(folder, "data.mdb"))) return true;
  const environment = new Environment(folder);
  try {
    return TABLES.every((table) => environment.entryCount(table) === 0);
  } finally {
    await environment.close();
  }
}
