/** The calls of the pages: where a key goes, and what the memory page asks for. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchUsage } from "../../../src/web/api/account.ts";
import { MemoryApi } from "../../../src/web/api/memory.ts";

const ADA = { userId: "ada", project: undefined };

test("a key goes into the header and into no address", async (t) => {
  const sent = t.mock.method(globalThis, "fetch", async () => Response.json({ facts: [] }));
  await fetchUsage("sb_live_x");
  const api = new MemoryApi({ key: "sb_live_x" });
  await api.facts(ADA);
  await api.events("ada", "7-1", AbortSignal.timeout(1000));
  const calls = sent.mock.calls.map((call) => call.arguments as unknown as [string, RequestInit]);
  assert.deepEqual(
    calls.map(([url]) => url),
    ["/usage", "/facts?user_id=ada", "/users/events?user_id=ada"],
  );
  for (const [, { headers }] of calls)
    assert.equal(new Headers(headers).get("authorization"), "Bearer sb_live_x");
  assert.equal(new Headers(calls[2][1].headers).get("last-event-id"), "7-1");
});

test("a write says what it expects and who writes, and below another address there is no key", async (t) => {
  const sent = t.mock.method(globalThis, "fetch", async () => Response.json({ revision: 1 }));
  const api = new MemoryApi({ base: "/below" });
  const memory = { userId: "ada", project: "loom/x" };
  await api.write(memory, { label: "TASK.next", value: "v", scope: "worktree", ttl_s: 60 }, 17);
  await api.write(memory, { label: "TASK.next", value: "v" }, 0);
  await api.forget(memory, { label: "TASK.next", revision: 3 }, true);
  const calls = sent.mock.calls.map((call) => call.arguments as unknown as [string, RequestInit]);
  assert.deepEqual(
    calls.map(([url]) => url),
    [
      "/below/encode",
      "/below/encode",
      "/below/facts?user_id=ada&project=loom%2Fx&label=TASK.next&keep_history=true",
    ],
  );
  assert.deepEqual(JSON.parse(String(calls[0][1].body)), {
    user_id: "ada",
    project: "loom/x",
    label: "TASK.next",
    value: "v",
    scope: "worktree",
    ttl_s: 60,
    written_by: "memory page",
    details: true,
  });
  const headersOf = (index: number) => new Headers(calls[index][1].headers);
  assert.deepEqual(
    [headersOf(0).get("if-match"), headersOf(1).get("if-none-match"), headersOf(2).get("if-match")],
    ['"17"', "*", '"3"'],
  );
  assert.equal(headersOf(0).get("authorization"), null);
});

test("where no answer comes, a read says to try again, and a write that it may have been done", async (t) => {
  t.mock.method(globalThis, "fetch", async () => {
    throw new TypeError("fetch failed");
  });
  const api = new MemoryApi({});
  await assert.rejects(api.facts(ADA), { status: 0, message: /cannot be reached\. Try again/ });
  const doubt = {
    status: 0,
    message: /cannot be reached\. What you asked for may have been done all the same/,
  };
  await assert.rejects(api.write(ADA, { label: "USER.name", value: "Ada" }, 0), doubt);
  await assert.rejects(api.eraseAll(ADA), doubt);
});
