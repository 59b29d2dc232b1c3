/** Requests that are no HTTP, or too late, are answered on the bare socket. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { answerClientError } from "../../../src/http/request/problem.ts";

test("a request that is too late is answered, and its connection closed, though its client keeps it open", {
  timeout: 10_000,
}, async () => {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
  client.setEncoding("utf8");
  const [socket] = (await once(server, "connection")) as [Socket];
  answerClientError(Object.assign(new Error(), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
  const [[answer]] = await Promise.all([once(client, "data"), once(socket, "close")]);
  assert.match(answer, /^HTTP\/1.1 408 .*"code":"request_timeout"/s);
  client.destroy();
  server.close();
});
