/** usage: what a key has used of its monthly limit. */

import type { Caller } from "./authentication.ts";
import type { KeyStore } from "./ports.ts";
import { quotaWindow } from "./quota.ts";
import type { MemoryServices } from "./services.ts";

export interface Usage
  extends Pick<Caller, "account" | "tier" | "limit" | "user" | "access" | "groups" | "write"> {
  readonly used: number;
  readonly resetsAtMs: number;
}

/** By its days: a key that does not count alone, or did not always, has no counter of its own for the month. */
export async function usedOnDays(
  store: Pick<KeyStore, "readDailyUsage">,
  keyId: string,
  month: string,
): Promise<number> {
  const days = await store.readDailyUsage(keyId, `${month}-01`, `${month}-31`);
  return days.reduce((sum, { count }) => sum + count, 0);
}

export async function readUsage(services: MemoryServices, caller: Caller): Promise<Usage> {
  const { month, endMs } = quotaWindow(services.clock.now());
  const { account, tier, limit, user, access, groups, write } = caller;
  return {
    account,
    tier,
    limit,
    user,
    access,
    ...(groups && { groups }),
    ...(write && { write }),
    used:
      limit === null
        ? await usedOnDays(services.store, caller.keyId, month)
        : await services.store.readUsage(caller.counter ?? caller.keyId, month),
    resetsAtMs: endMs,
  };
}
