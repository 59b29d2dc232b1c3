/** Requests that are no HTTP, or too late, are answered on the bare socket. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { BareAnswers } from "../../../src/http/connection/bare-answers.ts";

const counted: number[] = [];
const answers = new BareAnswers({ countBare: (status) => void counted.push(status) });

test("a request that is too late is answered, and its connection closed, though its client keeps it open", {
  timeout: 60_000,
}, async () => {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
  client.setEncoding("utf8");
  const [socket] = (await once(server, "connection")) as [Socket];
  answers.clientError(Object.assign(new Error(), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
  const [[answer]] = await Promise.all([once(client, "data"), once(socket, "close")]);
  assert.match(answer, /^HTTP\/1.1 408 .*"code":"request_timeout"/s);
  client.destroy();
  server.close();
});

test("a request that does not come to its end in time is a 408 problem, and its connection is closed", async () => {
  const server = createHttpServer({
    requestTimeout: 100,
    headersTimeout: 100,
    connectionsCheckingInterval: 20,
  });
  server.on("clientError", answers.clientError);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    for (const beginning of [
      "POST /encode HTTP/1.1\r\nHost: x\r\n",
      "POST /encode HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
    ]) {
      const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").setEncoding("utf8");
      socket.write(beginning);
      let text = "";
      for await (const chunk of socket) text += chunk;
      const [head, body] = text.split("\r\n\r\n");
      assert.match(head, /^HTTP\/1.1 408 .*application\/problem\+json.*Connection: close$/s);
      const { code, status } = JSON.parse(body);
      assert.deepEqual([code, status], ["request_timeout", 408]);
    }
    assert.deepEqual(counted, [408, 408, 408]);
  } finally {
    server.close();
  }
});
