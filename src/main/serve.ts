/**
 * `sideband serve`, and `sideband owner`, which is the same without a TCP port: one process that owns the data folder.
 * SIGTERM and SIGINT end it in order: no new connections, running requests finish, the store is closed. A process that
 * has lost its folder ends at once. A node whose database is away waits and tries again, with a line in the log for each
 * attempt; meanwhile its port answers that the process runs and is not ready.
 */

import { rmSync, writeFileSync } from "node:fs";
import { type } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ACCOUNT_DEFAULT } from "../base/accounts.ts";
import type { Config } from "../config.ts";
import { OwnerClient } from "../door-client/owner-client.ts";
import { WaitingServer } from "../http/waiting-server.ts";
import { FolderInUseError } from "../store/lmdb/data-folder.ts";
import { readOwnerNote } from "../store/lmdb/folder-lock.ts";
import { type Core, openCore } from "./core.ts";
import { waitForIdle, waitForSignal } from "./lifetime.ts";
import { DatabaseAwayError, databaseError, folderError, isAbout } from "./operator-errors.ts";
import { ADMIN_TOKEN_FILE } from "./secrets.ts";
import { exitNow, listen, type Service, type ServiceOptions, startService } from "./service.ts";
import { shellQuote } from "./shell-quote.ts";

const FIRST_KEY_FILE = "first.key";
/** How long a background owner may take to hand the folder over. */
const HAND_OVER_MS = 10_000;
const LOCK_WAIT_MS = 250;
/** After running requests were cut off: to close the store. */
const CLOSE_GRACE_MS = 1_000;
/** Clients that send one request after the other learn from an answer that their connection ends, and not from its loss. */
const KEPT_MS = 500;

/** Who starts a service: what it prints to be typed is about their memory. */
interface Person {
  readonly userId: string;
  /** How they start `sideband`. */
  readonly program: string;
}

interface ServeOptions extends Pick<ServiceOptions, "atStep" | "warm"> {
  readonly person?: Person;
  /** What is printed is kept somewhere: the first key goes to a file, and the file's path is printed. */
  readonly keyInFile?: boolean;
}

const ANYBODY: Person = { userId: ACCOUNT_DEFAULT, program: "sideband" };

/** Resolves when the service has ended in order. */
export async function serveUntilStopped(
  config: Config,
  print: (line: string) => void,
  { person, keyInFile = false, ...options }: ServeOptions = {},
): Promise<void> {
  // Whole, since people are told it: they may run the next command in another folder.
  const dataFolder = resolve(config.dataFolder);
  const embedded = config.databaseUrl === undefined;
  const signal = waitForSignal();
  if (embedded) await endBackgroundOwner(dataFolder);
  const service = await startService(config, {
    ...options,
    onLost: exitNow,
    lockWaitMs: embedded && readOwnerNote(dataFolder)?.address === null ? HAND_OVER_MS : 0,
    ...(embedded ? {} : { open: openWithRetries(signal) }),
    announce: async ({ core, url }) => {
      // Where nodes share a database, what they print is kept by others: a key is made only when it is asked for.
      const key = embedded ? await makeFirstKey(core) : undefined;
      options.atStep?.("start: first key stored");
      print(`listening on ${url}`);
      const shown =
        key === undefined ? undefined : keyInFile ? { file: keepFirstKey(dataFolder, key) } : { key };
      print(
        startText({ ...config, dataFolder }, person) +
          (shown === undefined ? "" : firstStartText(url, shown, dataFolder, person)),
      );
    },
  }).catch((error: unknown) => {
    // Nothing has begun yet; a connection that is being tried must not hold the end up.
    if (error instanceof StartEndedError) process.exit(0);
    throw isAbout(dataFolder, error) ? folderError(dataFolder, error) : error;
  });
  await signal;
  await closeInTime(service, config.shutdownS);
}

/** Whatever hangs, a disk for example, the process ends: what was acknowledged is on disk already. */
async function closeInTime(service: Service, shutdownS: number): Promise<void> {
  const timer = setTimeout(
    () => {
      console.error(`sideband: it could not end in order within ${shutdownS} s`);
      process.exit(1);
    },
    shutdownS * 1000 + CLOSE_GRACE_MS,
  );
  await service.close(KEPT_MS);
  clearTimeout(timer);
}

/**
 * Owns the data folder for agents until nobody has used it for `idleMs`, or somebody asks it to end. Where another
 * owner answers there is nothing to do; one that is about to end is waited for.
 */
