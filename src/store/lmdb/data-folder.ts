/**
 * The data folder. `sideband.json` names the format and the one store in use, a folder with a random name beside
 * it. Compacting fills another store and then replaces sideband.json in one step, so at every moment exactly one
 * whole store is named. The named store is never removed. Stores without a name there are left over from interrupted
 * work; the owner removes them when it opens the folder, with the lock held.
 */

import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** A folder of another version is refused. */
export const FORMAT_VERSION = 4;
const NAME_FILE = "sideband.json";
export const DATA_FILE = "data.mdb";
const SIZE_BYTES_MIN = 8_192;
/** In a store: how long its data file was when it was opened or closed last. The file never gets shorter. */
const SIZE_FILE = "size";
const ROOM_BYTES_MIN = 2 ** 20;
const STORE_NAME = /^store-[0-9a-f]{16}$/;

/** Why a data folder cannot be opened. The message is for the operator. */
export class DataFolderError extends Error {
  override name = "DataFolderError";
}

/** Nothing was stored in the folder yet, and it was not asked for that it begins. */
class NoStoreError extends DataFolderError {
  override name = "NoStoreError";
}

/** Another process owns the folder. */
export class FolderInUseError extends DataFolderError {}

/** The name of the store in use, or undefined for a folder that names none. */
export function readStoreName(folder: string): string | undefined {
  const path = join(folder, NAME_FILE);
  if (!existsSync(path)) return undefined;
  let state: { format?: unknown; store?: unknown };
  try {
    state = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new DataFolderError(`${path} cannot be read: ${(error as Error).message}`);
  }
  if (state === null || typeof state !== "object") throw new DataFolderError(`${path} does not name a store`);
  if (state.format !== FORMAT_VERSION) {
    throw new DataFolderError(
      `${folder} has data format ${state.format}, this release uses format ${FORMAT_VERSION}: run "sideband export" ` +
        `with the release that wrote it, and "sideband import --master-key ${join(folder, "master.key")}" with this one into another folder`,
    );
  }
  if (typeof state.store !== "string" || !STORE_NAME.test(state.store)) {
    throw new DataFolderError(`${path} does not name a store`);
  }
  return state.store;
}

/** Throws if the folder names no store. Nothing is made. */
export function requireNamedStore(folder: string): void {
  if (readStoreName(folder) !== undefined) return;
  const [unnamed] = existsSync(folder) ? unnamedStores(folder, undefined) : [];
  if (unnamed !== undefined) throw new DataFolderError(unnamedText(folder, unnamed));
  throw new NoStoreError(
    `there is no store in ${folder}: nothing is remembered there yet; "sideband remember" or "sideband serve" begins one`,
  );
}

export function unnamedText(folder: string, store: string): string {
  return (
    `${folder} holds the store ${store}, but no sideband.json names it: an interrupted backup or restore left it, or ` +
    "sideband.json was lost; use another folder, or remove that store"
  );
}

/** Names the store in use; on disk when it returns. */
export function nameStore(folder: string, store: string): void {
  const path = join(folder, NAME_FILE);
  const draft = `${path}.new`;
  writeFileSync(draft, `${JSON.stringify({ format: FORMAT_VERSION, store })}\n`, { mode: 0o600 });
  syncPath(draft);
  renameSync(draft, path);
  syncPath(folder);
}

/**
 * Makes an empty folder for a store, under a name that nobody else has. lmdb maps its files into memory: on a disk that
 * has no room for them, touching a page would end the process. So a nearly full disk is refused here.
 */
export function makeStoreFolder(folder: string): string {
  const { blocks, bavail, bsize } = statfsSync(folder);
  // Some file systems do not know their size.
  if (blocks > 0 && bavail * bsize < ROOM_BYTES_MIN)
    throw new DataFolderError(
      `cannot make a store in ${folder}: its disk has less than 1 MiB free; make room`,
    );
  const name = `store-${randomBytes(8).toString("hex")}`;
  mkdirSync(join(folder, name), { mode: 0o700 });
  return name;
}

/** Notes the size of a store's data file. Without room for the note the old one stays, which is true as well. */
export function noteSize(store: string): void {
  try {
    writeFileSync(join(store, SIZE_FILE), `${statSync(join(store, DATA_FILE)).size}\n`, { mode: 0o600 });
  } catch {}
}

/** The size that a store's data file has at least; the two pages that every lmdb file begins with, if none is noted. */
export function leastSize(store: string): number {
  const path = join(store, SIZE_FILE);
  return Math.max(
    SIZE_BYTES_MIN,
    existsSync(path) ? Number.parseInt(readFileSync(path, "utf8"), 10) || 0 : 0,
  );
}

/** Removes a store that is not in use. */
export function removeStore(folder: string, name: string): void {
  if (readStoreName(folder) === name) throw new DataFolderError(`${name} is in use and is not removed`);
  rmSync(join(folder, name), { recursive: true, force: true });
}

/** Store folders that are not the one in use. */
export function unnamedStores(folder: string, inUse: string | undefined): string[] {
  return readdirSync(folder).filter((name) => STORE_NAME.test(name) && name !== inUse);
}

/** Makes a folder and its parents with mode 700. `mkdirSync` with `recursive` never returns on /proc and the like. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it at the same moment.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Makes the folder if it is missing, sets mode 700 if it is empty or a data folder, and tries to write into it. */
export function ensureWritable(folder: string): void {
  const probe = join(folder, `.probe-${process.pid}`);
  try {
    makeFolder(folder);
    const names = readdirSync(folder);
    if (names.length === 0 || names.includes(NAME_FILE)) chmodSync(folder, 0o700);
    writeFileSync(probe, "sideband", { mode: 0o600 });
    rmSync(probe);
  } catch (error) {
    throw new DataFolderError(`cannot write to the data folder ${folder}: ${(error as Error).message}`);
  }
}

/** Waits until a file, or the names in a folder, are on disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
