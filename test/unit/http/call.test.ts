/** A call ends with its connection. */

import assert from "node:assert/strict";
import { type EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { after, before } from "node:test";
import { Answer, quotaHeaders, sendAnswer, wholeAnswer } from "../../../src/http/request/answer.ts";
import { Call, requesterOf } from "../../../src/http/request/call.ts";
import { clientReader } from "../../../src/http/request/client.ts";
import { test } from "./served-routes.ts";

const server = createServer();
before(() => once(server.listen(0, "127.0.0.1"), "listening"));
after(() => server.close());

async function callOf() {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const [request, response] = await once(server, "request");
  const call = new Call(
    request,
    response,
    "id",
    clientReader(() => false),
  );
  const send = (answer: Answer, nowMs = 0) => sendAnswer(response, wholeAnswer(call, answer, nowMs));
  return { call, response, socket, send };
}

const closed = (stream: EventEmitter) => new Promise((resolve) => stream.once("close", resolve));

test("hanging up ends a call, and the stream of its answer", async () => {
  const { call, response, socket, send } = await callOf();
  const { signal } = call;
  const body = new Readable({ read() {} });
  send(new Answer(body));
  socket.destroy();
  await Promise.all([closed(body), closed(response)]);
  assert.ok(signal.aborted);
  assert.ok(call.isGone);
});

test("whoever asks after the end is told at once, and a stream for nobody is not kept", async () => {
  const { call, response, socket, send } = await callOf();
  socket.destroy();
  await closed(response);
  assert.ok(call.signal.aborted);
  const body = new Readable({ read() {} });
  send(new Answer(body));
  assert.ok(body.destroyed);
});

test("a call that was answered is not ended by its connection's end, and has one signal", async () => {
  const { call, response, socket, send } = await callOf();
  const { signal } = call;
  assert.equal(call.signal, signal);
  assert.equal(call.isGone, false);
  send(new Answer("done", { headers: ["connection", "close"] }));
  socket.resume();
  await Promise.all([closed(response), closed(socket)]);
  assert.equal(signal.aborted, false);
});

test("an answer leaves whole, in whatever form, with the quota of a caller that has one", async () => {
  const sent = async (answer: Answer, more: Partial<Call> = {}) => {
    const { call, socket, send } = await callOf();
    Object.assign(call, more);
    send(answer, Date.UTC(2026, 10, 17));
    socket.setEncoding("utf8");
    let text = "";
    while (!text.includes("\r\n\r\n") || !/(0\r\n\r\n|>)$|^HTTP\/1.1 204/.test(text))
      text += (await once(socket, "data"))[0];
    socket.destroy();
    return text;
  };
  assert.match(await sent(new Answer("<plain>")), /length: 7\r\n.*\r\n\r\n<plain>$/is);
  assert.match(await sent(new Answer("<é 🧠>")), /length: 9\r\n.*\r\n\r\n<é 🧠>$/is);
  assert.match(await sent(new Answer(Buffer.from("<bytes>"))), /length: 7\r\n.*\r\n\r\n<bytes>$/is);
  assert.match(await sent(new Answer(undefined, { status: 204 })), /^HTTP\/1.1 204 .*\r\n\r\n$/s);
  const stream = new Answer(Readable.from(["<str", "eam>"]), { status: 206, type: "text/event-stream" });
  assert.match(await sent(stream), /^HTTP\/1.1 206 .*content-type: text\/event-stream.*<str\r\n.*eam>/is);
  const limited = { limit: 10 } as Call["caller"];
  assert.match(await sent(new Answer("<>"), { caller: limited, used: 3 }), /x-ratelimit-remaining: 7\r\n/i);
  assert.match(
    await sent(new Answer("<>", { used: 4 }), { caller: limited, used: 3 }),
    /x-ratelimit-remaining: 6/i,
  );
  const unlimited = { limit: null } as Call["caller"];
  for (const caller of [unlimited, undefined])
    assert.doesNotMatch(await sent(new Answer("<>"), { caller }), /ratelimit/i);
});

test("the requester of block work is the call's account, and ends with the call", async () => {
  const { signal } = new AbortController();
  const requester = requesterOf({ signal }, { account: "acme", tier: "pro" });
  assert.deepEqual([requester.account, requester.tier, requester.signal], ["acme", "pro", signal]);
});

test("the headers of a quota say what is left of the month, and never less than nothing", async () => {
  const nowMs = Date.UTC(2026, 10, 30, 23, 59, 58, 500);
  const resetS = String(Date.UTC(2026, 11, 1) / 1000);
  const headers = (remaining: string) => [
    ...["ratelimit-policy", '"monthly";q=1000;w=2592000', "ratelimit", `"monthly";r=${remaining};t=2`],
    ...["x-ratelimit-limit", "1000", "x-ratelimit-remaining", remaining, "x-ratelimit-reset", resetS],
  ];
  assert.deepEqual(quotaHeaders(1000, 1, nowMs), headers("999"));
  assert.deepEqual(quotaHeaders(1000, 1001, nowMs), headers("0"));
});
