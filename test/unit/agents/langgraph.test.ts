/** LangGraph's store where the service refuses or is away: the agent's own errors reach it, an outage does not stop it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { SidebandStore } from "../../../src/agents/langgraph.ts";
import { Sideband } from "../../../src/sdk/index.ts";
import { closedPort, scriptedServer } from "../sdk/scripted-server.ts";

test("a delete that is refused throws, and a delete of what is not there does not", async (t) => {
  const { url } = await scriptedServer(t, (_, count) =>
    count === 1
      ? { status: 403, body: { code: "key_revoked", detail: "This key was revoked." } }
      : { status: 404, body: { code: "fact_not_found", detail: "There is no fact on USER.name." } },
  );
  const store = new SidebandStore({ memory: new Sideband({ baseUrl: url }) });
  await assert.rejects(store.delete(["ada", "USER"], "name"), { code: "key_revoked" });
  await store.delete(["ada", "USER"], "name");
});

test("with memory away reads find nothing, writes are not kept, and a line says so", async (t) => {
  const lines: string[] = [];
  t.mock.method(console, "error", (line: string) => void lines.push(line));
  const store = new SidebandStore({ memory: new Sideband({ baseUrl: await closedPort(), retries: 0 }) });
  assert.equal(await store.get(["ada", "USER"], "name"), null);
  await store.put(["ada", "USER"], "name", { value: "Ada" });
  await store.delete(["ada", "USER"], "name");
  assert.equal(lines.length, 3);
  for (const line of lines) assert.match(line, /^sideband: .*cannot reach/);
});
