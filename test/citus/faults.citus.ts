/**
 * A Citus cluster under load, with one node on the coordinator and one on a worker: a worker stops and comes back, the
 * coordinator stops and comes back, shards move to a new worker. What was acknowledged stays, a stopped worker costs
 * its own users only, and everything goes on without a restart.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { withAdmin } from "../../bench/store/citus-cluster.ts";
import { userSlot } from "../../src/store/postgres/cluster/placement.ts";
import { makeKey, Nodes } from "../postgres/nodes.ts";
import { openStore } from "../postgres/server.ts";
import { assertAllThere, encode, Load, statusOf, until, usersByWorker } from "./load.ts";
import { newDistributedDatabase, startCluster } from "./shared-cluster.ts";

const DATABASE = "faults";

test("a Citus cluster loses nothing, and a stopped worker costs its own users only", async () => {
  const cluster = await startCluster(2);
  const url = await newDistributedDatabase(cluster, DATABASE);
  const nodes = new Nodes(url);
  try {
    // The number of a worker is that of its group, in the order in which they were added.
    const users = await usersByWorker(cluster, DATABASE);
    const [[, ofFirst], [, ofSecond]] = [...users].sort(([a], [b]) => a - b);
    const { key, id } = await makeKey(url, "pro");
    const { key: unlimited } = await makeKey(url, "unlimited");
    const atCoordinator = await nodes.start();
    const atWorker = await nodes.start(cluster.urlOf(cluster.workers[1], DATABASE));
    const both = [atCoordinator, atWorker];

    // Somebody has locked a user: that one waits, nobody else does.
    assert.equal(await encode(atCoordinator, key, ofFirst[22]), 200);
    await withAdmin(cluster.coordinator, DATABASE, (sql) =>
      sql.begin(async (tx) => {
        await tx`
          SELECT 1 FROM sideband.users WHERE slot = ${userSlot("acme", ofFirst[22])} AND account = 'acme'
            AND user_id = ${ofFirst[22]} FOR UPDATE`;
        let isStored = false;
        void encode(atCoordinator, key, ofFirst[22]).then((status) => {
          isStored = status === 200;
        });
        for (const user of [...ofFirst.slice(12, 20), ...ofSecond.slice(12, 20)])
          assert.equal(await encode(atCoordinator, key, user), 200);
        assert.ok(!isStored);
      }),
    );

    // 1. The first worker stops.
    const load = new Load(both, key, [...ofFirst.slice(0, 8), ...ofSecond.slice(0, 8)]);
    await load.more(200);
    await cluster.workers[0].pause("immediate");
    const spared = new Load(both, unlimited, ofSecond.slice(8, 16));
    await spared.more(100);
    assert.equal(spared.counts.refused, 0, "users of the other worker notice nothing");
    // Longer than nodes trust what they know of keys.
    await setTimeout(5000);
    for (const node of both) {
      assert.equal(await statusOf(node, "/readyz"), 200);
      assert.equal(await encode(node, key, ofSecond[20]), 200);
      assert.equal(await statusOf(node, `/context?user_id=${ofSecond[20]}`, key), 200);
      assert.equal(await statusOf(node, "/usage", unlimited), 200);
      assert.equal(await encode(node, key, ofFirst[20]), 503);
      assert.equal(await statusOf(node, `/context?user_id=${ofFirst[20]}`, key), 503);
    }
    const late = await nodes.start();
    assert.equal(await encode(late, key, ofSecond[21]), 200, "a node starts without the worker");
    const operator = await openStore(url);
    assert.ok(await operator.changeKey(id, { expiresAtMs: null }), "keys can be changed");
    await operator.close();
    await spared.stop();
    assert.equal(spared.counts.refused, 0);

    // 2. It comes back.
    await cluster.workers[0].resume();
    for (const node of both)
      await until("the worker is back", async () => (await encode(node, key, ofFirst[20])) === 200);
    await load.more(100);

    // 3. The coordinator stops and comes back.
    await cluster.coordinator.pause("immediate");
    await setTimeout(5000);
    for (const node of both) assert.equal(await encode(node, key, ofSecond[20]), 503);
    for (const node of both) assert.equal(await statusOf(node, "/readyz"), 503);
    await cluster.coordinator.resume();
    for (const node of both) {
      await until("the node is ready again", async () => (await statusOf(node, "/readyz")) === 200);
      await until("writes go on", async () => (await encode(node, key, ofSecond[20])) === 200);
    }

    // 4. A third worker takes over shards under load.
    await cluster.addWorker(DATABASE);
    await Promise.all([cluster.rebalance(DATABASE), load.more(100)]);
    await load.more(100);
    await load.stop();
    assert.equal((await usersByWorker(cluster, DATABASE)).size, 3);
    for (const node of both) {
      await assertAllThere(node, key, load.acknowledged);
      await assertAllThere(node, unlimited, spared.acknowledged);
    }

    // 5. A revoked key stops working on every node within five seconds, and the figures are of the whole cluster.
    const again = await openStore(url);
    await again.changeKey(id, { revokedAtMs: Date.now() });
    const revokedMs = performance.now();
    for (const node of both) {
      while ((await statusOf(node, "/usage", key)) !== 403) {
        assert.ok(performance.now() - revokedMs < 5000, "revoked within five seconds");
        await setTimeout(20);
      }
    }
    const statistics = await again.statistics();
    const [truth] = await withAdmin(
      cluster.coordinator,
      DATABASE,
      (sql) => sql<{ users: string; facts: string; bytes: string }[]>`
        SELECT (SELECT count(*) FROM sideband.users) AS users, (SELECT count(*) FROM sideband.facts) AS facts,
          citus_total_relation_size('sideband.users') + citus_total_relation_size('sideband.facts') AS bytes`,
    );
    assert.deepEqual([statistics.users, statistics.facts], [Number(truth.users), Number(truth.facts)]);
    assert.ok(statistics.sizeBytes > Number(truth.bytes) && statistics.sizeBytes < 20 * Number(truth.bytes));
    await again.close();
  } finally {
    await nodes.end();
    await cluster.remove();
  }
});
