/**
 * A worker of a Citus cluster that hangs instead of stopping: no connection breaks, and nothing answers. Its users get
 * 503 within the time limits, those of the other worker go on, and everything goes on when it wakes.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { makeKey, Nodes } from "../postgres/nodes.ts";
import { assertAllThere, encode, Load, statusOf, until, usersByWorker } from "./load.ts";
import { newDistributedDatabase, startCluster } from "./shared-cluster.ts";

const DATABASE = "frozen";
/** 5 s for a connection, 5 s for a statement and 1 s for its answer, after as much for the group before it; a busy machine adds to that. */
const ANSWER_MS = 40_000;
/** Half a minute under load, as docs/CLUSTER.md says; a busy machine needs more. */
const OTHERS_MS = 120_000;
const QUIET_MS = 3000;

async function inTime(call: Promise<number>): Promise<number> {
  const startMs = performance.now();
  const status = await call;
  const ms = Math.round(performance.now() - startMs);
  assert.ok(ms < ANSWER_MS, `answered within the time limits: ${status} after ${ms} ms`);
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
    const both = [await nodes.start(), await nodes.start(cluster.urlOf(cluster.workers[1], DATABASE))];
    const load = new Load(both, key, [...ofFirst.slice(0, 8), ...ofSecond.slice(0, 8)]);
    await load.more(200);

    first.freeze();
    for (const node of both) {
      assert.equal(await inTime(encode(node, key, ofFirst[20])), 503);
      assert.equal(await inTime(statusOf(node, `/context?user_id=${ofFirst[20]}`, key)), 503);
      await until(
        "others go on",
        async () => (await inTime(encode(node, key, ofSecond[20]))) === 200,
        OTHERS_MS,
      );
    }
    const spared = new Load(both, key, ofSecond.slice(8, 16));
    await until("nobody of the other worker is refused", async () => {
      const { stored, refused } = spared.counts;
      await setTimeout(QUIET_MS);
      return spared.counts.stored > stored && spared.counts.refused === refused;
    });
    for (const node of both) {
      // A machine that is busy by itself misses the time limits of a call now and then.
      for (const path of ["/readyz", `/context?user_id=${ofSecond[20]}`])
        await until(
          `${path} of others is answered`,
          async () => (await inTime(statusOf(node, path, key))) === 200,
        );
      assert.equal(await inTime(encode(node, key, ofFirst[20])), 503);
    }
    await spared.stop();

    first.thaw();
    for (const node of both)
      await until("the worker is back", async () => (await inTime(encode(node, key, ofFirst[20]))) === 200);
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
