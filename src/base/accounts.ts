/** Accounts: for whom work is done, how many facts are written for them, and what their operators may. */

/** Requests through the door of a data folder have no key, but a header with their account. */
export const ACCOUNT_HEADER = "sideband-account";
export const ACCOUNT_DEFAULT = "default";

/** The tiers of API keys. */
export const TIERS = ["free", "pro", "builder", "unlimited"] as const;
export type Tier = (typeof TIERS)[number];

/** How many facts a key of each may write in a calendar month (UTC); null: any number. */
export const TIER_LIMITS: Readonly<Record<Tier, number | null>> = {
  free: 1_000,
  pro: 50_000,
  builder: 500_000,
  unlimited: null,
};

/** Every request has one; the scheduler shares the threads of block work between their accounts. */
export interface Requester {
  readonly account: string;
  readonly tier: Tier | "demo" | "owner";
  /** Fires when the requester has gone. */
  readonly signal?: AbortSignal | undefined;
}

/** What an operator may, by the access that is given to them. */
export const OPERATOR_MAY = {
  read: "looks at everything, changes nothing",
  write: "looks and changes",
} as const;
