/**
 * Files of a user that are changed: read only if they are text, and replaced at one moment, so that nobody ever sees half
 * of one. A link stays a link, and its file is written. Mode and place stay.
 */

import {
  chmodSync,
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";

/** No host reads a file with such a name. */
export const DRAFT_ENDING = ".sideband-draft";

/** A file of the user cannot be used as it is. */
export class UserFileError extends Error {
  override name = "UserFileError";
}

/**
 * Takes others' rights to the user's folder of ours away: what agents installed, and the facts below it, are nobody
 * else's. A link, and a folder of somebody else, stay as they are.
 * @param home the user's home folder
 */
export function closeHomeFolder(home: string): void {
  const folder = join(home, ".sideband");
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true || found.uid !== process.getuid?.() || (found.mode & 0o077) === 0) return;
  try {
    chmodSync(folder, found.mode & 0o700);
  } catch {
    // Nothing can be changed there: no command fails for that.
  }
}

/** The text of a file; undefined if there is none. */
export function fileText(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const bytes = readFileSync(path);
  const text = bytes.toString("utf8");
  if (!Buffer.from(text).equals(bytes)) throw new UserFileError(`${path}: it is not UTF-8 text`);
  return text;
}

/** Throws if a file is there and marked as not to be written. */
export function requireWritable(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  // The bits, and not access(2): a root user may write everything.
  if (found !== undefined && (found.mode & 0o222) === 0) throw new UserFileError(`${path}: it is read-only`);
}

/** @param mode of a file that is not there yet */
export function writeUserFile(path: string, text: string, mode = 0o666): void {
  const target = writtenPath(path);
  const present = statSync(target, { throwIfNoEntry: false });
  const draft = `${target}${DRAFT_ENDING}`;
  // What a killed process left. It has the same name, since one process alone works at a time (agents-lock.ts).
  rmSync(draft, { force: true });
  // The user's file may hold secrets: nobody else reads the draft either.
  const descriptor = openSync(draft, "wx", present === undefined ? mode : 0o600);
  try {
    writeFileSync(descriptor, text);
    if (present !== undefined) fchmodSync(descriptor, present.mode & 0o7777);
    fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Removes a file; a link to it stays. */
export function removeFile(path: string): void {
  rmSync(writtenPath(path), { force: true });
}

/** The file behind a link, also where the link leads to nothing yet. */
function writtenPath(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() !== true) return path;
  return statSync(path, { throwIfNoEntry: false }) === undefined
    ? resolve(dirname(path), readlinkSync(path))
    : realpathSync(path);
}
