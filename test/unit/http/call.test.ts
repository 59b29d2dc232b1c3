/** A call ends with its connection, also one whose answer waits behind another on it. */

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

/** So many requests at once on one connection. */
async function callsOf(count: number) {
  const calls: Call[] = [];
  const arrived = new Promise<void>((resolve) => {
    server.removeAllListeners("request").on("request", (request, response) => {
      calls.push(
        new Call(
          request,
          response,
          "id",
          clientReader(() => false),
        ),
      );
      if (calls.length === count) resolve();
    });
  });
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(count));
  await arrived;
  return { calls, socket };
}

const closed = (stream: EventEmitter) => new Promise((resolve) => stream.once("close", resolve));

test("hanging up ends the first call, those that wait behind it, and the streams of their answers", {
  timeout: 10_000,
}, async () => {
  const { calls, socket } = await callsOf(20);
  const signals = calls.slice(0, 10).map((call) => call.signal);
  const streams = calls.slice(10).map((call) => {
    const body = new Readable({ read() {} });
    sendAnswer(call, new Answer(body), 0);
    return closed(body);
  });
  socket.destroy();
  await Promise.all([...streams, ...calls.map(({ response }) => closed(response))]);
  assert.ok(signals.every(({ aborted }) => aborted));
  assert.ok(calls.every(({ isGone }) => isGone));
});

test("whoever asks after the end is told at once, and a stream for nobody is not kept", {
  timeout: 10_000,
}, async () => {
  const { calls, socket } = await callsOf(2);
  socket.destroy();
  await Promise.all(calls.map(({ response }) => closed(response)));
  for (const call of calls) {
    assert.ok(call.signal.aborted);
    const body = new Readable({ read() {} });
    sendAnswer(call, new Answer(body), 0);
    assert.ok(body.destroyed);
  }
});

test("an answer that had to wait for its turn leaves no listener on its connection", {
  timeout: 10_000,
}, async () => {
  const { calls, socket } = await callsOf(20);
  const connection = calls[0].request.socket;
  const listeners = connection.listenerCount("close");
  for (const call of calls) sendAnswer(call, new Answer("text"), 0);
  await Promise.all(calls.map(({ response }) => closed(response)));
  assert.ok(listeners >= 20 && connection.listenerCount("close") <= listeners - 19);
  socket.destroy();
});
