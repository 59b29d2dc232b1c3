/** What clients of /mcp leave behind in the heap, by whatever way they go: nothing. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import v8 from "node:v8";
import { runInNewContext } from "node:vm";
import { until } from "../fixtures/waiting.ts";
import { sharedRunning, startRunning } from "../http/running-service.ts";

const running = sharedRunning(() =>
  startRunning({ SIDEBAND_LOG_LEVEL: "silent" }, undefined, { warm: false }),
);

v8.setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const clientInfo = { name: "test", version: "1.0.0" };
const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
const body = { jsonrpc: "2.0", id: 1, method: "initialize", params };
const accept = "application/json, text/event-stream";

/** How much the heap grows by `count` visits, after some that load and compile what is used. */
async function growthBytes(count: number, visit: (i: number) => Promise<void>): Promise<number> {
  const heapBytes = async () => {
    // What has hung up is noticed first.
    await until(() => running.service.core.metrics.value("sideband_connections") === 0);
    collect();
    return process.memoryUsage().heapUsed;
  };
  for (let i = 0; i < count / 10; i++) await visit(i);
  const before = await heapBytes();
  for (let i = 0; i < count; i++) await visit(i);
  return (await heapBytes()) - before;
}

test("80 connections that come and go leave the heap as it was", async () => {
  const grown = await growthBytes(80, async (i) => {
    const query = i % 2 === 0 ? "?user_id=visitor" : "";
    const answer = await running.call("POST", `/mcp${query}`, { body, headers: { accept } });
    assert.equal(answer.status, 200);
  });
  // Schemas compiled for each connection are 110 kB each; what is compiled and kept once is about 1 MB.
  assert.ok(grown < 3_000_000, `the heap has grown by ${grown} bytes`);
});

test("600 clients that hang up in the middle of a call leave the heap as it was", async () => {
  const { port } = new URL(running.url);
  const payload = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const head =
    `POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${running.key}\r\naccept: ${accept}\r\n` +
    `content-type: application/json\r\ncontent-length: ${payload.length}\r\n\r\n`;
  const grown = await growthBytes(600, async (i) => {
    const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
    await once(socket, "connect");
    // Every fourth with half of the body sent, the others with the answer under way.
    const sent = i % 4 === 0 ? payload.slice(0, payload.length / 2) : payload;
    await new Promise<void>((resolve) => void socket.write(head + sent, () => resolve()));
    socket.resetAndDestroy();
  });
  // A request that is kept has more than 5 kB.
  assert.ok(grown < 3_000_000, `the heap has grown by ${grown} bytes`);
});
