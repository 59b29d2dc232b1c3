/**
 * The monthly quota on every authenticated answer: RateLimit-Policy and RateLimit (IETF draft) and the older
 * X-RateLimit-*. An unlimited key gets none of them.
 */

import { quotaWindow } from "../../memory/quota.ts";

/** Names and values in turn. */
export function quotaHeaders(limit: number, used: number, nowMs: number): string[] {
  const { startMs, endMs } = quotaWindow(nowMs);
  const remaining = Math.max(0, limit - used);
  const resetS = Math.ceil((endMs - nowMs) / 1000);
  return [
    "ratelimit-policy",
    `"monthly";q=${limit};w=${(endMs - startMs) / 1000}`,
    "ratelimit",
    `"monthly";r=${remaining};t=${resetS}`,
    "x-ratelimit-limit",
    String(limit),
    "x-ratelimit-remaining",
    String(remaining),
    "x-ratelimit-reset",
    String(endMs / 1000),
  ];
}
