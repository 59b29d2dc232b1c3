/** A call ends with its connection. */

import assert from "node:assert/strict";
import { type EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { Answer, sendAnswer } from "../../../src/http/request/answer.ts";
import { Call } from "../../../src/http/request/call.ts";
import { clientReader } from "../../../src/http/request/client.ts";

const server = createServer();
before(() => once(server.listen(0, "127.0.0.1"), "listening"));
after(() => server.close());

async function callOf() {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const [request, response] = await once(server, "request");
  const clientOf = clientReader(() => false);
  return { call: new Call(request, response, "id", clientOf), socket };
}

const closed = (stream: EventEmitter) => new Promise((resolve) => stream.once("close", resolve));

test("hanging up ends a call, and the stream of its answer", { timeout: 10_000 }, async () => {
  const { call, socket } = await callOf();
  const { signal } = call;
  const body = new Readable({ read() {} });
  sendAnswer(call, new Answer(body), 0);
  socket.destroy();
  await Promise.all([closed(body), closed(call.response)]);
  assert.ok(signal.aborted);
  assert.ok(call.isGone);
});

test("whoever asks after the end is told at once, and a stream for nobody is not kept", {
  timeout: 10_000,
}, async () => {
  const { call, socket } = await callOf();
  socket.destroy();
  await closed(call.response);
  assert.ok(call.signal.aborted);
  const body = new Readable({ read() {} });
  sendAnswer(call, new Answer(body), 0);
  assert.ok(body.destroyed);
});

test("a call that was answered is not ended by its connection's end, and has one signal", {
  timeout: 10_000,
}, async () => {
  const { call, socket } = await callOf();
  const { signal } = call;
  assert.equal(call.signal, signal);
  assert.equal(call.isGone, false);
  sendAnswer(call, new Answer("done", { headers: ["connection", "close"] }), 0);
  socket.resume();
  await Promise.all([closed(call.response), closed(socket)]);
  assert.equal(signal.aborted, false);
});
