/** Erasing a user, or what a user has in a place: how it is asked of a store, and what was there. */

import { assert } from "../base/assert.ts";
import type { ErasedUser, Store } from "./ports.ts";
import type { AuditNote } from "./records.ts";

type Erasing = Pick<Store, "write" | "endGrants" | "readProjects" | "changeProject">;

export async function eraseUser(
  store: Erasing,
  nowMs: number,
  ...[account, userId, place, writable, audit]: Parameters<Store["forgetUser"]>
): Promise<ErasedUser | undefined> {
  const changes = [{ kind: "erase", within: place ?? null } as const];
  const limits = { ...(writable && { writable }), audit };
  const outcome = await store.write({ account, userId, changes, places: [], nowMs, ...limits });
  assert(outcome.outcome === "stored" && outcome.report?.erased !== undefined, "an erasure is reported");
  const { erased } = outcome.report;
  if (place !== undefined)
    return erased.labels === 0 ? undefined : { ...erased, connections: 0, keysLeft: 0 };
  // After what may be refused. An erasure that was cut off before this goes on here when it is asked for again.
  const { removed, ...ended } = await store.endGrants(account, userId, nowMs, audit);
  const left = await leaveProjects(store, nowMs, account, userId, audit);
  return erased.labels + removed + left === 0 ? undefined : { ...erased, ...ended };
}

/** Takes the name from the members of projects; resolves to how many had it. */
async function leaveProjects(
  store: Erasing,
  nowMs: number,
  account: string,
  leaver: string,
  audit: AuditNote | undefined,
): Promise<number> {
  let left = 0;
  for (const { project, members } of await store.readProjects(account)) {
    if (!members?.includes(leaver)) continue;
    const record = await store.changeProject(account, { project, createdAtMs: nowMs, leaver }, audit);
    if (record !== undefined) left += 1;
  }
  return left;
}
