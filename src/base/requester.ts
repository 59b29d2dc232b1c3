/** Whom work is done for: every request knows it, and the scheduler of block work shares the threads by it. */

import type { Tier } from "./tiers.ts";

export interface Requester {
  readonly account: string;
  readonly tier: Tier | "demo" | "owner";
  /** Fires when the requester has gone. */
  readonly signal?: AbortSignal | undefined;
}
