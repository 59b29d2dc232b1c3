/** LangGraph's store where the service refuses or is away: reads go on unless told otherwise, and no write is lost silently. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { SidebandStore } from "../../../src/agents/langgraph.ts";
import { Sideband } from "../../../src/sdk/index.ts";
import { closedPort, scriptedFetch, scriptedServer } from "../sdk/scripted-server.ts";

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

test("an item may say where its fact comes from, and has it when it is read; an unknown one is refused", async (t) => {
  const stored = {
    label: "USER.os",
    value: "Debian",
    channel: 5,
    revision: 1,
    updated_at: "2026-11-15T00:00:00Z",
  };
  const { url, seen } = await scriptedServer(t, ({ method }) => ({
    body: method === "GET" ? { facts: [{ ...stored, origin: "read" }] } : { status: "ok", facts: [] },
  }));
  const store = new SidebandStore({ memory: new Sideband({ baseUrl: url }) });
  await store.put(["ada", "USER"], "os", { value: "Debian", origin: "read" });
  await store.put(["ada", "USER"], "name", { value: "Ada" });
  const sent = seen.map(({ body }) => (body as { facts: { origin?: string }[] }).facts[0].origin);
  assert.deepEqual(sent, ["read", undefined]);
  assert.deepEqual((await store.get(["ada", "USER"], "os"))?.value, { value: "Debian", origin: "read" });
  const wrong = store.put(["ada", "USER"], "os", { value: "Debian", origin: "guessed" });
  await assert.rejects(wrong, /its origin where it is known \(said, concluded, read\)/);
});

test("with memory away reads find nothing and a line says so; a put, a delete and a batch with either reject", async (t) => {
  const lines: string[] = [];
  t.mock.method(console, "error", (line: string) => void lines.push(line));
  const silent = scriptedFetch(() => "hang");
  for (const [options, code, timeoutMs] of [
    [{ baseUrl: await closedPort() }, "connection_failed", 20_000],
    [{ fetch: silent.fetch }, "timeout", 20],
  ] as const) {
    lines.length = 0;
    const memory = new Sideband({ ...options, retries: 0 });
    const store = new SidebandStore({ memory, timeoutMs });
    const [ada, name] = [["ada", "USER"], "name"];
    // More often than it takes to open the circuit: it refuses no write.
    for (let i = 0; i < 4; i++) {
      assert.equal(await store.get(ada, name), null);
      assert.deepEqual(await store.search(ada), []);
      await assert.rejects(store.put(ada, name, { value: "Ada" }), { code });
      await assert.rejects(store.delete(ada, name), { code });
      await assert.rejects(
        store.batch([
          { namespace: ada, key: name },
          { namespace: ada, key: name, value: null },
        ]),
        {
          code,
        },
      );
    }
    assert.equal(lines.length, 12);
    for (const line of lines)
      assert.match(line, /^sideband: facts were not read: .*(cannot reach|no answer)/);
    const strict = new SidebandStore({ memory, onOutage: "throw", timeoutMs });
    await assert.rejects(strict.get(ada, name), { code });
    await assert.rejects(strict.search(ada), { code });
    await assert.rejects(strict.listNamespaces({ prefix: ["ada"] }), { code });
    // Each of them was tried: the error is not that of a circuit.
    await assert.rejects(strict.get(ada, name), {
      message: /^(no answer within 20 ms|cannot reach [^ ]+)$/,
    });
  }
  const writes = silent.methods.filter((method) => method !== "GET");
  assert.deepEqual(writes, Array(4).fill(["POST", "DELETE", "DELETE"]).flat());
});
