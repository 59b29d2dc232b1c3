/** The calls of the pages: where a key goes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchFacts, fetchUsage } from "../../../src/web/api/account.ts";

test("a key goes into the header and into no address", async (t) => {
  const sent = t.mock.method(globalThis, "fetch", async () => Response.json({ facts: [] }));
  await fetchUsage("sb_live_x");
  await fetchFacts("sb_live_x", "ada");
  const calls = sent.mock.calls.map((call) => call.arguments as unknown as [string, RequestInit]);
  assert.deepEqual(
    calls.map(([url]) => url),
    ["/usage", "/facts?user_id=ada"],
  );
  for (const [, { headers }] of calls)
    assert.equal(new Headers(headers).get("authorization"), "Bearer sb_live_x");
});
