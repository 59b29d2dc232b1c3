/**
 * What is left of a limit, as RateLimit-Policy and RateLimit (IETF draft) and the older X-RateLimit-*: the monthly quota
 * on every authenticated answer, and the limit of the demo on its answers. An unlimited key gets none of them.
 */

import { quotaWindow } from "../../memory/quota.ts";

interface Standing {
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  readonly windowS: number;
  /** Seconds until it is whole again. */
  readonly resetS: number;
}

export function quotaHeaders(limit: number, used: number, nowMs: number): string[] {
  const { startMs, endMs } = quotaWindow(nowMs);
  const remaining = Math.max(0, limit - used);
  const resetS = Math.ceil((endMs - nowMs) / 1000);
  return limitHeaders(
    { name: "monthly", limit, remaining, windowS: (endMs - startMs) / 1000, resetS },
    nowMs,
  );
}

/** Names and values in turn. */
export function limitHeaders(standing: Standing, nowMs: number): string[] {
  const { name, limit, remaining, windowS, resetS } = standing;
  return [
    "ratelimit-policy",
    `"${name}";q=${limit};w=${windowS}`,
    "ratelimit",
    `"${name}";r=${remaining};t=${resetS}`,
    "x-ratelimit-limit",
    String(limit),
    "x-ratelimit-remaining",
    String(remaining),
    "x-ratelimit-reset",
    String(Math.ceil(nowMs / 1000) + resetS),
  ];
}
