/**
 * Backup and restore of a data folder: the store, the master key that its blocks are read with, when it was made, and what
 * an earlier restore has left to be erased. The admin token and the list of erasures are not in it.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Failure } from "../base/errors.ts";
import { type AtStep, noStep } from "../base/steps.ts";
import type { Config } from "../config.ts";
import type { BackupReport, Progress } from "../memory/ports.ts";
import { DATA_FILE, nameStore, readStoreNote } from "../store/lmdb/data-folder.ts";
import { copyFile, makeFolder, replaceFile } from "../store/lmdb/durable-files.ts";
import { type FolderLock, LOCK_FILE, tryFolderLock } from "../store/lmdb/folder-lock.ts";
import { describeOwner } from "../store/lmdb/open-folder.ts";
import { PRESENT_FORMAT } from "../store/lmdb/upgrade.ts";
import type { Core } from "./core.ts";
import {
  ERASE_AGAIN_FILE,
  erasuresFile,
  erasuresLeft,
  type ListPosition,
  listPosition,
  saveErasures,
} from "./erasure-list.ts";
import { MASTER_KEY_FILE } from "./secrets.ts";

/** In a backup: when it was begun, and where the list of erasures was and stood. */
const BACKUP_FILE = "backup.json";
const NOT_WRITABLE = ["EACCES", "EPERM", "EROFS"];

/** Copies store and master key into a new or empty folder, consistently, while requests go on. */
export async function createBackup(
  core: Core,
  config: Config,
  target: string,
  withMasterKey: boolean,
  progress: Progress,
): Promise<BackupReport> {
  if (core.embedded === undefined) {
    throw new Failure(
      "conflict",
      "backup is for the embedded store: back PostgreSQL up with its own tools (docs/CLUSTER.md)",
    );
  }
  const madeAt = new Date(core.clock.now()).toISOString();
  const addOthers = (list: ListPosition) => {
    for (const name of [...(withMasterKey ? [MASTER_KEY_FILE] : []), ERASE_AGAIN_FILE])
      copyIfThere(config.dataFolder, target, name);
    const { path: erasures, bytes, sha256 } = list;
    const note = { made_at: madeAt, erasures, erasures_at: { bytes, sha256 } };
    replaceFile(join(target, BACKUP_FILE), `${JSON.stringify(note)}\n`);
  };
  try {
    requireEmpty(target);
    // The list is read from there on: what was noted before must be in the copy.
    const list = await listPosition(resolve(erasuresFile(config)));
    await Promise.allSettled(core.erasing);
    return await core.embedded.backup(target, () => addOthers(list), progress);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new Failure("conflict", `cannot write the backup to ${target}: ${error.message}`);
  }
}

interface BackupNote {
  readonly madeMs: number;
  /** The list of erasures of the service. */
  readonly erasures: string | undefined;
  /** Where it stood; version 0.1.0 did not note that. */
  readonly position: ListPosition | undefined;
}

/** What a backup says of itself; undefined for the copy of a data folder. */
export function readBackupNote(backup: string): BackupNote | undefined {
  const path = join(backup, BACKUP_FILE);
  if (!existsSync(path)) return undefined;
  const { made_at: madeAt, erasures, erasures_at: at } = JSON.parse(readFileSync(path, "utf8"));
  const madeMs = Date.parse(madeAt);
  if (!Number.isFinite(madeMs))
    throw new Failure("conflict", `${path} does not say when the backup was made`);
  return { madeMs, erasures, position: at && { path: erasures, ...at } };
}

/**
 * Makes a data folder out of a backup. Until its last step the folder holds no store.
 * @param erasures lines of a list of erasures, which the next start of the folder does again
 */
export function restoreBackup(
  backup: string,
  target: string,
  { erasures = [], atStep = noStep }: { erasures?: readonly string[]; atStep?: AtStep } = {},
): void {
  const { format, store: name } = requireBackup(backup);
  requireEmpty(target);
  makeFolder(target);
  const lock = lockFolder(target);
  let source: FolderLock | undefined;
  try {
    source = lockBackup(backup);
    requireEmpty(target);
    atStep("restore: begun");
    mkdirSync(join(target, name), { mode: 0o700 });
    copyFile(join(backup, name, DATA_FILE), join(target, name, DATA_FILE));
    copyIfThere(backup, target, MASTER_KEY_FILE);
    saveErasures(target, [...erasuresLeft(backup), ...erasures]);
    atStep("restore: copied");
    nameStore(lock, name, format);
    atStep("restore: named");
  } finally {
    source?.release();
    lock.release();
  }
}

/** What is in a backup; throws if the folder holds none, or one of a newer release. */
export function requireBackup(folder: string): NonNullable<ReturnType<typeof readStoreNote>> {
  const note = readStoreNote(folder, PRESENT_FORMAT);
  if (note === undefined) throw new Failure("not_found", `${folder} holds no backup`);
  return note;
}

/** A backup that cannot be written to has no owner either. Any other error says nothing about an owner. */
function lockBackup(folder: string): FolderLock | undefined {
  try {
    return lockFolder(folder, true);
  } catch (error) {
    const { code = "" } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    if (NOT_WRITABLE.includes(code)) return undefined;
    throw error;
  }
}

function lockFolder(folder: string, shared = false): FolderLock {
  let lock: FolderLock | undefined;
  try {
    lock = tryFolderLock(folder, LOCK_FILE, shared);
  } catch (cause) {
    throw new Failure("conflict", `cannot lock ${folder}: ${(cause as Error).message}`, { cause });
  }
  if (lock === undefined) throw new Failure("conflict", `${folder} is in use ${describeOwner(folder)}`);
  return lock;
}

function copyIfThere(from: string, to: string, name: string): void {
  if (existsSync(join(from, name))) copyFile(join(from, name), join(to, name));
}

function requireEmpty(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name !== LOCK_FILE) : [];
  if (names.length > 0)
    throw new Failure("conflict", `${folder} is not empty: name a folder that is empty or new`);
}
