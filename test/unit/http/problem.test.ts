/** Requests that Node gives up: what is said on the bare connection. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { answerClientError } from "../../../src/http/request/problem.ts";

test("a request that does not come to its end in time is a 408 problem, and its connection is closed", async () => {
  const server = createServer({ requestTimeout: 100, headersTimeout: 100, connectionsCheckingInterval: 20 });
  server.on("clientError", answerClientError);
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
  } finally {
    server.close();
  }
});
