/** What the operator's commands do, joined from the parts: on a data folder, also beside a running server. */

import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Config, ConfigError } from "../config.ts";
import { readPresentedBlock } from "../memory/reading.ts";
import { exportLines, importLine } from "../memory/transfer.ts";
import { verifyAll } from "../memory/verify.ts";
import { readFolder } from "../store/lmdb/data-folder.ts";
import { type Core, openCore } from "./core.ts";
import { MASTER_KEY_FILE } from "./secrets.ts";

export type { VerifyReport } from "../memory/verify.ts";

/** Opens an existing data folder for the time of one command. */
export async function withCore<T>(config: Config, run: (core: Core) => Promise<T>): Promise<T> {
  const core = await openCore(config, { create: false });
  try {
    return await run(core);
  } finally {
    await core.close();
  }
}

/** As withCore; a folder without a store gets one. */
export async function withNewCore<T>(config: Config, run: (core: Core) => Promise<T>): Promise<T> {
  const core = await openCore(config, { create: true });
  try {
    return await run(core);
  } finally {
    await core.close();
  }
}

export const exportFrom = (core: Core, account?: string) => exportLines(core.store, account);
export const importInto = (core: Core, line: string) => importLine(core.store, line, Date.now());
export const verify = (core: Core, options: { account?: string; step: () => void }) =>
  verifyAll(core.memory, options);
export const readBlockOf = (core: Core, account: string, userId: string, block: string) =>
  readPresentedBlock(core.memory, { account, tier: "owner" }, { userId, block });

/** Copies store and master key into a folder of its own, consistently, while the server runs. */
export async function backUp(
  core: Core,
  config: Config,
  target: string,
  withMasterKey: boolean,
): Promise<void> {
  requireEmpty(target);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  if (core.embedded === undefined) {
    throw new ConfigError(
      "backup is for the embedded store: back PostgreSQL up with its own tools (docs/CLUSTER.md)",
    );
  }
  await core.embedded.backup(target);
  const source = join(config.dataFolder, MASTER_KEY_FILE);
  if (withMasterKey && existsSync(source)) copyFileSync(source, join(target, MASTER_KEY_FILE));
}

/** Makes a data folder out of a backup. */
export function restore(backup: string, target: string): void {
  if (readFolder(backup) === undefined) throw new ConfigError(`${backup} holds no backup`);
  requireEmpty(target);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  cpSync(backup, target, { recursive: true });
}

function requireEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new ConfigError(`${folder} is not empty`);
}