export async function runOwner(config: Config, idleMs: number): Promise<void> {
  let end = () => {};
  const asked = new Promise<void>((resolve) => {
    end = resolve;
  });
  const client = OwnerClient.of(config.dataFolder);
  let service: Service | undefined;
  for (const endMs = performance.now() + HAND_OVER_MS; service === undefined; ) {
    try {
      service = await startService(config, {
        tcp: false,
        lockWaitMs: LOCK_WAIT_MS,
        onEnd: end,
        onLost: exitNow,
      });
    } catch (error) {
      if (!(error instanceof FolderInUseError) || performance.now() >= endMs) throw error;
      if (await client.hasOwner(HAND_OVER_MS).catch(() => false)) return;
    }
  }
  await Promise.race([asked, waitForSignal(), waitForIdle(service.door, idleMs)]);
  await closeInTime(service, config.shutdownS);
}

/** A background owner makes way for a service: agents go on through the service's door. */
async function endBackgroundOwner(folder: string): Promise<void> {
  if (readOwnerNote(folder)?.address !== null) return;
  await OwnerClient.of(folder)
    .json("POST", "/operator/end", undefined, { signal: AbortSignal.timeout(HAND_OVER_MS) })
    .catch(() => {});
}

/** The first key where there is no account yet: made after the port is open, so that it is printed for sure. */
async function makeFirstKey(core: Core): Promise<string | undefined> {
  if ((await core.store.listAccounts()).length > 0) return undefined;
  const note = "made on the first start";
  return (await core.keys.create({ account: ACCOUNT_DEFAULT, tier: "unlimited", note })).key;
}

/** @returns the path of its file */
function keepFirstKey(dataFolder: string, key: string): string {
  const file = join(dataFolder, FIRST_KEY_FILE);
  rmSync(file, { force: true });
  writeFileSync(file, `${key}\n`, { mode: 0o600, flag: "wx" });
  return file;
}

function startText({ adminTokens, dataFolder, databaseUrl }: Config, { program }: Person = ANYBODY): string {
  const token =
    adminTokens === undefined ? `in ${join(dataFolder, ADMIN_TOKEN_FILE)}` : "SIDEBAND_ADMIN_TOKEN";
  const where = databaseUrl === undefined ? ` --data ${shellQuote(dataFolder)}` : "";
  return `admin token ${token}; a new key: ${program} keys create --account ${ACCOUNT_DEFAULT}${where}`;
}

type ShownKey = { readonly key: string; readonly file?: undefined } | { readonly file: string };

function firstStartText(
  url: string,
  shown: ShownKey,
  dataFolder: string,
  { userId, program }: Person = ANYBODY,
): string {
  // It is true of whoever types it.
  const fact = { user_id: userId, label: "USER.os", value: type() };
  const isInFile = shown.file !== undefined;
  const holder = isInFile ? "a key, in a file that only you can read" : "this key, shown once";
  const authorization = isInFile
    ? `"Authorization: Bearer $(cat ${shellQuote(shown.file)})"`
    : shellQuote(`Authorization: Bearer ${shown.key}`);
  const body = ["-H", "Content-Type: application/json", "-d", JSON.stringify(fact)];
  const words = [
    "curl",
    "-s",
    shellQuote(`${url}/encode`),
    "-H",
    authorization,
    ...body.map((word) => shellQuote(word)),
  ];
  return [
    "",
    "",
    `${dataFolder} had no account yet. The account "${ACCOUNT_DEFAULT}" has ${holder}:`,
    "",
    `  ${isInFile ? shown.file : shown.key}`,
    "",
    "Write a first fact:",
    "",
    `  ${words.join(" ")}`,
    "",
    "That is a fact of your own: your agents on this machine read it, too:",
    "",
    `  ${program} facts --data ${shellQuote(dataFolder)}`,
    "",
  ].join("\n");
}

const DELAY_MIN_S = 1;
const DELAY_MAX_S = 5;

/** A signal came before the database did. */
class StartEndedError extends Error {
  override name = "StartEndedError";
}

/** @param signal resolves when the process is to end */
function openWithRetries(signal: Promise<unknown>): typeof openCore {
  return async (config, options) => {
    const ended = signal.then((): never => {
      throw new StartEndedError();
    });
    let waiting: WaitingServer | undefined;
    let reason: string | undefined;
    try {
      for (let delayS = DELAY_MIN_S; ; delayS = Math.min(2 * delayS, DELAY_MAX_S)) {
        try {
          return await Promise.race([openCore(config, options), ended]);
        } catch (error) {
          const told = databaseError(error);
          if (!(told instanceof DatabaseAwayError)) throw told;
          reason = told.told;
          options.warn?.(`${told.message}; trying again in ${delayS} s`);
        }
        if (waiting === undefined) {
          waiting = new WaitingServer();
          await listen(waiting, config);
        }
        waiting.reason = reason;
        await Promise.race([pause(delayS * 1000), ended]);
      }
    } finally {
      await waiting?.close();
    }
  };
}
