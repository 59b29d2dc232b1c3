/**
 * Backups that the service makes by itself: one in SIDEBAND_BACKUP_DIR when the last whole one is older than the setting
 * says, each in a folder named after its moment. When it is whole, the oldest beyond those that are kept go, and what an
 * interrupted backup has left. Nothing else in the folder is touched.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { NAME_FILE } from "../store/lmdb/data-folder.ts";
import { makeFolder, removeFolder } from "../store/lmdb/durable-files.ts";
import { createBackup } from "./backup.ts";
import type { Core } from "./core.ts";

const HOUR_MS = 3_600_000;
const BACKUP_NAME = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/;
const OUTCOMES = ["ok", "failed"] as const;
const BACKUPS = "sideband_backups_total";
const LAST = "sideband_backup_last_seconds";

interface BackupSchedule {
  /** Makes a backup where one is due. */
  run(): Promise<void>;
}

/** Undefined where the operator has named no folder. */
export function backupSchedule(
  core: Core,
  config: Config,
  log: Pick<Logger, "info">,
): BackupSchedule | undefined {
  const { backupFolder: folder, backupEveryH, backupKeep } = config;
  if (folder === undefined) return undefined;
  const { metrics, clock } = core;
  metrics.define({ name: BACKUPS, help: "Scheduled backups by outcome.", type: "counter" });
  for (const outcome of OUTCOMES) metrics.add(BACKUPS, `outcome="${outcome}"`, 0);
  metrics.define({
    name: LAST,
    help: "When the last whole scheduled backup was begun, in seconds since 1970; 0: there is none.",
    type: "gauge",
  });
  const backups = () => wholeBackups(folder, clock.now());
  const lastMs = () => momentOf(backups().at(-1));
  metrics.onCollect(() => metrics.set(LAST, lastMs() / 1000));
  return {
    async run() {
      const beginMs = clock.now();
      const sinceMs = beginMs - lastMs();
      // A moment in the future was noted by a wrong clock.
      if (sinceMs >= 0 && sinceMs < backupEveryH * HOUR_MS) return;
      const target = join(folder, nameOf(beginMs));
      try {
        makeFolder(folder);
        removeUnfinished(folder);
        const { entries, damaged } = await createBackup(core, config, target, true, () => {});
        metrics.add(BACKUPS, 'outcome="ok"');
        const removed = backups().slice(0, -backupKeep);
        for (const name of removed) removeFolder(join(folder, name));
        log.info(
          { folder: target, entries, damaged, removed, nextInH: backupEveryH },
          "backed up; admin.token and the list of erasures are not in it",
        );
      } catch (error) {
        metrics.add(BACKUPS, 'outcome="failed"');
        throw error;
      }
    },
  };
}

/** The oldest first. Those that a wrong clock has named after a moment in the future count as older than all others. */
function wholeBackups(folder: string, nowMs: number): string[] {
  const whole = backupsIn(folder).filter((name) => isWhole(folder, name));
  const isFuture = (name: string) => name > nameOf(nowMs);
  return [...whole.filter(isFuture), ...whole.filter((name) => !isFuture(name))];
}

function backupsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => BACKUP_NAME.test(name))
    .sort();
}

function isWhole(folder: string, name: string): boolean {
  return existsSync(join(folder, name, NAME_FILE));
}

function removeUnfinished(folder: string): void {
  for (const name of backupsIn(folder)) if (!isWhole(folder, name)) removeFolder(join(folder, name));
}

function nameOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replaceAll(":", "-")}Z`;
}

function momentOf(name: string | undefined): number {
  return name === undefined ? 0 : Date.parse(name.replace(/T(\d\d)-(\d\d)-/, "T$1:$2:"));
}
