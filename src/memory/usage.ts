/** usage: what a key has used of its monthly limit. */

import type { Caller } from "./authentication.ts";
import type { MemoryParts } from "./parts.ts";
import { quotaWindow } from "./quota.ts";

export interface Usage {
  readonly account: string;
  readonly tier: string;
  readonly limit: number | null;
  readonly used: number;
  readonly remaining: number | null;
  readonly resets_at: string;
}

export async function readUsage(parts: MemoryParts, caller: Caller): Promise<Usage> {
  const { month, endMs } = quotaWindow(parts.clock.now());
  const used = await parts.store.readUsage(caller.keyId, month);
  const { account, tier, limit } = caller;
  const remaining = limit === null ? null : Math.max(0, limit - used);
  return { account, tier, limit, used, remaining, resets_at: new Date(endMs).toISOString() };
}
