/**
 * The monthly quota on every authenticated answer: RateLimit-Policy and RateLimit (IETF draft) and the older
 * X-RateLimit-*. An unlimited key gets none of them.
 */

import type { FastifyReply } from "fastify";
import { quotaWindow } from "../memory/quota.ts";

export function setQuotaHeaders(
  reply: FastifyReply,
  limit: number | null,
  used: number,
  nowMs: number,
): void {
  if (limit === null) return;
  const { startMs, endMs } = quotaWindow(nowMs);
  const remaining = Math.max(0, limit - used);
  const resetS = Math.ceil((endMs - nowMs) / 1000);
  void reply.headers({
    "ratelimit-policy": `"monthly";q=${limit};w=${(endMs - startMs) / 1000}`,
    ratelimit: `"monthly";r=${remaining};t=${resetS}`,
    "x-ratelimit-limit": limit,
    "x-ratelimit-remaining": remaining,
    "x-ratelimit-reset": endMs / 1000,
  });
}
