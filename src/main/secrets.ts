/**
 * The secrets of a data folder: `master.key` (one line for each master key: its id and 64 hexadecimal digits, the one
 * that writes last) and `admin.token` (a line for each token that counts). Both are made on the first start, readable for
 * their owner only. Nodes that share a database share the master key too: then none is made, since every node would make
 * another.
 */

import { randomBytes } from "node:crypto";
import { existsSync, linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import type { Config } from "../config.ts";
import type { MasterKey } from "../memory/key-ring.ts";
import { makeFolder, syncPath } from "../store/lmdb/durable-files.ts";

export const MASTER_KEY_FILE = "master.key";
export const ADMIN_TOKEN_FILE = "admin.token";
/** Where a secret is written before it gets its name, with the number of the process that writes it. */
const DRAFT = /^(?:master\.key|admin\.token)\.(\d{1,10})\.new$/;

/** @param requireOwner throws if the data folder is no longer this process's: then no file is made */
export function masterKeys(
  config: Pick<Config, "dataFolder" | "masterKey" | "databaseUrl">,
  requireOwner: () => void = () => {},
): MasterKey[] {
  const { dataFolder, masterKey, databaseUrl } = config;
  if (masterKey !== undefined) return parseMasterKeys(masterKey.split(/[,\n]/), "SIDEBAND_MASTER_KEY");
  const path = join(dataFolder, MASTER_KEY_FILE);
  if (databaseUrl !== undefined && !existsSync(path)) {
    throw new ConfigError(
      "there is no master key, and all nodes of a database must have the same one: set SIDEBAND_MASTER_KEY " +
        `(a new one: openssl rand -hex 32), or copy the file master.key to ${dataFolder}`,
    );
  }
  return parseFile(
    readOrCreate(path, () => `1 ${randomBytes(32).toString("hex")}\n`, requireOwner),
    path,
  );
}

export function hasMasterKey({ dataFolder, masterKey }: Pick<Config, "dataFolder" | "masterKey">): boolean {
  return masterKey !== undefined || existsSync(join(dataFolder, MASTER_KEY_FILE));
}

/** What a folder lacks without its master key, and what to do, behind what the folder has. */
export function missingMasterKey(folder: string): string {
  return (
    "no master.key, without which the blocks handed out so far cannot be read: put the file back, or set " +
    `SIDEBAND_MASTER_KEY, or give those blocks up with a new key: openssl rand -hex 32 > ${join(folder, MASTER_KEY_FILE)}`
  );
}

/** Gives a data folder the master keys in `file`. One that has master keys keeps them, and must have these among them. */
export function adoptMasterKeys(
  config: Pick<Config, "dataFolder" | "masterKey" | "databaseUrl">,
  file: string,
): void {
  const text = readFileSync(file, "utf8");
  const adopted = parseFile(text, file);
  if (!hasMasterKey(config)) {
    makeFolder(config.dataFolder);
    readOrCreate(join(config.dataFolder, MASTER_KEY_FILE), () => text);
  }
  const present = new Map(masterKeys(config).map(({ id, material }) => [id, material]));
  for (const { id, material } of adopted)
    if (!Buffer.from(material).equals(present.get(id) ?? Buffer.of()))
      throw new ConfigError(
        `${config.dataFolder} has other master keys than ${file}: blocks sealed with key ${id} could not be read`,
      );
}

function parseFile(text: string, path: string): MasterKey[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return parseMasterKeys(lines, path);
}

/** @param requireOwner throws if the data folder is no longer this process's: then no file is made */
export function adminTokens(
  folder: string,
  setting: readonly string[] | undefined,
  requireOwner: () => void = () => {},
): readonly string[] {
  if (setting !== undefined) return setting;
  const path = join(folder, ADMIN_TOKEN_FILE);
  const text = readOrCreate(path, () => `${randomBytes(24).toString("base64url")}\n`, requireOwner);
  const tokens = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  if (tokens.length === 0 || tokens.some((token) => token.length < 16))
    throw new ConfigError(`${path} takes one token of at least 16 characters on each line`);
  return tokens;
}

function parseMasterKeys(entries: readonly string[], source: string): MasterKey[] {
  const keys = entries.map((entry) => {
    const match = /^(?:(\d{1,3})[:\s]+)?([0-9a-fA-F]{64})([:\s]+blocks)?$/.exec(entry.trim());
    const id = Number(match?.[1] ?? 1);
    // The text itself is secret: it is never part of the message.
    if (match === null || id > 255)
      throw new ConfigError(`${source} takes keys as id (0 to 255) and 64 hexadecimal digits`);
    return { id, material: Uint8Array.from(Buffer.from(match[2], "hex")), opensOnly: match[3] !== undefined };
  });
  if (keys.length === 0) throw new ConfigError(`${source} holds no key`);
  if (keys.at(-1)?.opensOnly) throw new ConfigError(`${source} ends with a key that only opens old blocks`);
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    throw new ConfigError(`${source} names a key id twice`);
  return keys;
}

/**
 * The file's text. Where several processes come first at once, one of them makes it and all read the same. It is on disk
 * before it is used, whoever made it: what a lost key has sealed stays unreadable.
 */
function readOrCreate(path: string, make: () => string, requireOwner = () => {}): string {
  if (!existsSync(path)) create(path, make(), requireOwner);
  syncPath(path);
  syncPath(dirname(path));
  return readFileSync(path, "utf8");
}

/**
 * Removes the drafts of secrets that killed processes have left. Who calls it owns the folder, and has made none yet. Who
 * adopts master keys does not own the folder: the draft of a living process stays.
 */
export function removeLeftSecrets(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = DRAFT.exec(name)?.[1];
    if (pid !== undefined && !isOther(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}

/** Whether another living process has this number. */
function isOther(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    // Sends nothing.
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function create(path: string, text: string, requireOwner: () => void): void {
  requireOwner();
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    syncPath(draft);
    requireOwner();
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft);
  }
}
