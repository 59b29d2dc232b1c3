/**
 * A worker of a Citus cluster that hangs instead of stopping: no connection breaks, and nothing answers. Its users get
 * 503 within the time limits, those of the other worker go on, and everything goes on when it wakes.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeKey, Nodes, type TestNode } from "../postgres/nodes.ts";
import { assertAllThere, encode, Load, statusOf, until, usersByWorker } from "./load.ts";
import { newDistributedDatabase, startCluster } from "./shared-cluster.ts";

const DATABASE = "frozen";
/** 5 s for a connection, 5 s for a statement, 1 s for its answer, and as much again for the group before. */
const ANSWER_MS = 25_000;

async function timed(call: Promise<number>): Promise<number> {
  const startMs = performance.now();
  const status = await call;
  const ms = performance.now() - startMs;
  console.log(`${status} after ${Math.round(ms)} ms`);
  assert.ok(ms < ANSWER_MS, `an answer after ${Math.round(ms)} ms`);
  return status;
}

test("a worker that hangs costs its own users only", async () => {
  const cluster = await startCluster(2);
  const url = await newDistributedDatabase(cluster, DATABASE);
  const nodes = new Nodes(url);
  const [first] = cluster.workers;
  try {
    const users = await usersByWorker(cluster, DATABASE);
    const [[, ofFirst], [, ofSecond]] = [...users].sort(([a], [b]) => a - b);
    const { key } = await makeKey(url, "pro");
    const atCoordinator = await nodes.start();
    const atWorker = await nodes.start(cluster.urlOf(cluster.workers[1], DATABASE));
    const both: TestNode[] = [atCoordinator, atWorker];
    const load = new Load(both, key, [...ofFirst.slice(0, 8), ...ofSecond.slice(0, 8)]);
    await load.more(200);

    first.freeze();
    const frozenMs = performance.now();
    for (const node of both) {
      assert.equal(await timed(encode(node, key, ofFirst[20])), 503);
      assert.equal(await timed(statusOf(node, `/context?user_id=${ofFirst[20]}`, key)), 503);
      await until(
        "users of the other worker go on",
        async () => (await timed(encode(node, key, ofSecond[20]))) === 200,
      );
    }
    console.log("go on after", performance.now() - frozenMs);
    const spared = new Load(both, key, ofSecond.slice(8, 16));
    await spared.more(50);
    console.log(spared.counts, performance.now() - frozenMs);
    for (const node of both) assert.equal(await timed(statusOf(node, "/readyz")), 200);
    await spared.stop();
    console.log(spared.counts, performance.now() - frozenMs);

    first.thaw();
    for (const node of both)
      await until("the worker is back", async () => (await timed(encode(node, key, ofFirst[20]))) === 200);
    await load.more(100);
    await load.stop();
    for (const node of both) {
      await assertAllThere(node, key, load.acknowledged);
      await assertAllThere(node, key, spared.acknowledged);
    }
  } finally {
    first.thaw();
    await nodes.end();
    await cluster.remove();
  }
});
