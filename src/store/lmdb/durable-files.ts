/**
 * Files and folders that outlive a loss of power. A sync of a file keeps its content, not its name; a sync of a folder
 * keeps the names in it, not what they stand for. So content is synced before it gets its name, and the folder after.
 * What is here is on disk when it returns. test/fault/power loses what was not synced, and checks what is left.
 */

import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

const RENAME_TRIES = 10;
const RENAME_PAUSE_MS = 20;
const IN_USE = ["EPERM", "EACCES", "EBUSY"];

/** Waits until the content of a file, or the names in a folder, are on disk. */
export function syncPath(path: string, platform = process.platform): void {
  // Windows syncs only files that are open for writing; folders cannot be opened so. NTFS journals the names itself.
  const isWindows = platform === "win32";
  if (isWindows && statSync(path).isDirectory()) return;
  const descriptor = openSync(path, isWindows ? "r+" : "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Where a file is written before it gets its name. */
export function draftOf(path: string): string {
  return `${path}.new`;
}

/** Writes a file with mode 600. An earlier one stays until the new one is whole. */
export function replaceFile(path: string, text: string): void {
  putInPlace(path, (draft) => writeFileSync(draft, text, { mode: 0o600 }));
}

/** Copies a file, with mode 600. Under its name it is whole, or not there. */
export function copyFile(from: string, to: string): void {
  putInPlace(to, (draft) => {
    copyFileSync(from, draft);
    chmodSync(draft, 0o600);
  });
}

function putInPlace(path: string, make: (draft: string) => void): void {
  const draft = draftOf(path);
  try {
    make(draft);
    syncPath(draft);
    renameFile(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Gives a file that is on disk another name in its folder. */
export function renameFile(from: string, to: string): void {
  renameOver(from, to);
  syncPath(dirname(to));
}

/** Windows refuses to replace a file that another process has open, as one that reads it has for a moment. */
export function renameOver(
  from: string,
  to: string,
  { platform = process.platform, rename = renameSync } = {},
): void {
  for (let left = platform === "win32" ? RENAME_TRIES : 1; ; left--) {
    try {
      rename(from, to);
      return;
    } catch (error) {
      if (left <= 1 || !IN_USE.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RENAME_PAUSE_MS);
    }
  }
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  syncPath(dirname(folder));
}

/** Makes a folder and its parents with mode 700. `mkdirSync` with `recursive` never returns on /proc and the like. */
export function makeFolder(folder: string): void {
  const above = dirname(folder);
  if (existsSync(folder)) {
    syncIfPossible(above);
    return;
  }
  if (above !== folder) makeFolder(above);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it at the same moment.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  syncPath(above);
}

/**
 * For the name of a folder that was there: it is long on disk, unless a process of ours was killed between making it and
 * the sync. Not everybody may read the folder above.
 */
function syncIfPossible(folder: string): void {
  try {
    syncPath(folder);
  } catch {}
}
