/** How long a refused client is told to wait. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { errorOf } from "../../../src/sdk/errors.ts";

test("Retry-After is a number of seconds or a date, and anything else is nothing", (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 15, 12) });
  for (const [text, expected] of [
    ["0", 0],
    ["30", 30_000],
    ["Sun, 15 Nov 2026 12:00:30 GMT", 30_000],
    ["Sun, 15 Nov 2026 11:59:59 GMT", 0],
    ["soon", undefined],
    [undefined, undefined],
  ] as const) {
    const headers = new Headers(text === undefined ? {} : { "retry-after": text });
    for (const body of [{ code: "overloaded" }, "not from the service"])
      assert.equal(errorOf(503, headers, body).retryAfterMs, expected, text);
  }
});
