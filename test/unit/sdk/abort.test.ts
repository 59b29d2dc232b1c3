/** A call that its caller aborts. */

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { Sideband } from "../../../src/sdk/index.ts";
import { scriptedServer } from "./scripted-server.ts";

test("an aborted call throws the signal's reason, before and while it runs and while it pauses", async (t) => {
  const { url } = await scriptedServer(t, ({ path }) =>
    path === "/context"
      ? "hang"
      : { status: 503, body: { code: "overloaded" }, headers: { "retry-after": "5" } },
  );
  const client = new Sideband({ baseUrl: url });
  const reason = new Error("enough");
  await assert.rejects(client.context("u", { signal: AbortSignal.abort(reason) }), reason);
  for (const call of [client.context.bind(client), client.facts.bind(client)]) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 50);
    await assert.rejects(call("u", { signal: controller.signal }), reason);
  }
});

test("an aborted helper throws the signal's reason", async (t) => {
  const { url } = await scriptedServer(t, () => "hang");
  const client = new Sideband({ baseUrl: url });
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(client.inject("p", "u", { signal }), reason);
  await assert.rejects(client.beforeCompaction("u", { signal }), reason);
});

test("200 calls on one signal, one after the other or at once, leave no listener and no warning", async (t) => {
  const { url } = await scriptedServer(t, (_, count) =>
    count % 3 === 0 ? { status: 400, body: { code: "invalid_request" } } : { body: {} },
  );
  const client = new Sideband({ baseUrl: url });
  const { signal } = new AbortController();
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  t.after(() => process.off("warning", onWarning));
  for (let i = 0; i < 50; i++) await client.usage({ signal }).catch(() => {});
  const calls = Array.from({ length: 150 }, () => client.usage({ signal }).catch(() => {}));
  assert.equal(getEventListeners(signal, "abort").length, 1);
  await Promise.all(calls);
  assert.equal(getEventListeners(signal, "abort").length, 0);
  assert.deepEqual(warnings, []);
});
