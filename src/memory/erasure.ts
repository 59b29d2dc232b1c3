/** Erasing a user, or what a user has in a place: how it is asked of a store, and what was there. */

import { assert } from "../base/assert.ts";
import type { ErasedCounts, Store } from "./ports.ts";

export async function eraseUser(
  store: Pick<Store, "write">,
  nowMs: number,
  ...[account, userId, place, writable]: Parameters<Store["forgetUser"]>
): Promise<ErasedCounts | undefined> {
  const changes = [{ kind: "erase", within: place ?? null } as const];
  const limits = writable === undefined ? {} : { writable };
  const outcome = await store.write({ account, userId, changes, places: [], nowMs, ...limits });
  assert(outcome.outcome === "stored" && outcome.report?.erased !== undefined, "an erasure is reported");
  const { erased } = outcome.report;
  return erased.labels === 0 ? undefined : erased;
}
