/**
 * The file of the list of erasures: SIDEBAND_ERASURES, else erasures.list beside the scheduled backups, else in the data
 * folder. A restore leaves what has to be erased again in the restored folder. The next start does that before it answers
 * anybody, and only then takes it out of the file; what needs a master key that is not there stays for a later start.
 */

import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config.ts";
import { erasuresIn, lineOf, linesSince } from "../memory/erasure-lines.ts";
import type { KeyRing } from "../memory/key-ring.ts";
import type { Store } from "../memory/ports.ts";
import { eraseAgain, unreadableOf } from "../memory/repeated-erasures.ts";
import { makeFolder, replaceFile, syncPath } from "../store/lmdb/durable-files.ts";

export const ERASURES_FILE = "erasures.list";
/** In a restored folder: entries that were not applied yet. */
export const ERASE_AGAIN_FILE = "erase-again.list";

export function erasuresFile({ erasures, backupFolder, dataFolder }: Config): string {
  return erasures ?? join(backupFolder ?? dataFolder, ERASURES_FILE);
}

/** Resolves when the lines are on disk. */
export async function addErasure(path: string, lines: string): Promise<void> {
  const isNew = !existsSync(path);
  makeFolder(dirname(path));
  const file = await open(path, "a", 0o600);
  try {
    // Behind a line that was cut off, by a full disk or a loss of power.
    await file.writeFile(`\n${lines}`);
    await file.sync();
  } finally {
    await file.close();
  }
  if (isNew) syncPath(dirname(path));
}

/** Where a list stood at a moment: what was noted later is behind it, whatever the clock said. */
export interface ListPosition {
  readonly path: string;
  readonly bytes: number;
  /** Of these bytes. It tells the list, and copies of it. */
  readonly sha256: string;
}

export async function listPosition(path: string): Promise<ListPosition> {
  const list = existsSync(path) ? await readFile(path) : Buffer.alloc(0);
  return { path, bytes: list.length, sha256: sha256Of(list) };
}

/** Undefined where it is another list, or where less than that is left of it. */
export function listBehind(path: string, position: ListPosition | undefined): string | undefined {
  // Where nothing was noted yet, every list begins in the same way.
  if (position === undefined || (position.bytes === 0 && resolve(path) !== position.path)) return undefined;
  const list = readFileSync(path);
  const isSame = sha256Of(list.subarray(0, position.bytes)) === position.sha256;
  return isSame ? list.subarray(position.bytes).toString() : undefined;
}

/**
 * What has to be erased by the lists of all nodes: what one has moved, another may have erased. From a position on in the
 * list that has it, and else from a moment on.
 */
export function erasedSince(paths: readonly string[], sinceMs: number, position?: ListPosition): string[] {
  const lists = paths.map(
    (path) => listBehind(path, position) ?? linesSince(readFileSync(path, "utf8"), sinceMs),
  );
  return erasuresIn(...lists).map(lineOf);
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** What a restore has left to be erased in a folder. */
export function erasuresLeft(folder: string): string[] {
  const path = join(folder, ERASE_AGAIN_FILE);
  return existsSync(path) ? erasedSince([path], 0) : [];
}

/** For the next start of a restored folder. */
export function saveErasures(folder: string, lines: readonly string[]): void {
  if (lines.length > 0) replaceFile(join(folder, ERASE_AGAIN_FILE), `${lines.join("\n")}\n`);
}

/** Erases what a restore has left to be erased, before anything is answered from the store. */
export async function applyErasures(
  folder: string,
  services: { store: Store; keyRing: KeyRing; clock: Clock },
  warn: (line: string) => void,
): Promise<void> {
  const path = join(folder, ERASE_AGAIN_FILE);
  if (!existsSync(path)) return;
  const erasures = erasuresIn(readFileSync(path, "utf8"));
  const { erased } = await eraseAgain(services, erasures);
  warn(
    `erased again after the restore: ${erased} of ${erasures.length} noted erasures concerned this backup`,
  );
  // What was done is not done once more: whoever was erased may have come back by the next start.
  const left = unreadableOf(erasures, services.keyRing);
  if (left.length > 0) {
    saveErasures(folder, left.map(lineOf));
    const ids = [...new Set(left.flatMap(({ marks }) => marks.map(({ keyId }) => keyId)))].join(", ");
    warn(
      `${left.length} noted erasures were made under a master key that is not here (their keys: ${ids}): put it into master.key, and start again; they stay in ${path} until then`,
    );
    return;
  }
  rmSync(path);
  syncPath(folder);
}
