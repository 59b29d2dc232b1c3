/** What the client makes of an answer with an error, and how long a refused client is told to wait. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { errorOf, isOutage, isSidebandError, SidebandError } from "../../../src/sdk/errors.ts";

test("Retry-After is a number of seconds or a date, and anything else is nothing", (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 15, 12) });
  for (const [text, expected] of [
    ["0", 0],
    ["30", 30_000],
    ["Sun, 15 Nov 2026 12:00:30 GMT", 30_000],
    ["Sun, 15 Nov 2026 11:59:59 GMT", 0],
    ["soon", undefined],
    ["in 30", undefined],
    ["30s", undefined],
    [undefined, undefined],
  ] as const) {
    const headers = new Headers(text === undefined ? {} : { "retry-after": text });
    for (const body of [{ code: "overloaded" }, "not from the service"])
      assert.equal(errorOf(503, headers, body).retryAfterMs, expected, text);
  }
});

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

test("of an answer only texts are taken", () => {
  const { param, message } = errorOf(400, new Headers(), { code: "invalid_value", param: 5, detail: null });
  assert.deepEqual([param, message], [undefined, "invalid_value"]);
});
