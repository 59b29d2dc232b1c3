/**
 * The lock on a folder: an operating-system lock on the file `owner.lock`. It ends with the process that holds it,
 * however that process ends. The file has no content; it is made once and never removed. `owner.json` tells people who
 * the owner is; no decision depends on it.
 *
 * The lock is on a file, and the work goes by name: under the process, the folder can be moved, swapped for a copy or
 * overwritten, and the next process locks what it finds there. So the holder knows the folder, the lock file and what
 * else must stay as it is, by device and inode, and asks before it names, renames or removes anything. What was lost
 * once is lost for good.
 */

import { closeSync, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { assert } from "../../base/assert.ts";
import { Failure } from "../../base/errors.ts";

export const LOCK_FILE = "owner.lock";
export const NOTE_FILE = "owner.json";
const RETRY_MS = 25;
const FOLDER = ".";
const load = createRequire(import.meta.url);

export interface OwnerNote {
  readonly pid: number;
  /** The owner's TCP address; null if it has only its door. */
  readonly address: string | null;
}

/** A file of the folder that must not change: what was read of it, and how it is read again. */
interface KeptFile {
  readonly expected: string | undefined;
  readonly look: (path: string) => string;
}

export class FolderLock {
  readonly folder: string;
  /** Of the lock file, and of the folder: as long as it is open, no other folder gets its inode. */
  readonly #descriptors: readonly number[];
  readonly #kept = new Map<string, KeptFile>();
  #lookedMs = Number.NEGATIVE_INFINITY;
  #lost = false;
  #isReleased = false;
  #onLost: (line: string) => void = () => {};

  /** @param descriptors of the lock file and, where the system has such, of the folder */
  constructor(folder: string, file: string, descriptors: readonly number[]) {
    this.folder = folder;
    this.#descriptors = descriptors;
    const [lock, itself] = descriptors.map((descriptor) => idOf(fstatSync(descriptor, { bigint: true })));
    this.keep(FOLDER, identityOf, itself);
    this.keep(file, identityOf, lock);
  }

  /** @param onLost called once, with a line for the operator, when the folder is found to be lost */
  watch(onLost: (line: string) => void): void {
    this.#onLost = onLost;
  }

  /** From now on the folder counts as lost if this file of it changes. By default: if it is removed or replaced. */
  keep(file: string, look = identityOf, expected = seen(look, join(this.folder, file))): void {
    this.#kept.set(file, { look, expected });
  }

  letGo(file: string): void {
    this.#kept.delete(file);
  }

  /**
   * Whether the folder is still the one that this process locked.
   * @param withinMs an earlier answer is used if it is not older than this
   */
  isHeld(withinMs = 0): boolean {
    if (this.#lost) return false;
    const nowMs = performance.now();
    if (nowMs - this.#lookedMs < withinMs) return true;
    for (const [file, { look, expected }] of this.#kept) {
      if (expected !== undefined && seen(look, join(this.folder, file)) === expected) continue;
      const what = file === FOLDER ? "it" : join(this.folder, file);
      this.giveUp(
        `the data folder ${this.folder} is no longer this process's: ${what} was moved, removed or replaced. The process ` +
          "ends and writes nothing more; make sure that one process alone uses the folder, and start it again",
      );
      return false;
    }
    this.#lookedMs = nowMs;
    return true;
  }

  /** Directly before each change that others would see. */
  requireHeld(): void {
    if (!this.isHeld()) throw folderLost();
  }

  /** The process is done with the folder for good. */
  giveUp(line: string): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#onLost(line);
  }

  release(): void {
    assert(!this.#isReleased, "a lock is released once: its descriptors may be others' files by then");
    this.#isReleased = true;
    this.#lost = true;
    for (const descriptor of this.#descriptors) closeSync(descriptor);
  }
}

export function folderLost(): Failure {
  return new Failure("store_unavailable", "The data folder was moved, removed or replaced.");
}

/**
 * Takes a lock, or returns undefined if another process has it.
 * @param shared excludes an owner, but not other shared locks
 */
export function tryFolderLock(folder: string, file = LOCK_FILE, shared = false): FolderLock | undefined {
  const lockFile = openSync(join(folder, file), "a+", 0o600);
  const descriptors = [lockFile];
  let lock: FolderLock | undefined;
  try {
    // Loaded with the first lock: an agent's hook takes none and must not wait for it.
    const { tryLock } = load("fs-native-extensions") as typeof import("fs-native-extensions");
    // On Windows the folder could not be removed while it is open.
    if (process.platform !== "win32") descriptors.push(openSync(folder, "r"));
    if (!tryLock(lockFile, { shared })) return undefined;
    const taken = new FolderLock(folder, file, descriptors);
    // The file may have been replaced after it was opened: then the lock excludes nobody.
    if (taken.isHeld()) lock = taken;
    return lock;
  } finally {
    if (lock === undefined) for (const descriptor of descriptors) closeSync(descriptor);
  }
}

/** Like tryFolderLock, but waits up to `waitMs` for the present owner to end. */
export async function takeFolderLock(
  folder: string,
  waitMs: number,
  file = LOCK_FILE,
): Promise<FolderLock | undefined> {
  for (const endMs = performance.now() + waitMs; ; ) {
    const lock = tryFolderLock(folder, file);
    if (lock !== undefined || performance.now() >= endMs) return lock;
    await pause(RETRY_MS);
  }
}

/** Which file or folder it is, whatever its name. An inode may have more digits than a number. */
export function identityOf(path: string): string {
  return idOf(statSync(path, { bigint: true }));
}

export function fileTextOf(path: string): string {
  return readFileSync(path, "utf8");
}

/** Without the device on Windows: in Node 22.12 to 22.16, 24.0 and 24.1 an open file has another one than its path. */
export function idOf({ dev, ino }: { dev: bigint; ino: bigint }, platform = process.platform): string {
  return platform === "win32" ? `${ino}` : `${dev}:${ino}`;
}

/** Undefined if it cannot be found or read, for whatever reason. */
function seen(look: (path: string) => string, path: string): string | undefined {
  try {
    return look(path);
  } catch {
    return undefined;
  }
}

/** What the last owner wrote about itself; undefined if it cannot be read. */
export function readOwnerNote(folder: string): OwnerNote | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, NOTE_FILE), "utf8")) as OwnerNote;
  } catch {
    return undefined;
  }
}
