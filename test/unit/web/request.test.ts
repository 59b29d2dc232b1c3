/** The calls of the pages: where a key goes, what a write of the memory page says, and that nothing is sent twice. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pageClient } from "../../../src/web/api/memory.ts";
import { send } from "../../../src/web/api/request.ts";

before(() => Object.assign(globalThis, { location: { origin: "http://site" } }));
after(() => Reflect.deleteProperty(globalThis, "location"));

test("a key goes into the header and into no address; without one there is none", async (t) => {
  const sent = t.mock.method(globalThis, "fetch", async () => Response.json({ facts: [] }));
  const api = pageClient({ key: "sb_live_x" });
  await api.usage();
  await api.facts("ada", { project: undefined });
  await send({ method: "GET", path: "/channels" });
  await pageClient({ base: "/below" }).facts("ada");
  const calls = sent.mock.calls.map((call) => call.arguments as unknown as [string, RequestInit]);
  assert.deepEqual(
    calls.map(([url, { headers }]) => [url, new Headers(headers).get("authorization")]),
    [
      ["http://site/usage", "Bearer sb_live_x"],
      ["http://site/facts?user_id=ada&details=true", "Bearer sb_live_x"],
      ["/channels", null],
      ["http://site/below/facts?user_id=ada&details=true", null],
    ],
  );
});

test("a write says who writes, and a call that fails is sent once", async (t) => {
  let isAway = false;
  const sent = t.mock.method(globalThis, "fetch", async () => {
    if (isAway) throw new TypeError("fetch failed");
    return Response.json({ revision: 1 });
  });
  const api = pageClient({ key: "sb_live_x" });
  await api.encode("ada", "TASK.next", "v", { ifRevision: 17 });
  const [, { body }] = sent.mock.calls[0].arguments as unknown as [string, RequestInit];
  assert.equal(JSON.parse(String(body)).written_by, "memory page");
  isAway = true;
  await assert.rejects(api.facts("ada"), { code: "connection_failed" });
  await assert.rejects(api.encode("ada", "USER.name", "Ada"), { code: "outcome_unknown" });
  await assert.rejects(send({ method: "POST", path: "/demo/flush" }), { code: "outcome_unknown" });
  assert.equal(sent.mock.callCount(), 4);
});
