/** Recent errors: failures of the service's own making, the newest first, bounded. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentErrors } from "../../../src/http/request/recent-errors.ts";

test("the last fifty errors are kept with time, method, route, status, code and id, the newest first", () => {
  let nowMs = Date.parse("2026-11-15T00:00:00Z");
  const recent = new RecentErrors({ now: () => nowMs });
  recent.add({ method: "GET", routePath: "/facts", id: "first" }, 503, "store_unavailable");
  nowMs += 1000;
  recent.add({ method: "POST", routePath: "/facts", id: "second" }, 500, "internal_error");
  assert.deepEqual(recent.list(), [
    {
      at: "2026-11-15T00:00:01.000Z",
      method: "POST",
      route: "/facts",
      status: 500,
      code: "internal_error",
      request_id: "second",
    },
    {
      at: "2026-11-15T00:00:00.000Z",
      method: "GET",
      route: "/facts",
      status: 503,
      code: "store_unavailable",
      request_id: "first",
    },
  ]);
  for (let i = 0; i < 60; i++)
    recent.add({ method: "GET", routePath: "/facts", id: `${i}` }, 500, "internal_error");
  assert.deepEqual([recent.list().length, recent.list()[0].request_id], [50, "59"]);
});
