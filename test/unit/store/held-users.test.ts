/** Users whom somebody else has locked: their writes are stored in the order in which they came. No database. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import type { Database } from "../../../src/store/postgres/connection/database.ts";
import { GroupCommit } from "../../../src/store/postgres/group-commit.ts";
import { HeldUsers } from "../../../src/store/postgres/held-users.ts";
import type { QueuedWrite } from "../../../src/store/postgres/write-queue.ts";
import { write } from "../../conformance/store.ts";
import { FakeClock } from "../blockwork/fake-workers.ts";

const LOCKED = () => Object.assign(new Error("lock timeout"), { code: "55P03" });

function queued(userId: string, value: string): QueuedWrite {
  return { request: write(userId, [[0, value]]), queuedMs: 0, answered: false, resolve() {}, reject() {} };
}

const valuesOf = (group: readonly QueuedWrite[]) => group.map(({ request }) => request.facts[0].value);

test("held users: what comes during an attempt waits behind what was held before", async () => {
  const attempts: string[][] = [];
  const held = new HeldUsers({
    commit: async (group) => {
      attempts.push(valuesOf(group));
      if (attempts.length > 1) return true;
      assert.ok(held.take(queued("locked", "third")));
      return false;
    },
    giveUp: (group) => assert.equal(group.length, 0),
    groupMax: 256,
    waitMaxMs: 1000,
    monotonic: new FakeClock(),
  });
  // After a user whose writes are stored, the next round begins at once.
  held.add([queued("locked", "first"), queued("locked", "second"), queued("free", "beside")]);
  await held.finished();
  assert.deepEqual(attempts, [["first", "second"], ["beside"], ["first", "second", "third"]]);
});

test("group commit: queued writes of a locked user do not overtake those that are held", async () => {
  let calls = 0;
  const database = {
    // The group of both users, and the first attempt with the locked one alone.
    write: async () => {
      calls += 1;
      if (calls <= 2) throw LOCKED();
      return [];
    },
  } as unknown as Database;
  const commit = new GroupCommit(database, {
    queueMax: 100,
    groupMax: 2,
    lockWaitMs: 1000,
    metrics: new Metrics(),
    monotonic: new FakeClock(),
    workerOf: () => 0,
  });
  const stored: string[] = [];
  const wishes = [
    ["locked", "first"],
    ["free", "beside"],
    ["locked", "second"],
    ["locked", "third"],
  ] as const;
  await Promise.all(
    wishes.map(async ([user, value]) => {
      await commit.write(write(user, [[0, value]]));
      stored.push(value);
    }),
  );
  assert.deepEqual(stored, ["beside", "first", "second", "third"]);
  await commit.close();
});
