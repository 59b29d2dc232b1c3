/** What is JavaScript's own in the client; test/client-cases has what the clients of all languages do. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Sideband } from "../../../src/sdk/index.ts";
import { scriptedServer } from "./scripted-server.ts";

test("a time that no timer can take is no warning of Node", async (t) => {
  const { url } = await scriptedServer(t, () => ({ body: {} }));
  const client = new Sideband({ baseUrl: url });
  const warnings = t.mock.method(process, "emitWarning", () => {});
  for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31, Number.MAX_SAFE_INTEGER])
    assert.deepEqual(await client.usage({ timeoutMs }), {});
  assert.equal(warnings.mock.callCount(), 0);
});

test("a missing argument of a program in plain JavaScript is a wrong call", async () => {
  const client = new Sideband({ baseUrl: "http://127.0.0.1:1" });
  const nobody = undefined as unknown as string;
  await assert.rejects(client.facts(nobody), {
    name: "TypeError",
    message: "userId is a text, not undefined",
  });
  const wrong = client.encode("u", "USER.name", "Ada", { expiresAt: new Date(Number.NaN) });
  await assert.rejects(wrong, RangeError);
});

test("a browser has no environment", (t) => {
  const { process: own } = globalThis;
  t.after(() => Object.assign(globalThis, { process: own }));
  Object.assign(globalThis, { process: undefined });
  assert.ok(new Sideband({ baseUrl: "http://[::1]:80" }));
  Object.assign(globalThis, { process: own });
});
