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
  /** When it is whole again. */
  readonly resetAtMs: number;
}

export function quotaHeaders(limit: number, used: number, nowMs: number): string[] {
  const { startMs, endMs } = quotaWindow(nowMs);
  const remaining = Math.max(0, limit - used);
  const windowS = (endMs - startMs) / 1000;
  return limitHeaders({ name: "monthly", limit, remaining, windowS, resetAtMs: endMs }, nowMs);
}

/** Names and values in turn. */
export function limitHeaders(standing: Standing, nowMs: number): string[] {
  const { name, limit, remaining, windowS, resetAtMs } = standing;
  const resetS = Math.max(0, Math.ceil((resetAtMs - nowMs) / 1000));
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
    String(Math.ceil(resetAtMs / 1000)),
  ];
}

const RESETS_IN = "sideband-demo-resets-in";

/** Headers with the seconds until a state of the demo is reset; what they said of it before is replaced. */
export function withResetsIn(headers: readonly string[], seconds: number): readonly string[] {
  const at = headers.indexOf(RESETS_IN);
  return at < 0 ? [...headers, RESETS_IN, String(seconds)] : headers.with(at + 1, String(seconds));
}
