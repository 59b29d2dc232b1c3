/**
 * The lock on a data folder: a lock of the operating system on the file `owner.lock`, so it ends with the process
 * that holds it, however that process ends. The file itself says nothing: it is made once and never removed.
 * `owner.json` tells people who the owner is; nothing is decided by it.
 */

import { chmodSync, closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tryLock } from "fs-native-extensions";

export const LOCK_FILE = "owner.lock";
const NOTE_FILE = "owner.json";
const RETRY_MS = 25;

export interface OwnerNote {
  readonly pid: number;
  /** Where the owner answers over TCP; null where it only has its door. */
  readonly address: string | null;
}

export class FolderLock {
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** The lock, or undefined where another process still has it after `waitMs`. */
  static async take(folder: string, waitMs = 0, file = LOCK_FILE): Promise<FolderLock | undefined> {
    const endMs = performance.now() + waitMs;
    for (;;) {
      const lock = FolderLock.try(folder, file);
      if (lock !== undefined || performance.now() >= endMs) return lock;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** @param shared keeps owners out, and lets others share it */
  static try(folder: string, file = LOCK_FILE, shared = false): FolderLock | undefined {
    const descriptor = openSync(join(folder, file), "a+", 0o600);
    if (tryLock(descriptor, { shared })) return new FolderLock(descriptor);
    closeSync(descriptor);
    return undefined;
  }

  release(): void {
    closeSync(this.#descriptor);
  }
}

export function writeOwnerNote(folder: string, note: OwnerNote): void {
  const path = join(folder, NOTE_FILE);
  writeFileSync(path, `${JSON.stringify(note)}\n`, { mode: 0o600 });
  chmodSync(path, 0o600);
}

/** What the last owner wrote about itself, where it can be read. */
export function readOwnerNote(folder: string): OwnerNote | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, NOTE_FILE), "utf8")) as OwnerNote;
  } catch {
    return undefined;
  }
}
