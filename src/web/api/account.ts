/** Calls with an API key, for the account page. */

import type { UsageAnswer } from "../../contract/answers.ts";
import { call } from "./request.ts";

export interface DayCount {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly count: number;
}

export interface UsageByDay {
  readonly from: string;
  readonly to: string;
  readonly days: readonly DayCount[];
}

export async function fetchUsage(key: string): Promise<UsageAnswer> {
  return (await call<UsageAnswer>("GET", "/usage", { key })).data;
}

export async function fetchUsageByDay(key: string): Promise<UsageByDay> {
  return (await call<UsageByDay>("GET", "/usage/days", { key })).data;
}
