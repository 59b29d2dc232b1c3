/** usage: what a key has used of its monthly limit. */

import type { Caller } from "./authentication.ts";
import type { MemoryParts } from "./parts.ts";
import { quotaWindow } from "./quota.ts";

export interface Usage extends Pick<Caller, "account" | "tier" | "limit"> {
  readonly used: number;
  readonly resetsAtMs: number;
}

export async function readUsage(parts: MemoryParts, caller: Caller): Promise<Usage> {
  const { month, endMs } = quotaWindow(parts.clock.now());
  const { account, tier, limit } = caller;
  return { account, tier, limit, used: await parts.store.readUsage(caller.keyId, month), resetsAtMs: endMs };
}
