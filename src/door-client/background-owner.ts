/**
 * Agents without a service use the owner of the data folder. If there is none, they start one in the background. It
 * outlives them and serves the next agents. `command` is the script of the command `sideband`.
 *
 * After an upgrade of the package, the owner in the background still runs the release before. The next process that uses
 * the folder ends it, and a new owner takes its place; agents go on through the same door. A service is left alone: it
 * has its operator. Where the owner is the newer one, it stays: releases of both ages use it.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ConfigError } from "../base/errors.ts";
import type { Fetch } from "../sdk/index.ts";
import { readOwnerNote, tryFolderLock } from "../store/lmdb/folder-lock.ts";
import { NoOwnerError, OwnerClient, type OwnerRequest } from "./owner-client.ts";

/** How long an owner may take to start, and to answer. */
const START_MS = 15_000;
const ANSWER_MS = 10_000;
/** The shortest pause. A random time is added, so that many waiting processes do not ask at the same moment. */
const POLL_MS = 20;
const STARTING_FILE = "starting.lock";
/** How long an owner may take to finish what it is doing. */
const HAND_OVER_MS = 10_000;
const LOG_FILE = "owner.log";
const LOG_BYTES_MAX = 1 << 20;

/** How an owner is started: `begin` makes the store where the folder has none. */
interface StartOptions {
  readonly begin: boolean;
}

interface ReachOptions extends StartOptions {
  /** Of this package: an owner of an older release hands over. */
  readonly version: string;
}

/** A fetch for the client that goes to the folder's owner, and starts an owner if there is none. */
export function ownerFetch(command: string, folder: string, account: string, options: StartOptions): Fetch {
  const fetch = OwnerClient.of(folder).fetch(account);
  return (url, init) =>
    withOwnerStarted(() => fetch(url, init), { command, folder, options, signal: init.signal });
}

/** The same for requests whose answers are streams. */
export function ownerSend(command: string, folder: string, options: StartOptions) {
  const client = OwnerClient.of(folder);
  return (request: OwnerRequest): Promise<IncomingMessage> =>
    withOwnerStarted(() => client.send(request), { command, folder, options, signal: request.signal });
}

interface Starting {
  readonly command: string;
  readonly folder: string;
  readonly options: StartOptions;
  readonly signal?: AbortSignal | null | undefined;
}

/** A request that found no owner was not sent, and can be repeated. */
async function withOwnerStarted<T>(ask: () => Promise<T>, starting: Starting): Promise<T> {
  const { command, folder, options, signal } = starting;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof NoOwnerError)) throw error;
      await startOwner(command, folder, options, signal ?? undefined);
    }
  }
}

/** Resolves when the folder has an owner that answers. An existing owner must answer within `timeoutMs`. */
export async function reachOwner(
  command: string,
  folder: string,
  timeoutMs: number,
  options: ReachOptions,
): Promise<void> {
  if (!(await hasCurrentOwner(folder, options.version, timeoutMs)))
    await startOwner(command, folder, options);
}

/** Starts an owner, unless another process is doing so, and waits until it answers. */
async function startOwner(
  command: string,
  folder: string,
  { begin }: StartOptions,
  signal?: AbortSignal,
): Promise<void> {
  const [{ requireNamedStore }, { makeFolder }] = await Promise.all([
    import("../store/lmdb/data-folder.ts"),
    import("../store/lmdb/durable-files.ts"),
  ]);
  if (begin) makeFolder(resolve(folder));
  else requireNamedStore(folder);
  const client = OwnerClient.of(folder);
  let lock: { release(): void } | undefined;
  let failureOf = (): string | undefined => undefined;
  try {
    for (const endMs = performance.now() + START_MS; ; await pause(POLL_MS * (1 + Math.random()))) {
      signal?.throwIfAborted();
      // If many processes get here at once, one starts the owner. If that process dies, the next one does.
      if (lock === undefined) {
        lock = tryFolderLock(folder, STARTING_FILE);
        if (lock !== undefined) failureOf = spawnOwner(command, folder);
      }
      if (await client.hasOwner(ANSWER_MS).catch(() => false)) return;
      const failure = failureOf();
      if (failure !== undefined) throw new ConfigError(failure);
      if (performance.now() >= endMs) throw new ConfigError(`no owner of ${folder} could be started in time`);
    }
  } finally {
    lock?.release();
  }
}

