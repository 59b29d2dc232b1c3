/** What is JavaScript's own in the client: signals, the environment, errors of another copy. test/client-cases has the rest. */

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { isOutage, isSidebandError, SidebandError } from "../../../src/sdk/errors.ts";
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

test("an error is told by its code, and an outage from a refusal", () => {
  const cause = new Error("refused");
  const away = new SidebandError("away", { code: "connection_failed", status: 0, cause });
  const refused = new SidebandError("no", { code: "invalid_value", status: 400 });
  assert.deepEqual([away.cause, "cause" in refused], [cause, false]);
  assert.deepEqual([isSidebandError(away), isSidebandError(away, "connection_failed")], [true, true]);
  assert.deepEqual([isSidebandError(away, "timeout"), isSidebandError(cause)], [false, false]);
  assert.deepEqual([isOutage(away), isOutage(refused), isOutage(cause)], [true, false, false]);
});

test("an error of another copy of the package is told as one of this", async () => {
  // The query makes it another module.
  const copy = "../../../src/sdk/errors.ts?copy";
  const { SidebandError: Other } = (await import(copy)) as typeof import("../../../src/sdk/errors.ts");
  const error = new Other("late", { code: "timeout", status: 0 });
  assert.equal(error instanceof SidebandError, false);
  assert.deepEqual([SidebandError.isInstance(error), isSidebandError(error, "timeout")], [true, true]);
  assert.deepEqual([isOutage(error), isSidebandError(error, "not_found")], [true, false]);
  for (const other of [
    undefined,
    null,
    "timeout",
    new Error("x"),
    { code: "timeout", name: "SidebandError" },
  ])
    assert.equal(SidebandError.isInstance(other), false);
});
