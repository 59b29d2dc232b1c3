/** For whom work is done. Every request has one; the scheduler shares the threads of block work between their accounts. */

import type { Tier } from "./tiers.ts";

export interface Requester {
  readonly account: string;
  readonly tier: Tier | "demo" | "owner";
  /** Fires when the requester has gone. */
  readonly signal?: AbortSignal | undefined;
}
