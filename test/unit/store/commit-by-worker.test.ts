/** Group commit on a cluster, played by a trigger that fails for the users of one worker as Citus does. */

import assert from "node:assert/strict";
import { test } from "node:test";
import postgres from "postgres";
import { monotonicClock } from "../../../src/base/clock.ts";
import { FairTurns } from "../../../src/base/fair-turns.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import type { WriteOutcome } from "../../../src/memory/ports.ts";
import { userSlot } from "../../../src/store/postgres/cluster/placement.ts";
import { DATABASE_DEFAULTS, Database } from "../../../src/store/postgres/connection/database.ts";
import { GroupCommit } from "../../../src/store/postgres/group-commit.ts";
import { write } from "../../conformance/store-under-test.ts";
import { newDatabase, openStore } from "../../postgres/server.ts";

const DEAD = 1;
const workerOf = (slot: number) => slot % 3;

test("group commit: a worker that is away costs its own users only, and they come back with it", async () => {
  const url = await newDatabase();
  await (await openStore(url)).close();
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(`
    CREATE FUNCTION sideband.fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'connection to the remote node failed' USING ERRCODE = '08006'; END $$`);
  const stop = () =>
    sql.unsafe(`CREATE TRIGGER away BEFORE INSERT ON sideband.users
      FOR EACH ROW WHEN (NEW.slot % 3 = ${DEAD}) EXECUTE FUNCTION sideband.fail()`);
  const database = new Database({ ...DATABASE_DEFAULTS, url, poolMax: 8 });
  const commit = new GroupCommit(database, {
    turns: new FairTurns(),
    queueMax: 1000,
    groupMax: 256,
    historyMax: 8,
    lockWaitMs: 5000,
    metrics: new Metrics(),
    monotonic: monotonicClock,
    workerOf,
    isCluster: () => true,
  });
  const users = Array.from({ length: 30 }, (_, i) => `user-${i}`);
  const isDead = (user: string) => workerOf(userSlot("acme", user)) === DEAD;
  assert.ok(users.some(isDead) && !users.every(isDead));
  const round = async (value: string) => {
    const ends = await Promise.allSettled(users.map((user) => commit.write(write(user, [[0, value]]))));
    return users.filter((_, i) => ends[i].status === "rejected");
  };
  try {
    assert.deepEqual(await round("before"), []);
    await stop();
    for (const value of ["first", "second"]) assert.deepEqual(await round(value), users.filter(isDead));
    await sql`DROP TRIGGER away ON sideband.users`;
    for (const value of ["third", "fourth"]) assert.deepEqual(await round(value), []);
    const rows = await sql<{ value: string }[]>`SELECT value FROM sideband.facts`;
    assert.deepEqual(new Set(rows.map(({ value }) => value)), new Set(["fourth"]));
    assert.equal(rows.length, users.length);
    // Writes of one user keep their order when its worker stops in between.
    await stop();
    const [user] = users.filter(isDead);
    const ends: Promise<WriteOutcome | Error>[] = [];
    for (let i = 0; i < 50; i++) {
      for (const name of [user, users.filter((other) => !isDead(other))[0]])
        ends.push(commit.write(write(name, [[0, `value ${i}`]])).catch((error: Error) => error));
      if (i === 25) await sql`DROP TRIGGER away ON sideband.users`;
    }
    await Promise.all(ends);
    const last = await sql<{ value: string }[]>`
      SELECT value FROM sideband.facts WHERE user_id = ${user} AND label = 'USER.name'`;
    assert.equal(last[0].value, "value 49");
  } finally {
    await commit.close();
    await database.close();
    await sql.end();
  }
});
