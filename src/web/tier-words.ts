/** The tiers and their limits as people read them. */

import { TIER_LIMITS, type Tier } from "../base/tiers.ts";

export function tierName(tier: Tier): string {
  return tier[0].toUpperCase() + tier.slice(1);
}

/** "50,000"; undefined where there is no limit. */
export function tierLimit(tier: Tier): string | undefined {
  return TIER_LIMITS[tier]?.toLocaleString("en-US");
}
