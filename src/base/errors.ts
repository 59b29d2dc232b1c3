/**
 * Expected failures: what the world, not the programmer, does wrong. Each has a stable code; the status, title
 * and documentation of a code stand in contract/errors.ts, so that layers below the wire know nothing of HTTP.
 */

export const FAILURE_CODES = [
  "invalid_request",
  "unknown_label",
  "invalid_value",
  "missing_key",
  "invalid_key",
  "key_revoked",
  "key_expired",
  "fact_not_found",
  "not_found",
  "method_not_allowed",
  "request_timeout",
  "body_too_large",
  "unsupported_media_type",
  "headers_too_large",
  "idempotency_in_flight",
  "idempotency_mismatch",
  "block_unreadable",
  "conflict",
  "monthly_limit_exceeded",
  "rate_limited",
  "internal_error",
  "overloaded",
  "store_unavailable",
  "outcome_unknown",
  "store_corrupt",
] as const;

export type FailureCode = (typeof FAILURE_CODES)[number];

export interface FailureExtra {
  /** The field, parameter or header at fault. */
  readonly param?: string;
  /** What would probably have been right. */
  readonly hint?: string;
  readonly retryAfterS?: number;
  readonly allow?: string;
  /** Encodes used, where a limit is at fault. */
  readonly used?: number;
  readonly cause?: unknown;
}

/** A failure with a public text. `cause` stays inside the service: it is logged, never answered. */
export class Failure extends Error {
  override name = "Failure";
  readonly code: FailureCode;
  readonly extra: FailureExtra;

  constructor(code: FailureCode, detail: string, extra: FailureExtra = {}) {
    super(detail, { cause: extra.cause });
    this.code = code;
    this.extra = extra;
  }
}
