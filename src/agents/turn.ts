/**
 * One process at a time: a file with the number of the process whose turn it is. What a killed process left is taken
 * over by the next.
 */

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { UserFileError } from "./user-file.ts";

const WAIT_MS = 15_000;
const RETRY_MS = 20;

/** Does the work while no other process is at it. */
export function inTurn<T>(path: string, work: () => T): T {
  mkdirSync(dirname(path), { recursive: true });
  const endMs = performance.now() + WAIT_MS;
  while (!isTaken(path)) {
    const holder = holderOf(path);
    if (holder !== undefined && !isAlive(holder)) discard(path);
    else if (performance.now() > endMs)
      throw new UserFileError(
        `${path}: another "sideband agents" is at work; delete the file if there is none`,
      );
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
  }
  try {
    return work();
  } finally {
    rmSync(path, { force: true });
  }
}

function isTaken(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Undefined while the file is gone, or not written yet. */
function holderOf(path: string): number | undefined {
  try {
    return Number(readFileSync(path, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Moved away first: of two processes that find a dead one's file, one alone removes it. */
function discard(path: string): void {
  const away = `${path}.${process.pid}`;
  try {
    renameSync(path, away);
    rmSync(away, { force: true });
  } catch {
    // Another process was faster.
  }
}
