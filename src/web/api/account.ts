/** Calls with an API key, for the account page. */

import type { DayCount } from "../parts/usage-chart.tsx";
import { call } from "./request.ts";

export interface UsageView {
  readonly account: string;
  readonly tier: string;
  readonly limit: number | null;
  readonly used: number;
  readonly remaining: number | null;
  readonly resets_at: string;
  /** Where the key is bound to one user. */
  readonly user?: string;
  /** Where the key only reads. */
  readonly access?: "read";
}

export interface UsageByDay {
  readonly from: string;
  readonly to: string;
  readonly days: readonly DayCount[];
}

export interface Fact {
  readonly label: string;
  readonly value: string;
  readonly channel: number;
  readonly revision: number;
  readonly updated_at: string;
}

export async function fetchUsage(key: string): Promise<UsageView> {
  return (await call<UsageView>("GET", "/usage", { key })).data;
}

export async function fetchUsageByDay(key: string): Promise<UsageByDay> {
  return (await call<UsageByDay>("GET", "/usage/days", { key })).data;
}

export async function fetchFacts(key: string, userId: string): Promise<readonly Fact[]> {
  const { data } = await call<{ facts: Fact[] }>("GET", "/facts", { key, query: { user_id: userId } });
  return data.facts;
}

export async function callForget(key: string, userId: string, label: string): Promise<void> {
  await call("DELETE", "/facts", { key, query: { user_id: userId, label } });
}