/** Starts an owner that outlives this process. The returned function tells why it failed to start, if it did. */
function spawnOwner(command: string, folder: string): () => string | undefined {
  const logPath = join(folder, LOG_FILE);
  if (sizeOf(logPath) > LOG_BYTES_MAX) renameSync(logPath, `${logPath}.old`);
  const log = openSync(logPath, "a", 0o600);
  const start = sizeOf(logPath);
  let child: ChildProcess;
  try {
    // The owner works in the folder itself: a relative path would lead somewhere else from there.
    child = spawn(process.execPath, [command, "owner", "--data", resolve(folder)], {
      cwd: folder,
      detached: true,
      // Windows would open a console for it.
      windowsHide: true,
      stdio: ["ignore", log, log],
    });
  } finally {
    closeSync(log);
  }
  let failure: string | undefined;
  child.once("error", (error) => {
    failure = `the owner of ${folder} could not be started: ${error.message}`;
  });
  child.once("exit", (status) => {
    if (status === 0) return;
    failure = `the owner of ${folder} could not start: ${lastLineOf(logPath, start)}`;
  });
  child.unref();
  return () => failure;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Never throws: it is read where nobody could catch the error.
 * @param start where the log began for this owner: what is before it was written by others
 */
function lastLineOf(logPath: string, start: number): string {
  try {
    const line = readFileSync(logPath).subarray(start).toString().trimEnd().split("\n").at(-1);
    return line || `it wrote nothing to ${logPath}; is the disk full?`;
  } catch (error) {
    return `its log cannot be read: ${(error as Error).message}`;
  }
}

/**
 * Whether the folder has an owner to use. One of an older release is ended first.
 * @param version of this package
 * @param timeoutMs in which an owner must answer
 */
export async function hasCurrentOwner(folder: string, version: string, timeoutMs: number): Promise<boolean> {
  const client = OwnerClient.of(folder);
  const owner = await client.owner(timeoutMs);
  if (owner === undefined) return false;
  const isInBackground = readOwnerNote(folder)?.address === null;
  if (!isInBackground || owner.version === undefined || !isOlderRelease(owner.version, version)) return true;
  const signal = AbortSignal.timeout(HAND_OVER_MS);
  await client.json("POST", `/operator/end?pid=${owner.pid}`, undefined, { signal }).catch(() => {});
  while (!signal.aborted) {
    const next = await client.owner(timeoutMs).catch(() => owner);
    if (next?.pid !== owner.pid) return next !== undefined;
    await pause(POLL_MS);
  }
  // It does not end: an older owner is better than none.
  return true;
}

/** The order of releases, by their version as semantic versioning has it: 1.2.0-rc.1, 1.2.0, 1.10.0. */

export function isOlderRelease(version: string, than: string): boolean {
  const [a, b] = [partsOf(version), partsOf(than)];
  const numbers = differenceOf(a.numbers, b.numbers);
  if (numbers !== 0) return numbers < 0;
  // What comes before a release is older than the release.
  if (a.before.length === 0 || b.before.length === 0) return a.before.length > 0 && b.before.length === 0;
  return differenceOf(a.before, b.before) < 0;
}

function partsOf(version: string) {
  const [release = "", ...before] = version.replace(/\+.*/s, "").split("-");
  return { numbers: release.split("."), before: before.length === 0 ? [] : before.join("-").split(".") };
}

/** Below zero where the first list comes first: numbers by their size and before texts, a shorter list first. */
function differenceOf(a: readonly string[], b: readonly string[]): number {
  for (const [i, one] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    if (one === other) continue;
    const [isNumber, isOtherNumber] = [one, other].map((part) => /^\d+$/.test(part));
    if (isNumber && isOtherNumber) return Number(one) - Number(other);
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return a.length - b.length;
}
