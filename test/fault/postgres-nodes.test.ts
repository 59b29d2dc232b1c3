/**
 * Several nodes on one PostgreSQL: exact limits, no circle of waiting nodes, nothing acknowledged lost when a
 * node is killed or the database is away, and answers that are right on every node.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import postgres from "postgres";
import { PostgresServer } from "../../bench/store/postgres-server.ts";
import { CHANNELS } from "../../src/base/channels.ts";
import type { Failure } from "../../src/base/errors.ts";
import type { WriteOutcome, WriteRequest } from "../../src/memory/ports.ts";
import type { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { write } from "../conformance/store-under-test.ts";
import { changesOf } from "../fixtures/views.ts";
import { until } from "../fixtures/waiting.ts";
import { makeKey, Nodes, type TestNode } from "../postgres/nodes.ts";
import { newDatabase, openStore } from "../postgres/server.ts";

const FREE_LIMIT = 1000;
const quota = { keyId: "free-key", month: "2026-11", day: "2026-11-15", limit: FREE_LIMIT };

/** As a client does it: what a node that stood still for seconds has lost is sent again. */
async function send(store: PostgresStore, request: WriteRequest): Promise<WriteOutcome> {
  for (let lost = 1; ; lost++) {
    try {
      return await store.write(request);
    } catch (error) {
      if (lost === 5 || !/^(?:outcome_unknown|store_unavailable)$/.test((error as Failure).code)) throw error;
    }
  }
}

const fingerprint = Buffer.alloc(32, 1);
const expiresAtMs = Date.now() + 3_600_000;

test("ten nodes hammering one free key let exactly 1,000 encodes through", async () => {
  const url = await newDatabase();
  const nodes = await Promise.all(Array.from({ length: 10 }, () => openStore(url, { poolMax: 2 })));
  const callers = nodes.flatMap((store, n) =>
    Array.from({ length: 4 }, (_, c) => ({ store, name: `${n}-${c}` })),
  );
  const outcomes: WriteOutcome[] = [];
  await Promise.all(
    callers.map(async ({ store, name }) => {
      for (let i = 0; i < 30; i++) {
        const user = `u${name}-${i}`;
        const idempotency = { keyId: quota.keyId, key: user, fingerprint, expiresAtMs };
        outcomes.push(await send(store, write(user, [[0, "x"]], { quota, idempotency })));
      }
    }),
  );
  assert.equal(outcomes.length, 1200);
  const isStored = ({ outcome }: WriteOutcome) => outcome === "stored" || outcome === "replayed";
  assert.equal(outcomes.filter(isStored).length, FREE_LIMIT);
  assert.ok(
    outcomes.every(({ outcome, used }) => used <= FREE_LIMIT && (outcome !== "limit" || used === FREE_LIMIT)),
  );
  assert.equal(await nodes[3].readUsage(quota.keyId, quota.month), FREE_LIMIT);
  assert.deepEqual(await nodes[4].readDailyUsage(quota.keyId, quota.day, quota.day), [
    { day: quota.day, count: FREE_LIMIT },
  ]);
  assert.equal((await nodes[5].statistics()).facts, FREE_LIMIT);
  await Promise.all(nodes.map((store) => store.close()));
});

test("nodes that write the same users under the same keys never wait in a circle", async () => {
  const url = await newDatabase();
  const sql = postgres(url, { max: 1 });
  const [{ name }] = await sql`SELECT current_database() AS name`;
  // Sooner than a group gives up a lock: so that the server finds a circle, and counts it.
  await sql`ALTER DATABASE ${sql(name)} SET deadlock_timeout = '10ms'`;
  const nodes = await Promise.all(Array.from({ length: 4 }, () => openStore(url, { poolMax: 2 })));
  await Promise.all(
    nodes.map(async (store, n) => {
      for (let round = 0; round < 15; round++) {
        // Each node comes to users, keys and idempotency keys in another order.
        const order = Array.from({ length: 24 }, (_, i) => (n % 2 === 0 ? i : 23 - i));
        await Promise.all(
          order.map((i) =>
            send(
              store,
              write(`user-${i % 12}`, [[n * 8 + (round % 8), `${n}/${round}`]], {
                quota: { ...quota, keyId: `key-${i % 5}`, limit: i % 3 === 0 ? null : 1_000_000 },
                idempotency: {
                  keyId: "key",
                  key: `${round}-${i % 6}`,
                  fingerprint: Buffer.alloc(32, n),
                  expiresAtMs,
                },
              }),
            ),
          ),
        );
        // And to users alone: no counter lets one group in at a time.
        await Promise.all(order.map((i) => send(store, write(`user-${i}`, [[n, `${round}`]]))));
        await send(store, {
          ...write(`user-${(round + n) % 12}`, []),
          changes: changesOf([[n * 8, null]]),
        });
        // To some who come and go.
        const forget = (i: number) => ({ ...write(`gone-${i}`, []), changes: changesOf([[0, null]]) });
        await Promise.all(order.map((i) => send(store, write(`gone-${i}`, [[0, `${round}`]]))));
        await Promise.all(order.map((i) => send(store, forget(i))));
      }
    }),
  );
  const [{ deadlocks }] =
    await sql`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`;
  await sql.end();
  assert.equal(Number(deadlocks), 0);
  await Promise.all(nodes.map((store) => store.close()));
});

