/**
 * Opening a data folder as its owner: take the lock, check the format, make the store on the first start, remove
 * the leftovers of interrupted work. Everything here happens with the lock held.
 */

import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { assert } from "../../base/assert.ts";
import { type AtStep, noStep } from "../../base/steps.ts";
import {
  DATA_FILE,
  DataFolderError,
  dataSize,
  FIRST_FORMAT,
  FolderInUseError,
  foreignFile,
  freeBytesOf,
  isLmdbFile,
  makeStoreFolder,
  minSizeBytes,
  NAME_FILE,
  nameStore,
  readStoreNote,
  removeStore,
  requireNamedStore,
  SIZE_BYTES_MIN,
  STORE_BYTES_MIN,
  type StoreNote,
  syncNamed,
  unnamedStores,
  unnamedText,
  writeOwnerNote,
} from "./data-folder.ts";

import { draftOf, makeFolder } from "./durable-files.ts";
import { Environment, TABLES } from "./environment.ts";
import { type FolderLock, fileTextOf, LOCK_FILE, readOwnerNote, takeFolderLock } from "./folder-lock.ts";

import { FORMAT_STEPS, type FormatStep, upgradeStore } from "./upgrade.ts";

/** What opening takes beside the store: lmdb's lock file, and a few small ones. */
const OPEN_BYTES_MIN = 65_536;

export interface OpenFolder {
  /** The name of the store in use. */
  readonly name: string;
  readonly lock: FolderLock;
}

interface OpenFolderOptions {
  readonly folder: string;
  readonly create: boolean;
  readonly lockWaitMs?: number;
  readonly freeBytes?: (folder: string) => number;
  /** What the operator should know. */
  readonly warn?: (line: string) => void;
  /** The steps from the first format to the present one. */
  readonly formatSteps?: readonly FormatStep[];
  readonly atStep?: AtStep;
}

