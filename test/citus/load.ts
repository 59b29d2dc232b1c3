/** What the fault tests of a cluster need: callers that write all the time, and users by the worker that holds them. */

import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { type CitusCluster, withAdmin } from "../../bench/store/citus-cluster.ts";
import { CHANNELS } from "../../src/base/channels.ts";
import { readWorkers } from "../../src/store/postgres/cluster/distribution.ts";
import { userSlot } from "../../src/store/postgres/cluster/placement.ts";
import type { TestNode } from "../postgres/nodes.ts";

const BACK_MS = 30_000;

/** What callers may rely on: the last acknowledged value of each label of a user. */
type Acknowledged = Map<string, string>;

export class Load {
  readonly acknowledged: Acknowledged = new Map();
  readonly counts = { stored: 0, refused: 0 };
  #running = true;
  readonly #callers: Promise<void>[];

  constructor(nodes: readonly TestNode[], key: string, users: readonly string[]) {
    this.#callers = users.map((user, i) => this.#call(nodes[i % nodes.length], key, user));
    // Told by stop(), and by nobody if the test fails before.
    for (const caller of this.#callers) caller.catch(() => {});
  }

  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#callers);
  }

  async more(count: number): Promise<void> {
    const target = this.counts.stored + count;
    const endMs = performance.now() + BACK_MS;
    while (this.counts.stored < target) {
      assert.ok(performance.now() < endMs, "writes go on");
      await setTimeout(20);
    }
  }

  async #call(node: TestNode, key: string, user: string): Promise<void> {
    for (let i = 0; this.#running; i++) {
      const { label } = CHANNELS[i % CHANNELS.length];
      const value = `${user} wrote ${i}`;
      // Until it is acknowledged the value may be the old or the new one: nothing can be said of it.
      this.acknowledged.delete(`${user}\n${label}`);
      const answer = await node.call("POST", "/encode", key, { user_id: user, label, value });
      if (answer.status === 200) {
        this.acknowledged.set(`${user}\n${label}`, value);
        this.counts.stored += 1;
      } else {
        assert.equal(answer.status, 503, JSON.stringify(answer.body));
        this.counts.refused += 1;
        await setTimeout(50);
      }
    }
  }
}

export async function assertAllThere(node: TestNode, key: string, acknowledged: Acknowledged): Promise<void> {
  assert.ok(acknowledged.size > 0);
  for (const [slot, value] of acknowledged) {
    const [user, label] = slot.split("\n");
    const { status, body } = await node.call("GET", `/decode?user_id=${user}&label=${label}`, key);
    assert.deepEqual([status, body.value], [200, value], slot);
  }
}

export async function until(what: string, holds: () => Promise<boolean>, withinMs = BACK_MS): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await holds())) {
    assert.ok(performance.now() < endMs, what);
    await setTimeout(100);
  }
}

export const statusOf = async (node: TestNode, path: string, key?: string) =>
  (await node.call("GET", path, key)).status;

export async function encode(node: TestNode, key: string, user: string): Promise<number> {
  const body = { user_id: user, label: "USER.name", value: user };
  return (await node.call("POST", "/encode", key, body)).status;
}

/** Users of the account "acme" by the worker that holds them. */
export async function usersByWorker(cluster: CitusCluster, database: string): Promise<Map<number, string[]>> {
  const workers = await withAdmin(cluster.coordinator, database, (sql) => readWorkers()(sql as never));
  const users = new Map<number, string[]>();
  for (const user of Array.from({ length: 120 }, (_, i) => `user-${i}`)) {
    const worker = Number(workers?.[userSlot("acme", user)]);
    users.set(worker, [...(users.get(worker) ?? []), user]);
  }
  assert.equal(users.size, cluster.workers.length);
  return users;
}
