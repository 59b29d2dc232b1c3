/**
 * The data folder. `sideband.json` names the format and the one store in use, a folder with a random name beside
 * it. Compacting fills another store and then replaces sideband.json in one step, so at every moment exactly one
 * whole store is named. The named store is never removed. Stores without a name there are left over from interrupted
 * work; the owner removes them when it opens the folder. Whoever names or removes a store holds the folder's lock, and
 * asks directly before each such step whether the folder is still the locked one.
 */

import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { NoStoreError, OperatorError } from "../../base/errors.ts";
import { draftOf, removeFolder, renameOver, replaceFile, syncPath } from "./durable-files.ts";
import { type FolderLock, fileTextOf, NOTE_FILE, type OwnerNote } from "./folder-lock.ts";

/** The format of the first release: each step of upgrade.ts makes the next. */
export const FIRST_FORMAT = 1;
export const NAME_FILE = "sideband.json";
export const DATA_FILE = "data.mdb";
/** The two pages that every lmdb file begins with. A file without a third holds no entry. */
export const SIZE_BYTES_MIN = 8_192;
/** The number by which the first page of an lmdb file is known, and where it stands. */
const LMDB_MAGIC = { offset: 24, value: 0xbeefc0de };
/** In a store: how long its data file was when it was opened or closed last. The file never gets shorter. */
const SIZE_FILE = "size";
/** What a new store takes at least. */
export const STORE_BYTES_MIN = 2 ** 20;
const STORE_NAME = /^store-[0-9a-f]{16}$/;

/** Why a data folder cannot be opened. The message is for the operator. */
export class DataFolderError extends OperatorError {
  override name = "DataFolderError";
}

/** Another process owns the folder. */
export class FolderInUseError extends DataFolderError {}

/** The name of the store in use, or undefined for a folder that names none. */
export function readStoreName(folder: string): string | undefined {
  return readStoreNote(folder)?.store;
}

/** What sideband.json says. */
export interface StoreNote {
  readonly format: number;
  /** The store in use. */
  readonly store: string;
}

/** @param formatMax the highest format that is known; undefined: whichever it is */
export function readStoreNote(folder: string, formatMax?: number): StoreNote | undefined {
  const path = join(folder, NAME_FILE);
  if (!existsSync(path)) return undefined;
  let state: { format?: unknown; store?: unknown };
  try {
    state = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new DataFolderError(`${path} cannot be read: ${(error as Error).message}`);
  }
  if (state === null || typeof state !== "object") throw new DataFolderError(`${path} does not name a store`);
  const { format } = state;
  if (typeof format !== "number" || !Number.isInteger(format) || format < FIRST_FORMAT)
    throw new DataFolderError(`${path} names no data format`);
  if (formatMax !== undefined && format > formatMax) {
    throw new DataFolderError(
      `${folder} has data format ${format}, this release knows formats up to ${formatMax}: a newer release wrote it; run that release or a later one. Nothing was changed`,
    );
  }
  if (typeof state.store !== "string" || !STORE_NAME.test(state.store)) {
    throw new DataFolderError(`${path} does not name a store`);
  }
  return { format, store: state.store };
}

/** Throws if the folder names no store. Nothing is made. */
export function requireNamedStore(folder: string): void {
  if (readStoreName(folder) !== undefined) return;
  const [unnamed] = existsSync(folder) ? unnamedStores(folder, undefined) : [];
  if (unnamed !== undefined) throw new DataFolderError(unnamedText(folder, unnamed));
  throw new NoStoreError(
    `there is no store in ${folder}: nothing is remembered there yet; "sideband open" or "sideband serve" begins one, and so does a first fact`,
  );
}

export function unnamedText(folder: string, store: string): string {
  return (
    `${folder} holds the store ${store}, but no sideband.json names it: an interrupted backup or restore left it, or ` +
    "sideband.json was lost; use another folder, or remove that store"
  );
}

/**
 * Names the store in use; on disk when it returns. The store is on disk first: it is never named without its file. The
 * draft of sideband.json is in the store's own folder. A process that takes the folder over at this very moment removes
 * unnamed stores first: then there is nothing left to rename.
 */
export function nameStore(lock: FolderLock, store: string, format: number): void {
  const { folder } = lock;
  const text = `${JSON.stringify({ format, store })}\n`;
  const draft = join(folder, store, NAME_FILE);
  lock.requireHeld();
  writeFileSync(draft, text, { mode: 0o600 });
  for (const path of [draft, join(folder, store), folder]) syncPath(path);
  lock.requireHeld();
  renameOver(draft, join(folder, NAME_FILE));
  lock.keep(NAME_FILE, fileTextOf, text);
  lock.requireHeld();
  syncPath(folder);
}