export async function openFolder(options: OpenFolderOptions): Promise<OpenFolder> {
  const { folder, create, lockWaitMs = 0, freeBytes = freeBytesOf, atStep = noStep } = options;
  const { formatSteps = FORMAT_STEPS } = options;
  const formatMax = FIRST_FORMAT + formatSteps.length;
  // A folder that is no data folder stays unchanged.
  if (!create) requireNamedStore(folder);
  const lock = await lockFolder(folder, lockWaitMs);
  if (lock === undefined) throw new FolderInUseError(`${folder} is in use ${describeOwner(folder)}`);
  try {
    closeToOthers(lock);
    requireFreeSpace(folder, freeBytes(folder), OPEN_BYTES_MIN);
    noteOwner(lock);
    atStep("start: locked");
    if (existsSync(join(folder, NAME_FILE))) lock.keep(NAME_FILE, fileTextOf);
    const note = readStoreNote(folder, formatMax);
    if (!create) requireNamedStore(folder);
    // Checked before anything is removed: if the name is wrong, an apparent leftover may be the only store.
    if (note !== undefined) {
      requireStore(folder, note.store);
      syncNamed(folder, note.store);
    }
    await removeLeftovers(lock, note?.store);
    if (note !== undefined) {
      const name = note.format === formatMax ? note.store : await upgrade(lock, note, options);
      return { name, lock };
    }
    requireFreeSpace(folder, freeBytes(folder), STORE_BYTES_MIN);
    return { name: await makeStore(lock, formatMax, atStep), lock };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Brings the store to the present format; the name of the new one. The old one goes when the new one is named. */
async function upgrade(
  lock: FolderLock,
  { store, format }: StoreNote,
  options: OpenFolderOptions,
): Promise<string> {
  const { formatSteps = FORMAT_STEPS, freeBytes = freeBytesOf, atStep = noStep, warn = () => {} } = options;
  const { folder } = lock;
  const present = FIRST_FORMAT + formatSteps.length;
  assert(format >= FIRST_FORMAT && format < present, "an upgrade goes to a later format");
  warn(`bringing the data in ${folder} to format ${present}; the old store stays until it has succeeded`);
  const name = await upgradeStore(lock, store, {
    steps: formatSteps.slice(format - FIRST_FORMAT),
    freeBytes: freeBytes(folder),
    atStep,
  });
  nameStore(lock, name, present);
  atStep("upgrade: named");
  removeStore(lock, store);
  atStep("upgrade: old store removed");
  warn(`the data in ${folder} has format ${present}`);
  return name;
}

/** Makes the folder if it is missing, and locks it. */
async function lockFolder(folder: string, waitMs: number): Promise<FolderLock | undefined> {
  try {
    // A folder that names a store is on disk itself: it was made before.
    if (!existsSync(join(folder, NAME_FILE))) makeFolder(folder);
    return await takeFolderLock(folder, waitMs);
  } catch (error) {
    throw notWritable(folder, error);
  }
}

/** Sets mode 700 if the folder is new or a data folder: others may have a use for another one. */
function closeToOthers({ folder }: FolderLock): void {
  const names = readdirSync(folder).filter((name) => name !== LOCK_FILE);
  if (names.length > 0 && !names.includes(NAME_FILE)) return;
  try {
    chmodSync(folder, 0o700);
  } catch (error) {
    throw notWritable(folder, error);
  }
}

/** The first file that is made in the folder: it shows that the folder can be written to. */
function noteOwner(lock: FolderLock): void {
  try {
    writeOwnerNote(lock, { pid: process.pid, address: null });
  } catch (error) {
    throw notWritable(lock.folder, error);
  }
}

function notWritable(folder: string, error: unknown): DataFolderError {
  const cause = foreignFile(folder, error) ?? (error as Error).message;
  return new DataFolderError(`cannot write to the data folder ${folder}: ${cause}`);
}

/** lmdb maps its files into memory: on a disk that has no room for them, touching a page would end the process. */
function requireFreeSpace(folder: string, freeBytes: number, bytesMin: number): void {
  if (freeBytes >= bytesMin) return;
  throw new DataFolderError(
    `cannot open a store in ${folder}: its disk has less than ${bytesMin / 1024} KiB free; make room`,
  );
}

/**
 * lmdb treats an empty file as a new one and would create an empty store in it; opening a cut one, or one that lmdb has not
 * begun, ends the process.
 */
function requireStore(folder: string, name: string): void {
  const store = join(folder, name);
  const size = dataSize(store);
  if (size >= minSizeBytes(store) && isLmdbFile(store)) return;
  const what =
    size === 0 ? "is missing or empty" : size < minSizeBytes(store) ? "is truncated" : "is damaged";
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

async function makeStore(lock: FolderLock, format: number, atStep: AtStep): Promise<string> {
  const { folder } = lock;
  const name = makeStoreFolder(lock);
  const environment = new Environment(join(folder, name));
  await environment.close();
  atStep("start: store made");
  nameStore(lock, name, format);
  atStep("start: store named");
  return name;
}

/**
 * With a store in use, the others are interrupted copies. Without one, only a store that never held anything is
 * removed: sideband.json may have been lost.
 */
async function removeLeftovers(lock: FolderLock, named: string | undefined): Promise<void> {
  const { folder } = lock;
  for (const name of unnamedStores(folder, named)) {
    if (named === undefined && !(await isEmptyStore(join(folder, name)))) {
      throw new DataFolderError(unnamedText(folder, name));
    }
    removeStore(lock, name);
  }
}

/** False also for a store that cannot be read. */
async function isEmptyStore(store: string): Promise<boolean> {
  // An interrupted restore.
  if (existsSync(draftOf(join(store, DATA_FILE)))) return false;
  if (dataSize(store) <= SIZE_BYTES_MIN) return true;
  if (!isLmdbFile(store)) return false;
  const environment = new Environment(store);
  try {
    return TABLES.every((table) => environment.entryCount(table) === 0);
  } finally {
    await environment.close();
  }
}
