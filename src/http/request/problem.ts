/**
 * Whatever goes wrong with a request becomes a problem answer. Only the public text leaves; anything unexpected is a 500
 * without a word about its cause, which is logged.
 */

import { ERRORS } from "../../base/error-codes.ts";
import { Failure } from "../../base/errors.ts";
import { problemOf } from "../../contract/errors.ts";
import type { Log } from "../services.ts";
import { Answer } from "./answer.ts";
import type { Call } from "./call.ts";

export const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

/** @param challenge what a 401, or a token that is not enough, is answered, where it is not the usual */
export function problemAnswer(failure: Failure, call: Call, upgradeUrl: string, challenge?: string): Answer {
  const { status } = ERRORS[failure.code];
  const { param, hint, retryAfterS, allow, used, present, items } = failure.extra;
  const upgrades = failure.code === "monthly_limit_exceeded";
  const headers: string[] = [];
  if (challenge !== undefined) headers.push("www-authenticate", challenge);
  else if (status === 401) headers.push("www-authenticate", 'Bearer realm="sideband"');
  if (allow !== undefined) headers.push("allow", allow);
  if (retryAfterS !== undefined) headers.push("retry-after", String(retryAfterS));
  if (upgrades) headers.push("link", `<${upgradeUrl}>; rel="upgrade"`);
  const problem = problemOf(failure.code, failure.message, call.id, {
    param,
    hint,
    present,
    items,
    upgradeUrl: upgrades ? upgradeUrl : undefined,
  });
  return new Answer(JSON.stringify(problem), { status, headers, type: PROBLEM_TYPE, used });
}

/** The failure that an error stands for; what is not expected is an internal error. */
export function failureOf(error: unknown, call: Pick<Call, "id">, log: Log): Failure {
  if (error instanceof Failure) {
    const { cause, place } = error.extra;
    const line = { code: error.code, reason: causesOf(cause), place, request_id: call.id };
    if (cause !== undefined) log.error(line, error.message);
    return error;
  }
  log.error({ err: error, request_id: call.id }, "unexpected error");
  return new Failure("internal_error", "Something went wrong inside the service.", { cause: error });
}

/** What an error was caused by stands behind it. */
export function causesOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const deeper = error.cause === error ? "" : causesOf(error.cause);
  return deeper === "" ? error.message : `${error.message}: ${deeper}`;
}