/** In place of the old note at one moment: who reads it meanwhile gets one of the two. */
export function writeOwnerNote(lock: FolderLock, note: OwnerNote): void {
  const path = join(lock.folder, NOTE_FILE);
  const draft = draftOf(path);
  lock.requireHeld();
  writeFileSync(draft, `${JSON.stringify(note)}\n`, { mode: 0o600 });
  lock.requireHeld();
  renameOver(draft, path);
}

/** For a store that was found named: who named it may have been killed before all of that was on disk. */
export function syncNamed(folder: string, store: string): void {
  const path = join(folder, store);
  for (const part of [join(path, DATA_FILE), path, join(folder, NAME_FILE), folder]) syncPath(part);
}

/** Makes an empty folder for a store, under a name that nobody else has. */
export function makeStoreFolder(lock: FolderLock): string {
  const name = `store-${randomBytes(8).toString("hex")}`;
  lock.requireHeld();
  mkdirSync(join(lock.folder, name), { mode: 0o700 });
  return name;
}

/**
 * Of an error of the system: whose file it met, and who must own it; undefined where the owner is not at fault. The
 * commands of an operator that ran as root leave such files.
 */
export function foreignFile(folder: string, error: unknown): string | undefined {
  const { code, path } = error as NodeJS.ErrnoException;
  const own = process.getuid?.();
  if (own === undefined || (code !== "EACCES" && code !== "EPERM")) return undefined;
  const [found, owner] = [path ?? folder, folder].map(
    (each) => statSync(each, { throwIfNoEntry: false })?.uid,
  );
  if (found === undefined || owner === undefined || (found === own && owner === own)) return undefined;
  return (
    `${found === own ? folder : (path ?? folder)} belongs to ${userText(found === own ? owner : found)}, and this process runs as ` +
    `${userText(own)}. Everything in a data folder must belong to the user who runs it: ` +
    `run it as ${userText(owner)}, after "chown -R ${owner} ${folder}"`
  );
}

function userText(uid: number): string {
  if (uid === 0) return "root";
  return uid === process.getuid?.() ? `user ${uid} (${userInfo().username})` : `user ${uid}`;
}

/** Free bytes of the disk that a folder is on. Some file systems do not know their size. */
export function freeBytesOf(folder: string): number {
  const { blocks, bavail, bsize } = statfsSync(folder);
  return blocks > 0 ? bavail * bsize : Number.POSITIVE_INFINITY;
}

/**
 * Notes the size of a store's data file. If the note cannot be written, the old one stays: the file is at least that long.
 * The end of the file may come from a commit that failed or was killed. It is synced first, so that the note stays true.
 */
export function noteSize(store: string): void {
  try {
    const size = dataSize(store);
    if (size === minSizeBytes(store)) return;
    syncPath(join(store, DATA_FILE));
    replaceFile(join(store, SIZE_FILE), `${size}\n`);
  } catch {}
}

/** The size of a store's data file; 0 if it is missing. */
export function dataSize(store: string): number {
  return statSync(join(store, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0;
}

/** Whether a store's data file begins as lmdb's files do. lmdb-js ends the process when it opens another. */
export function isLmdbFile(store: string): boolean {
  const bytes = Buffer.alloc(LMDB_MAGIC.offset + 4);
  const descriptor = openSync(join(store, DATA_FILE), "r");
  try {
    readSync(descriptor, bytes, 0, bytes.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return bytes.readUInt32LE(LMDB_MAGIC.offset) === LMDB_MAGIC.value;
}

/** The size that a store's data file has at least. */
export function minSizeBytes(store: string): number {
  const path = join(store, SIZE_FILE);
  return Math.max(
    SIZE_BYTES_MIN,
    existsSync(path) ? Number.parseInt(readFileSync(path, "utf8"), 10) || 0 : 0,
  );
}

/** Removes a store that is not in use. */
export function removeStore(lock: FolderLock, name: string): void {
  const { folder } = lock;
  if (readStoreName(folder) === name) throw new DataFolderError(`${name} is in use and is not removed`);
  lock.requireHeld();
  removeFolder(join(folder, name));
}

/** Store folders that are not the one in use. */
export function unnamedStores(folder: string, inUse: string | undefined): string[] {
  return readdirSync(folder).filter((name) => STORE_NAME.test(name) && name !== inUse);
}
