/** What the service remembers of its calls: the newest first, bounded. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CallHistory } from "../../../src/http/request/recent-calls.ts";
import { fieldsOf } from "../../fixtures/fields.ts";

test("the last fifty errors are kept with time, method, route, status, code and id, the newest first", () => {
  let nowMs = Date.parse("2026-11-15T00:00:00Z");
  const { errors } = new CallHistory();
  const list = () => errors.list((code) => ({ code }));
  errors.add({ method: "GET", routePath: "/facts", id: "first" }, 503, nowMs, "store_unavailable");
  nowMs += 1000;
  errors.add({ method: "POST", routePath: "/facts", id: "second" }, 500, nowMs, "internal_error");
  assert.deepEqual(list(), [
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
    errors.add({ method: "GET", routePath: "/facts", id: `${i}` }, 500, nowMs, "internal_error");
  assert.deepEqual([list().length, list()[0].request_id], [50, "59"]);
});

test("the last hundred requests of keys are kept with the account and the key", () => {
  const { requests } = new CallHistory();
  const caller = {
    account: "acme",
    keyId: "k1",
    tier: "pro",
    limit: 5,
    expiresAtMs: null,
    user: null,
    access: "write",
  } as const;
  for (let i = 0; i < 250; i++)
    requests.add({ method: "GET", routePath: "/facts", id: `${i}` }, 200, i, caller);
  const listed = requests.list(({ account, keyId }) => ({ account, key_id: keyId }));
  assert.deepEqual(
    fieldsOf(listed, "request_id"),
    Array.from({ length: 100 }, (_, i) => `${249 - i}`),
  );
  assert.deepEqual([listed[0].account, listed[0].key_id], ["acme", "k1"]);
});
