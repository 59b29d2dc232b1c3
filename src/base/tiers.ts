/** The tiers of API keys, and how many facts a key of each may write in a calendar month (UTC); null: any number. */

export const TIERS = ["free", "pro", "builder", "unlimited"] as const;
export type Tier = (typeof TIERS)[number];

export const TIER_LIMITS: Readonly<Record<Tier, number | null>> = {
  free: 1_000,
  pro: 50_000,
  builder: 500_000,
  unlimited: null,
};
