/** What a program got wrong is told at once, before anything is sent; and what times 0 and Infinity mean. */

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { Sideband } from "../../../src/sdk/index.ts";
import { scriptedServer } from "./scripted-server.ts";

test("a malformed address throws where the client is made", () => {
  for (const baseUrl of [
    "",
    "127.0.0.1:8787",
    "localhost",
    "memory.example",
    "ftp://memory.example",
    "/api",
    "http://",
    "xhttps://memory.example",
    "https://memory.example?key=1",
    "https://memory.example/#top",
    "https://ada:secret@memory.example",
  ]) {
    assert.throws(
      () => new Sideband({ baseUrl }),
      { name: "TypeError", message: /^baseUrl is an address/ },
      baseUrl,
    );
  }
  for (const baseUrl of ["http://127.0.0.1:8787", "https://memory.example/path//", "http://[::1]:80"])
    assert.ok(new Sideband({ baseUrl }));
});

test("a missing user is a TypeError of every call about one, and nothing is sent", async (t) => {
  const { url, seen } = await scriptedServer(t, () => ({ body: {} }));
  const client = new Sideband({ baseUrl: url });
  for (const nobody of [undefined, null, 42] as unknown as string[]) {
    for (const call of [
      () => client.encode(nobody, "USER.name", "Ada"),
      () => client.encodeBatch(nobody, []),
      () => client.append(nobody, "USER.name", "Ada"),
      () => client.remove(nobody, "USER.name", "Ada"),
      () => client.context(nobody),
      () => client.decode(nobody, "USER.name"),
      () => client.decodeModel(nobody, "USER.name"),
      () => client.flush(nobody),
      () => client.facts(nobody),
      () => client.forget(nobody, "USER.name"),
      () => client.forgetUser(nobody),
      () => client.history(nobody, "USER.name"),
      () => client.restore(nobody, "USER.name", 1),
      () => client.changes(nobody),
      () => client.rollback(nobody, new Date()),
      () => client.read(nobody, "[MEM]"),
      () => client.token(nobody, { access: "read", ttlS: 60 }),
      () => client.inject("p", nobody),
      () => client.beforeCompaction(nobody),
    ]) {
      await assert.rejects(call(), { name: "TypeError", message: `userId is a text, not ${nobody}` });
    }
  }
  assert.equal(seen.length, 0);
});

test("a time of 0 fails at once, Infinity sets no limit, and what is no time throws", async (t) => {
  const { url, seen } = await scriptedServer(t, async () => {
    await new Promise((resolve) => setTimeout(resolve, 40));
    return { body: {} };
  });
  const client = new Sideband({ baseUrl: url });
  await assert.rejects(client.usage({ timeoutMs: 0 }), { code: "timeout", message: "no answer within 0 ms" });
  await assert.rejects(new Sideband({ baseUrl: url, timeoutMs: 0 }).usage(), { code: "timeout" });
  assert.equal(seen.length, 0);
  const warnings = t.mock.method(process, "emitWarning", () => {});
  for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31, Number.MAX_SAFE_INTEGER])
    assert.deepEqual(await client.usage({ timeoutMs }), {});
  assert.deepEqual(await new Sideband({ baseUrl: url, timeoutMs: Number.POSITIVE_INFINITY }).usage(), {});
  assert.equal(warnings.mock.callCount(), 0);
  for (const timeoutMs of [-1, Number.NaN]) {
    await assert.rejects(client.usage({ timeoutMs }), RangeError);
    assert.throws(() => new Sideband({ timeoutMs }), RangeError);
  }
  // A time of 0 says nothing of the service.
  for (let i = 0; i < 3; i++)
    await assert.rejects(client.facts("u", { timeoutMs: 0, failFast: true }), { code: "timeout" });
  assert.deepEqual(await client.facts("u", { failFast: true }), {});
});

test("the helpers wait no longer than the client does", async (t) => {
  const { url } = await scriptedServer(t, () => "hang");
  const lines: string[] = [];
  const client = new Sideband({ baseUrl: url, timeoutMs: 50, onWarning: (line) => lines.push(line) });
  assert.equal(await client.inject("p", "u"), "p");
  assert.match(lines[0], /no answer within 50 ms$/);
});

test("an aborted helper throws the signal's reason, and what is no part of a section is refused", async (t) => {
  const { url } = await scriptedServer(t, () => "hang");
  const client = new Sideband({ baseUrl: url });
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(client.inject("p", "u", { signal }), reason);
  await assert.rejects(client.beforeCompaction("u", { signal }), reason);
  assert.throws(() => new Sideband({ include: "all" as "both" }), /include .* is one of index, block, both/);
});

test("1,000 calls on one signal, one after the other or at once, leave no listener and no warning", async (t) => {
  const { url } = await scriptedServer(t, (_, count) =>
    count % 3 === 0 ? { status: 400, body: { code: "invalid_request" } } : { body: {} },
  );
  const client = new Sideband({ baseUrl: url });
  const { signal } = new AbortController();
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  t.after(() => process.off("warning", onWarning));
  for (let i = 0; i < 100; i++) await client.usage({ signal }).catch(() => {});
  const calls = Array.from({ length: 900 }, () => client.usage({ signal }).catch(() => {}));
  assert.equal(getEventListeners(signal, "abort").length, 1);
  await Promise.all(calls);
  assert.equal(getEventListeners(signal, "abort").length, 0);
  assert.deepEqual(warnings, []);
});
