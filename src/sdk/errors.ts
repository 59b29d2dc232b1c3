/**
 * Errors of the client, as one class with a stable code. Most codes come from the service's error table. Three are
 * the client's own: no connection, no answer in time, or an answer that is not from the service. Of the service's codes
 * `outcome_unknown` is the client's too, with the status 0: the connection was lost after a write was sent.
 */

import type { Problem } from "../contract/errors.ts";

/** Codes of the service (docs/ERRORS.md). */
export type ServiceErrorCode = Problem["code"];

/** Codes of the client: the service is out of reach, it is slow, or something else answered. */
export type ClientErrorCode = "connection_failed" | "timeout" | "unexpected_answer";

export type ErrorCode = ServiceErrorCode | ClientErrorCode;

interface ErrorFields {
  code: ErrorCode;
  /** The HTTP status; 0 if there was no answer. */
  status: number;
  requestId?: string | undefined;
  /** The field, parameter or header at fault. */
  param?: string | undefined;
  /** What was probably meant, for example the nearest label. */
  hint?: string | undefined;
  upgradeUrl?: string | undefined;
  retryAfterMs?: number | undefined;
  /** With `revision_mismatch`: the fact that is there; null if there is none. */
  present?: Problem["present"] | undefined;
  /** With `invalid_value` of a list: the items that it has. */
  items?: Problem["items"] | undefined;
  cause?: unknown;
}

/** On the errors of every copy of this package: `instanceof` knows those of its own copy only. */
const MARK = Symbol.for("sideband.error");

export class SidebandError extends Error {
  override readonly name = "SidebandError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly param: string | undefined;
  readonly hint: string | undefined;
  readonly upgradeUrl: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly present: Problem["present"] | undefined;
  readonly items: Problem["items"] | undefined;

  constructor(message: string, fields: ErrorFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    Object.defineProperty(this, MARK, { value: true });
    this.code = fields.code;
    this.status = fields.status;
    this.requestId = fields.requestId;
    this.param = fields.param;
    this.hint = fields.hint;
    this.upgradeUrl = fields.upgradeUrl;
    this.retryAfterMs = fields.retryAfterMs;
    this.present = fields.present;
    this.items = fields.items;
  }

  /** Whether this is an error of the client, also of another copy of this package. */
  static isInstance(error: unknown): error is SidebandError {
    return typeof error === "object" && error !== null && MARK in error;
  }
}

/** Whether this is a Sideband error and, if a code is given, has that code. */
export function isSidebandError<C extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: C,
): error is SidebandError & { readonly code: C } {
  return SidebandError.isInstance(error) && (code === undefined || error.code === code);
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

/** True if memory was away or slow, so the same call may work later. False if the call itself was refused. */
export function isOutage(error: unknown): boolean {
  return SidebandError.isInstance(error) && OUTAGES.includes(error.code);
}

/** The error for an answer with a status of 400 or more. */
export function errorOf(status: number, headers: Headers, body: unknown): SidebandError {
  const problem = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const text = (name: string) => (typeof problem[name] === "string" ? (problem[name] as string) : undefined);
  const code = text("code");
  if (code === undefined) {
    return new SidebandError(`HTTP ${status}, but not from Sideband`, {
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
    present: problem.present as Problem["present"],
    items: problem.items as Problem["items"],
  });
}

/** Retry-After is a number of seconds or a date. */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Date.parse takes "-1" for a date.
  const dateMs = /^[A-Z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - Date.now());
}
