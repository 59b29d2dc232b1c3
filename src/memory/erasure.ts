/** Erasing a user, or what a user has in a place: how it is asked of a store, and what was there. */

import { assert } from "../base/assert.ts";
import type { ErasedUser, Store } from "./ports.ts";

export async function eraseUser(
  store: Pick<Store, "write" | "endGrants">,
  nowMs: number,
  ...[account, userId, place, writable, audit]: Parameters<Store["forgetUser"]>
): Promise<ErasedUser | undefined> {
  const changes = [{ kind: "erase", within: place ?? null } as const];
  const limits = { ...(writable && { writable }), audit };
  const outcome = await store.write({ account, userId, changes, places: [], nowMs, ...limits });
  assert(outcome.outcome === "stored" && outcome.report?.erased !== undefined, "an erasure is reported");
  const { erased } = outcome.report;
  // After what may be refused. An erasure that was cut off before this ends them when it is asked for again.
  const { removed, ...ended } =
    place === undefined ? await store.endGrants(account, userId, nowMs, audit) : { removed: 0, ...NONE };
  return erased.labels + removed === 0 ? undefined : { ...erased, ...ended };
}

const NONE = { connections: 0, keysLeft: 0 };
