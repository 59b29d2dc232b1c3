/** Errors of the database: which of them a caller may try again later. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../../src/base/errors.ts";
import { asFailure } from "../../../../src/store/postgres/connection/database-failure.ts";

const errorWith = (code: string) => Object.assign(new Error("an error of the database"), { code });

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
