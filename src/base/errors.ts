/** Expected failures, unlike errors of the programmer. Failures of a call have a stable code from error-codes.ts. */

import type { FailureCode } from "./error-codes.ts";

/** A fact as an answer shows it. */
export interface PresentFact {
  readonly label: string;
  readonly value: string;
  readonly revision: number;
  readonly updated_at: string;
  readonly written_by?: string;
  /** Of a shared project's fact: who wrote it. */
  readonly user_id?: string;
}

export interface FailureExtra {
  /** The field, parameter or header at fault. */
  readonly param?: string;
  /** What would probably have been right. */
  readonly hint?: string;
  readonly retryAfterS?: number;
  readonly allow?: string;
  /** Encodes used, where a limit is at fault. */
  readonly used?: number;
  /** The fact that is there, where another one was expected; null: there is none. */
  readonly present?: PresentFact | null;
  /** The items of a list that has no room for another one, or not the one that was meant. */
  readonly items?: readonly string[];
  readonly cause?: unknown;
  /** For the operator, in the log's line of the request; never answered. */
  readonly reason?: string;
  /** The place in the code that asked the database, for the log. */
  readonly place?: string | undefined;
}

/** Why a call is refused, or has failed: a failure, or an error that another protocol names. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly extra?: FailureExtra;
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

/** @param param the field, parameter or header at fault */
export function invalidRequest(param: string, detail: string): Failure {
  return new Failure("invalid_request", detail, { param });
}

/** A setting has a value that it does not take. */
export class ConfigError extends OperatorError {
  override name = "ConfigError";
  /** The setting whose value is wrong, if it is one setting's. */
  readonly setting: string | undefined;
  /** What is wrong, without the name of the setting. */
  readonly fault: string;

  constructor(fault: string, setting?: string) {
    super(setting === undefined ? fault : `${setting} ${fault}`);
    this.setting = setting;
    this.fault = fault;
  }
}
