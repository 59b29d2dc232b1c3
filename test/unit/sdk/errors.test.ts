/** Errors are told from others, also those of another copy of the package. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isOutage, isSidebandError, SidebandError } from "../../../src/sdk/errors.ts";

test("an error is told by its code, and an outage from a refusal", () => {
  const cause = new Error("refused");
  const away = new SidebandError("away", { code: "connection_failed", status: 0, cause });
  const refused = new SidebandError("no", { code: "invalid_value", status: 400 });
  assert.deepEqual([away.cause, "cause" in refused], [cause, false]);
  assert.deepEqual([isSidebandError(away), isSidebandError(away, "connection_failed")], [true, true]);
  assert.deepEqual([isSidebandError(away, "timeout"), isSidebandError(cause)], [false, false]);
  assert.deepEqual([isOutage(away), isOutage(refused), isOutage(cause)], [true, false, false]);
});

test("an error of another copy of the package is told as one of this", async () => {
  // The query makes it another module.
  const copy = "../../../src/sdk/errors.ts?copy";
  const { SidebandError: Other } = (await import(copy)) as typeof import("../../../src/sdk/errors.ts");
  const error = new Other("late", { code: "timeout", status: 0 });
  assert.equal(error instanceof SidebandError, false);
  assert.deepEqual([SidebandError.isInstance(error), isSidebandError(error, "timeout")], [true, true]);
  assert.deepEqual([isOutage(error), isSidebandError(error, "not_found")], [true, false]);
  for (const other of [
    undefined,
    null,
    "timeout",
    new Error("x"),
    { code: "timeout", name: "SidebandError" },
  ])
    assert.equal(SidebandError.isInstance(other), false);
});
