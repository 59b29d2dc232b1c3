/** usage: what a key has used of its monthly limit. */

import type { Caller } from "./authentication.ts";
import { quotaWindow } from "./quota.ts";
import type { MemoryServices } from "./services.ts";

export interface Usage extends Pick<Caller, "account" | "tier" | "limit" | "user" | "access"> {
  readonly used: number;
  readonly resetsAtMs: number;
}

export async function readUsage(services: MemoryServices, caller: Caller): Promise<Usage> {
  const { month, endMs } = quotaWindow(services.clock.now());
  const { account, tier, limit, user, access } = caller;
  return {
    account,
    tier,
    limit,
    user,
    access,
    used: await services.store.readUsage(caller.keyId, month),
    resetsAtMs: endMs,
  };
}
