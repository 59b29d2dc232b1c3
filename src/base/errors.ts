/** Expected failures, unlike errors of the programmer. Failures of a call have a stable code from error-codes.ts. */

import type { FailureCode } from "./error-codes.ts";

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

/** A fault of a setting, a data folder or a database. The message is for the operator. */
export class OperatorError extends Error {
  override name = "OperatorError";
}

/** A data folder has no store yet, and the caller asked for none to be made. */
export class NoStoreError extends OperatorError {
  override name = "NoStoreError";
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
