/**
 * Changes what `sideband connect` and `sideband off` keep of a person (src/config.ts reads it), which may hold a key, and
 * what agents have installed: one process at a time. The lock ends with its process, however that ends.
 */

import { mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { writeUserFile } from "../agents/user-file.ts";
import { OperatorError } from "../base/errors.ts";
import { type PersonSettings, personSettingsFile, readPersonSettings } from "../config.ts";
import { takeFolderLock } from "../store/lmdb/folder-lock.ts";

const PRIVATE_MODE = 0o600;

type Change = (present: PersonSettings) => PersonSettings | Promise<PersonSettings>;

export function changePersonSettings(change: Change): Promise<void> {
  return withAgentsLock(homedir(), async () => {
    const text = JSON.stringify(await change(readPersonSettings()), null, 2);
    writeUserFile(personSettingsFile(), `${text}\n`, PRIVATE_MODE);
  });
}

const AGENTS_LOCK_FILE = "agents.lock";
const WAIT_MS = 15_000;

class AgentsLockedError extends OperatorError {
  override name = "AgentsLockedError";
}

/** @param home the user's home folder */
export async function withAgentsLock<T>(home: string, work: () => T | Promise<T>): Promise<T> {
  const folder = join(home, ".sideband");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = await takeFolderLock(folder, WAIT_MS, AGENTS_LOCK_FILE);
  if (lock === undefined)
    throw new AgentsLockedError(
      'another "sideband agents" is at work: run the command again when it has ended',
    );
  try {
    return await work();
  } finally {
    // The file is removed under the lock. A process that waits for the lock then makes a new file.
    rmSync(join(folder, AGENTS_LOCK_FILE), { force: true });
    lock.release();
  }
}
