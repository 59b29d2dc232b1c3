/**
 * The lock on a data folder: an operating-system lock on the file `owner.lock`. It ends with the process that holds
 * it, however that process ends. The file has no content; it is made once and never removed. `owner.json` tells
 * people who the owner is; no decision depends on it.
 */

import { chmodSync, closeSync, fstatSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tryLock } from "fs-native-extensions";

export const LOCK_FILE = "owner.lock";
const NOTE_FILE = "owner.json";
const RETRY_MS = 25;

export interface OwnerNote {
  readonly pid: number;
  /** The owner's TCP address; null if it has only its door. */
  readonly address: string | null;
}

export interface HeldLock {
  /** False if the folder was removed or replaced: then the lock protects nothing. */
  isHeld(): boolean;
  release(): void;
}

/**
 * Takes a lock, or returns undefined if another process has it.
 * @param shared excludes an owner, but not other shared locks
 */
export function tryFolderLock(folder: string, file = LOCK_FILE, shared = false): HeldLock | undefined {
  const path = join(folder, file);
  const descriptor = openSync(path, "a+", 0o600);
  let locked = false;
  try {
    const { ino } = fstatSync(descriptor);
    locked = tryLock(descriptor, { shared });
    return locked ? { release: () => closeSync(descriptor), isHeld: () => inodeOf(path) === ino } : undefined;
  } finally {
    if (!locked) closeSync(descriptor);
  }
}

/** Undefined if the file cannot be found, for whatever reason. */
export function inodeOf(path: string): number | undefined {
  try {
    return statSync(path).ino;
  } catch {
    return undefined;
  }
}

/** Like tryFolderLock, but waits up to `waitMs` for the present owner to end. */
export async function takeFolderLock(folder: string, waitMs: number): Promise<HeldLock | undefined> {
  for (const endMs = performance.now() + waitMs; ; ) {
    const lock = tryFolderLock(folder);
    if (lock !== undefined || performance.now() >= endMs) return lock;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

export function writeOwnerNote(folder: string, note: OwnerNote): void {
  const path = join(folder, NOTE_FILE);
  writeFileSync(path, `${JSON.stringify(note)}\n`, { mode: 0o600 });
  chmodSync(path, 0o600);
}

/** What the last owner wrote about itself; undefined if it cannot be read. */
export function readOwnerNote(folder: string): OwnerNote | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, NOTE_FILE), "utf8")) as OwnerNote;
  } catch {
    return undefined;
  }
}