/** What callers may rely on: the last acknowledged value of each label, and how many there were in all. */
interface Acknowledged {
  readonly values: Map<string, string>;
  count: number;
}

/** Between two writes of a caller, and after a refusal: without a pause the callers would take all of the processor. */
const WRITE_PAUSE_MS = 10;
const REFUSED_PAUSE_MS = 100;

/** Writes until told to stop, to another node where one is gone. */
async function load(
  nodes: readonly TestNode[],
  first: number,
  key: string,
  caller: string,
  acknowledged: Acknowledged,
  running: () => boolean,
): Promise<void> {
  let turn = first;
  for (let i = 0; running(); i++, await setTimeout(WRITE_PAUSE_MS)) {
    const { label } = CHANNELS[i % CHANNELS.length];
    const value = `${caller} wrote ${i}`;
    const slot = `${caller}\n${label}`;
    // Until it is acknowledged the value may be the old or the new one: nothing can be said of it.
    acknowledged.values.delete(slot);
    try {
      const { status } = await nodes[turn % nodes.length].call("POST", "/encode", key, {
        user_id: caller,
        label,
        value,
      });
      if (status === 200) {
        acknowledged.values.set(slot, value);
        acknowledged.count += 1;
      } else await setTimeout(REFUSED_PAUSE_MS);
    } catch {
      turn += 1;
    }
  }
}

async function assertAllThere(node: TestNode, key: string, acknowledged: Acknowledged): Promise<void> {
  for (const [slot, value] of acknowledged.values) {
    const [caller, label] = slot.split("\n");
    const { body } = await node.call("GET", `/decode?user_id=${caller}&label=${label}`, key);
    assert.equal(body.value, value);
  }
}

test("three nodes: right on every node, a killed node and a stopped database lose nothing acknowledged", async () => {
  const server = await PostgresServer.start();
  const url = await server.createDatabase("nodes");
  const nodes = new Nodes(url);
  try {
    const { key, id } = await makeKey(url, "unlimited");
    const [a, b, c] = await Promise.all([nodes.start(), nodes.start(), nodes.start()]);

    // A block is never older than the last acknowledged encode, whichever node is asked.
    for (let i = 0; i < 10; i++) {
      const [writer, reader] = i % 2 === 0 ? [a, b] : [b, c];
      const fact = { user_id: "ada", label: "TASK.current", value: `step ${i}` };
      assert.equal((await writer.call("POST", "/encode", key, fact)).status, 200);
      const { body } = await reader.call("GET", "/context?user_id=ada", key);
      assert.equal(body.plain_index, `TASK.current=step ${i}`, JSON.stringify(body));
      const read = await writer.call("POST", "/read", key, { user_id: "ada", block: body.fdm_block });
      assert.equal(read.body.facts[0].value, fact.value, "one node reads the block of another");
    }

    // A node is killed under load.
    const acknowledged: Acknowledged = { values: new Map(), count: 0 };
    let running = true;
    const callers = Array.from({ length: 12 }, (_, i) =>
      load([a, b, c], i, key, `caller-${i}`, acknowledged, () => running),
    );
    while (acknowledged.count < 150) await setTimeout(5);
    await a.stop("SIGKILL");
    const before = acknowledged.count;
    while (acknowledged.count < before + 150) await setTimeout(5);

    // The database crashes under load.
    const ada = { user_id: "ada", label: "USER.name", value: "Ada" };
    await server.pause("immediate");
    const refused = await b.call("GET", "/decode?user_id=ada&label=TASK.current", key);
    assert.equal(refused.status, 503);
    assert.equal(refused.body.code, "store_unavailable");
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
    const encode = await c.call("POST", "/encode", key, ada);
    assert.equal(encode.status, 503);
    assert.ok(Number(encode.headers.get("retry-after")) >= 1);
    assert.equal((await b.call("GET", "/readyz")).status, 503);
    assert.equal((await b.call("GET", "/healthz")).status, 200);

    // It comes back: everything goes on without a restart.
    await server.resume();
    for (const node of [b, c]) {
      await until(async () => (await node.call("GET", "/readyz")).status === 200);
      await until(async () => (await node.call("POST", "/encode", key, ada)).status === 200);
    }
    // While the database was away every label was tried in vain, and nothing can be said of it: they are written anew.
    while (acknowledged.values.size < 150) await setTimeout(5);
    running = false;
    await Promise.all(callers);
    await assertAllThere(b, key, acknowledged);

    // A revoked key stops working on every node. Within five seconds: test/unit/store/keys-watch.test.ts has the clock.
    const operator = await openStore(url);
    await operator.changeKey(id, { revokedAtMs: Date.now() });
    await operator.close();
    for (const node of [b, c])
      await until(async () => (await node.call("GET", "/usage", key)).status === 403);

    for (const node of [b, c]) await node.stop("SIGTERM");
    assert.deepEqual(
      [b, c].map((node) => node.process.exitCode),
      [0, 0],
      "both end in order",
    );
  } finally {
    await nodes.end();
    await server.remove();
  }
});
