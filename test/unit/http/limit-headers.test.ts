/** What is left of a limit, as the headers say it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { quotaHeaders } from "../../../src/http/request/limit-headers.ts";

test("the headers of a quota say what is left of the month, and never less than nothing", () => {
  const nowMs = Date.UTC(2026, 10, 30, 23, 59, 58, 500);
  const resetS = String(Date.UTC(2026, 11, 1) / 1000);
  const headers = (remaining: string) => [
    ...["ratelimit-policy", '"monthly";q=1000;w=2592000', "ratelimit", `"monthly";r=${remaining};t=2`],
    ...["x-ratelimit-limit", "1000", "x-ratelimit-remaining", remaining, "x-ratelimit-reset", resetS],
  ];
  assert.deepEqual(quotaHeaders(1000, 1, nowMs), headers("999"));
  assert.deepEqual(quotaHeaders(1000, 1001, nowMs), headers("0"));
});
