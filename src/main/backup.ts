/** Backup and restore of a data folder: the store, and the master key that its blocks are read with. */

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../base/errors.ts";
import { type AtStep, noStep } from "../base/steps.ts";
import type { Config } from "../config.ts";
import type { BackupReport, Progress } from "../memory/ports.ts";
import { DATA_FILE, nameStore, readStoreNote } from "../store/lmdb/data-folder.ts";
import { copyFile, makeFolder } from "../store/lmdb/durable-files.ts";
import { type FolderLock, LOCK_FILE, tryFolderLock } from "../store/lmdb/folder-lock.ts";
import { describeOwner } from "../store/lmdb/open-folder.ts";
import type { Core } from "./core.ts";
import { MASTER_KEY_FILE } from "./secrets.ts";

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
  const copyKey = () => {
    const source = join(config.dataFolder, MASTER_KEY_FILE);
    if (withMasterKey && existsSync(source)) copyFile(source, join(target, MASTER_KEY_FILE));
  };
  try {
    requireEmpty(target);
    return await core.embedded.backup(target, copyKey, progress);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new Failure("conflict", `cannot write the backup to ${target}: ${error.message}`);
  }
}

/** Makes a data folder out of a backup. Until its last step the folder holds no store. */
export function restoreBackup(backup: string, target: string, atStep: AtStep = noStep): void {
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
    const key = join(backup, MASTER_KEY_FILE);
    if (existsSync(key)) copyFile(key, join(target, MASTER_KEY_FILE));
    atStep("restore: copied");
    nameStore(lock, name, format);
    atStep("restore: named");
  } finally {
    source?.release();
    lock.release();
  }
}

/** What is in a backup; throws if the folder holds none. */
export function requireBackup(folder: string): NonNullable<ReturnType<typeof readStoreNote>> {
  const note = readStoreNote(folder);
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

function requireEmpty(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name !== LOCK_FILE) : [];
  if (names.length > 0)
    throw new Failure("conflict", `${folder} is not empty: name a folder that is empty or new`);
}
