/** Errors of the database: which of them a caller may try again later. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../../src/base/errors.ts";
import {
  asCommitFailure,
  asFailure,
  asWriteFailure,
} from "../../../../src/store/postgres/connection/database-failure.ts";

const errorWith = (code: string, message = "an error of the database") =>
  Object.assign(new Error(message), { code });
const LOST_WORKER = "server closed the connection unexpectedly\n\tThis probably means the server terminated";

test("a database that is away, busy, full or behind another pooler is unavailable", () => {
  for (const code of ["ECONNREFUSED", "08006", "26000", "28P01", "42P05", "53300", "55P03", "57014"]) {
    const failure = asFailure(errorWith(code));
    assert.ok(failure instanceof Failure, code);
    assert.deepEqual([failure.code, failure.extra.retryAfterS], ["store_unavailable", 2], code);
  }
});

test("any other error stays as it is", () => {
  for (const code of ["", "22P02", "23505", "42601", "42P01", "XX000"]) {
    const error = errorWith(code);
    assert.equal(asFailure(error), error, code);
  }
});

test("a commit that a coordinator or a pooler has lost on its way may be done; another statement is not", () => {
  for (const error of [errorWith("XX000", LOST_WORKER), errorWith("08006"), errorWith("08P01")]) {
    assert.deepEqual(
      codeOf(asWriteFailure(asFailure(asCommitFailure(error)))),
      "outcome_unknown",
      error.code,
    );
    assert.deepEqual(codeOf(asWriteFailure(asFailure(error))), "store_unavailable", error.code);
  }
  for (const error of [errorWith("XX000"), errorWith("57014"), errorWith("40001")])
    assert.equal(asCommitFailure(error), error);
});

function codeOf(error: unknown): string | undefined {
  return error instanceof Failure ? error.code : undefined;
}
