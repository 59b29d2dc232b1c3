/**
 * After an upgrade of the package, the owner in the background still runs the release before. The next process that uses
 * the folder ends it, and a new owner takes its place; agents go on through the same door. A service is left alone: it
 * has its operator. Where the owner is the newer one, it stays: releases of both ages use it.
 */

import { setTimeout as pause } from "node:timers/promises";
import { isOlderRelease } from "../base/releases.ts";
import { readOwnerNote } from "../store/lmdb/folder-lock.ts";
import { OwnerClient } from "./owner-client.ts";

/** How long an owner may take to finish what it is doing. */
const HAND_OVER_MS = 10_000;
const POLL_MS = 20;

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
