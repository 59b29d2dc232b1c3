/** Which connections a pool gives back. The connections and the time are the test's. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Connection } from "../../../src/store/postgres/connection/connection.ts";
import { ConnectionPool } from "../../../src/store/postgres/connection/connection-pool.ts";

const MINUTE_MS = 60_000;

async function openPool(context: TestContext, count: number) {
  context.mock.timers.enable({ apis: ["setInterval"] });
  let nowMs = 0;
  context.mock.method(performance, "now", () => nowMs);
  const closed: object[] = [];
  const connections: { load: number; lastUsedMs: number }[] = [];
  const pool = new ConnectionPool(count, async () => {
    const connection = { load: 1, lastUsedMs: 0, isLost: false, close: async () => closed.push(connection) };
    connections.push(connection);
    return connection as unknown as Connection;
  });
  while (connections.length < count) {
    await pool.take();
    await new Promise(setImmediate);
  }
  const pass = (ms: number) => {
    nowMs += ms;
    context.mock.timers.tick(ms);
  };
  return { pool, connections, closed, pass };
}

test("connection pool: the unused connection is given back after a minute, one in use never", async (context) => {
  const { pool, connections, closed, pass } = await openPool(context, 2);
  const [busy, idle] = connections;
  idle.load = 0;
  pass(MINUTE_MS - 1);
  assert.deepEqual(closed, []);
  pass(MINUTE_MS);
  assert.deepEqual(closed, [idle]);
  assert.equal(await pool.take(), busy);
  busy.load = 0;
  pass(MINUTE_MS);
  assert.deepEqual(closed, [idle, busy]);
  await pool.close(0);
});
