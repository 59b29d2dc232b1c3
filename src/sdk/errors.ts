/**
 * What can go wrong, as one class with a stable code. The service's codes are those of its error table; four
 * more are the client's own: nothing came back, it came too late, or it was not the service that answered.
 */

import type { Problem } from "../contract/errors.ts";

/** Codes of the service (docs/ERRORS.md). */
export type ServiceErrorCode = Problem["code"];

/** Codes of the client: the service is out of reach, slow, or something else answered. */
export type ClientErrorCode = "connection_failed" | "timeout" | "unexpected_answer";

export type ErrorCode = ServiceErrorCode | ClientErrorCode;

export interface ErrorFields {
  code: ErrorCode;
  /** The HTTP status; 0 where there was no answer. */
  status: number;
  requestId?: string | undefined;
  /** The field, parameter or header at fault. */
  param?: string | undefined;
  /** What would probably have been right, for example the nearest label. */
  hint?: string | undefined;
  upgradeUrl?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

export class SidebandError extends Error {
  override readonly name = "SidebandError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly param: string | undefined;
  readonly hint: string | undefined;
  readonly upgradeUrl: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, fields: ErrorFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.status = fields.status;
    this.requestId = fields.requestId;
    this.param = fields.param;
    this.hint = fields.hint;
    this.upgradeUrl = fields.upgradeUrl;
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/** Whether an error is Sideband's and, where a code is given, that one. */
export function isSidebandError(error: unknown, code?: ErrorCode): error is SidebandError {
  return error instanceof SidebandError && (code === undefined || error.code === code);
}

const OUTAGES: readonly ErrorCode[] = [
  "connection_failed",
  "timeout",
  "unexpected_answer",
  "request_timeout",
  "rate_limited",
  "internal_error",
  "overloaded",
  "store_unavailable",
  "outcome_unknown",
];

/** Whether memory was away or slow, so that the same call may work later; else the call itself was refused. */
export function isOutage(error: unknown): boolean {
  return error instanceof SidebandError && OUTAGES.includes(error.code);
}

/** The error that an answer with a status of 400 or more stands for. */
export function errorOf(status: number, headers: Headers, body: unknown): SidebandError {
  const problem = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const text = (name: string) => (typeof problem[name] === "string" ? (problem[name] as string) : undefined);
  const code = text("code");
  if (code === undefined) {
    return new SidebandError(`HTTP ${status}, and not from Sideband`, {
      code: "unexpected_answer",
      status,
      retryAfterMs: retryAfterMs(headers),
    });
  }
  return new SidebandError(text("detail") ?? text("title") ?? code, {
    code: code as ServiceErrorCode,
    status,
    requestId: text("request_id") ?? headers.get("x-request-id") ?? undefined,
    param: text("param"),
    hint: text("hint"),
    upgradeUrl: text("upgrade_url"),
    retryAfterMs: retryAfterMs(headers),
  });
}

/** Retry-After is a number of seconds or a date. */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - Date.now());
}
