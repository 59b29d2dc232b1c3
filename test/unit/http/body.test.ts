/** Room is taken for a body as it comes, for its bytes and for its parts, and one that comes too slowly is ended. */

import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { Failure } from "../../../src/base/errors.ts";
import { readJson } from "../../../src/http/request/body.ts";
import { ByteReservation } from "../../../src/http/request/byte-budget.ts";

const BYTES_MAX = 1_000_000;
const SLOW_MS = 10_000;

function setUp(headers: Record<string, string>, roomBytes = Number.POSITIVE_INFINITY) {
  const request = Object.assign(new PassThrough(), {
    headers: { "content-type": "application/json", ...headers },
  });
  const taken: number[] = [];
  const holding = new ByteReservation((bytes) => {
    if (taken.reduce((sum, one) => sum + one, bytes) > roomBytes) throw new Failure("overloaded", "full");
    taken.push(bytes);
  });
  const terms = { bytesMax: BYTES_MAX, slowMs: SLOW_MS, holding: () => holding };
  const body = readJson(request as unknown as IncomingMessage, terms);
  body.catch(() => {});
  return { request, taken, body };
}

test("an announcement takes no room, and the whole of a small body is taken as it is", async () => {
  const { taken, request, body } = setUp({ "content-length": "7" });
  assert.deepEqual(taken, []);
  for (const byte of '{"a":1}') request.write(byte);
  request.end();
  assert.deepEqual(await body, { a: 1 });
  assert.deepEqual(taken, [7, 2 * 64], "its pieces take no room once more, its two parts do");
  const kept = ["data", "error"].map((event) => request.listenerCount(event));
  assert.deepEqual(kept, [0, 0], "a request that is kept with its connection does not keep its body");
  const full = setUp({ "content-length": "7" }, 6);
  full.request.write("{");
  await assert.rejects(full.body, { code: "overloaded" });
  assert.equal(full.request.listenerCount("data"), 0);
});

test("a body has its room as it comes, announced or not, and what comes after a refusal is dropped", async () => {
  const text = JSON.stringify({ text: "x".repeat(300_000) });
  for (const headers of [{ "transfer-encoding": "chunked" }, { "content-length": String(text.length) }]) {
    const { taken, request, body } = setUp(headers);
    for (let i = 0; i < text.length; i += 999) {
      request.write(text.slice(i, i + 999));
      await new Promise(setImmediate);
      const room = taken.reduce((sum, bytes) => sum + bytes);
      const come = Math.min(i + 999, text.length);
      assert.ok(room >= come && room <= Math.max(4_096, 2 * come), `${room} for ${come}`);
    }
    request.end();
    assert.equal(JSON.stringify(await body), text);
    const full = setUp(headers, 100_000);
    full.request.end(text);
    await assert.rejects(full.body, { code: "overloaded" });
    assert.equal(full.request.listenerCount("data"), 0);
  }
});

test("a body that comes slower than 1 KiB a second for 10 s is ended, and one that comes faster is not", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const text = JSON.stringify("x".repeat(30_000));
  const { request, body } = setUp({ "content-length": String(text.length) });
  const send = async (from: number, to: number) => {
    request.write(text.slice(from, to));
    await new Promise(setImmediate);
    context.mock.timers.tick(SLOW_MS);
    await new Promise((resolve) => setImmediate(setImmediate, resolve));
  };
  await send(0, 10_240);
  await send(10_240, 20_480);
  assert.equal(request.listenerCount("data"), 1, "it came fast enough");
  await send(20_480, 30_719);
  await assert.rejects(body, { code: "request_timeout", message: /slower than 1 KiB a second/ });
  assert.equal(request.listenerCount("data"), 0);
  const whole = setUp({ "content-length": "2" });
  whole.request.end("{}");
  assert.deepEqual(await whole.body, {});
  context.mock.timers.tick(SLOW_MS);
});

test("each name and value takes room, and no body has more than 10,000 of them", async () => {
  const parts = async (text: string) => {
    const { taken, request, body } = setUp({ "content-length": String(Buffer.byteLength(text)) });
    request.end(text);
    await body;
    return taken.at(-1)! / 64;
  };
  assert.equal(await parts('{"a":[1,2],"b":{}}'), 7);
  assert.equal(await parts('{"[{:,":"\\"[{:,\\\\"}'), 2);
  assert.equal(await parts(`[${"1,".repeat(9_999)}1]`), 10_000);
  await assert.rejects(parts(`[${"[],".repeat(5_000)}1]`), { code: "invalid_request" });
  for (const text of ['"["open', '"open', '"open\\'])
    await assert.rejects(parts(text), { code: "invalid_request" }, text);
});

test("a body in pieces of one byte is one piece of memory, and has at most 4,000 of them", async () => {
  const inBytes = (length: number) => {
    const bytes = Buffer.from(JSON.stringify("é".repeat(length / 2 - 1)));
    const sent = setUp({ "transfer-encoding": "chunked" });
    for (let i = 0; i < bytes.length; i++) sent.request.write(bytes.subarray(i, i + 1));
    sent.request.end();
    return sent;
  };
  const { taken, body } = inBytes(4_000);
  assert.equal(await body, "é".repeat(1_999));
  assert.ok(taken.length < 10, "room is taken in large steps");
  await assert.rejects(inBytes(4_002).body, { code: "body_too_large" });
});

test("an empty body is none; what has one says that it is JSON, and is UTF-8 and not too large", async () => {
  const read = async (headers: Record<string, string | undefined>, bytes: string | Uint8Array = "") => {
    const request = Object.assign(new PassThrough(), { headers });
    const terms = { bytesMax: 10, slowMs: SLOW_MS, holding: () => new ByteReservation(() => {}) };
    const body = readJson(request as unknown as IncomingMessage, terms);
    request.end(bytes);
    return body.catch((error: Failure) => error.code);
  };
  const json = { "content-type": "application/json; charset=utf-8" };
  for (const headers of [{}, { "content-length": "0" }, json, { ...json, "content-length": "0" }])
    assert.equal(await read(headers), undefined);
  assert.equal(await read({ ...json, "transfer-encoding": "chunked" }), undefined);
  assert.equal(await read({ "content-type": "text/plain" }), "unsupported_media_type");
  for (const headers of [{ "content-length": "2" }, { "transfer-encoding": "chunked" }])
    assert.equal(await read(headers, "[]"), "unsupported_media_type");
  assert.equal(
    await read({ ...json, "content-length": "3" }, Uint8Array.of(0x22, 0xff, 0x22)),
    "invalid_request",
  );
  for (const sent of [{ "content-length": "10" }, { "transfer-encoding": "chunked" }])
    assert.deepEqual(await read({ ...json, ...sent }, "[123456,8]"), [123456, 8]);
  for (const sent of [{ "content-length": "11" }, { "transfer-encoding": "chunked" }])
    assert.equal(await read({ ...json, ...sent }, "[1234567,9]"), "body_too_large");
});
