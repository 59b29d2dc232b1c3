/**
 * The address of a data folder's door: a socket in the folder, or on Windows a named pipe with a hash of its path. And folders
 * that a process has for itself in the system's temporary folder: for a short link to a data folder, for a socket, or for a
 * page that a browser is to open. A killed process leaves its folder behind; the next start, or the next process that needs
 * such a folder, removes it. Each is locked as long as its process lives, so that no folder in use is removed.
 */

import { createHash } from "node:crypto";
import { lstatSync, mkdtempSync, readdirSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve, win32 } from "node:path";
import { type FolderLock, LOCK_FILE, tryFolderLock } from "../store/lmdb/folder-lock.ts";

const PREFIX = "sideband-own-";
const NAME = /^sideband-own-\w{6}$/;
/** The only names in such a folder: the link, the socket and its draft, a page, the lock. Nothing else is ever removed. */
const LINK_FILE = "d";
const SOCKET_FILE = "door.sock";
export const PAGE_FILE = "open.html";
const FILES = [LINK_FILE, SOCKET_FILE, "door.new", PAGE_FILE, LOCK_FILE];

interface PrivateFolder {
  readonly path: string;
  remove(): void;
}

export function makePrivateFolder(): PrivateFolder {
  removeLeftFolders();
  for (;;) {
    const path = mkdtempSync(join(tmpdir(), PREFIX));
    const lock = lockOf(path);
    // Before the lock, another process may have removed the folder as one left behind.
    if (lock !== undefined) return { path, remove: () => remove(path, lock) };
  }
}

/** Removes the folders that killed processes of this user have left. What cannot be removed stays. */
export function removeLeftFolders(): void {
  try {
    for (const name of readdirSync(tmpdir())) {
      const path = join(tmpdir(), name);
      if (!NAME.test(name) || !isOwnFolder(path)) continue;
      const lock = lockOf(path);
      if (lock !== undefined) remove(path, lock);
    }
  } catch {
    // The temporary folder cannot be read, or one in it cannot be locked: no start fails for that.
  }
}

/** False for a link: others may make links in the temporary folder, and point them anywhere. */
function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}

/** Undefined if another process has it, or has just removed it. */
function lockOf(path: string): FolderLock | undefined {
  try {
    return tryFolderLock(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function remove(path: string, lock: FolderLock): void {
  try {
    for (const file of FILES) rmSync(join(path, file), { force: true });
    rmdirSync(path);
  } catch {
    // It holds something else, or another process looks at it at this moment.
  } finally {
    lock.release();
    // There a file that is open, as the lock was, keeps its folder.
    if (process.platform === "win32") removeEmpty(path);
  }
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {}
}

const DOOR_FILE = "door.sock";
/** A socket's address has at most 104 bytes on macOS and 108 on Linux, with the final zero. */
const PATH_BYTES_MAX = 100;
const shortened = new Map<string, string>();

export function doorPath(folder: string, platform = process.platform): string {
  if (platform === "win32") {
    // Of the two spellings C:\data and c:\data, hosts use both.
    const name = win32.resolve(folder).toLowerCase();
    return `\\\\.\\pipe\\sideband-${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
  }
  const whole = resolve(folder);
  const path = join(whole, DOOR_FILE);
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return path;
  return join(shortLink(whole), DOOR_FILE);
}

/** A symbolic link to the folder that is short enough for a socket's address. It is removed when the process ends. */
function shortLink(folder: string): string {
  let link = shortened.get(folder);
  if (link === undefined) {
    const home = makePrivateFolder();
    link = join(home.path, LINK_FILE);
    symlinkSync(folder, link);
    shortened.set(folder, link);
    process.once("exit", home.remove);
  }
  return link;
}
