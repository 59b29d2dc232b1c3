/** Users whom somebody else has locked: their writes are stored in the order in which they came. No database. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Failure } from "../../../src/base/errors.ts";
import { FairTurns } from "../../../src/base/fair-turns.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import { userSlot } from "../../../src/store/postgres/cluster/placement.ts";
import type { Database } from "../../../src/store/postgres/connection/database.ts";
import { GroupCommit } from "../../../src/store/postgres/group-commit.ts";
import { LockedUsers } from "../../../src/store/postgres/locked-users.ts";
import type { QueuedWrite } from "../../../src/store/postgres/write-queue.ts";
import { write } from "../../conformance/store-under-test.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { FakeClock } from "../blockwork/fake-workers.ts";

const LOCKED = () => Object.assign(new Error("lock timeout"), { code: "55P03" });

const REFUSED = () => Object.assign(new Error("invalid text"), { code: "22P02" });

/** @param answers what the database says to one call after the other: an error, or nothing where it stores */
function commitOn(
  answers: (call: number, isLong: boolean) => Error | undefined,
  workerOf = (_slot: number) => 0,
): GroupCommit {
  let calls = 0;
  const database = {
    commit: async (_: unknown, isLong: boolean) => {
      calls += 1;
      const call = calls;
      await setImmediate();
      const error = answers(call, isLong);
      if (error !== undefined) throw error;
      return Array(2).fill({ outcome: "limit", used: 0 });
    },
  } as unknown as Database;
  return new GroupCommit(database, {
    turns: new FairTurns(),
    queueMax: 100,
    groupMax: 2,
    historyMax: 8,
    lockWaitMs: 1000,
    metrics: new Metrics(),
    monotonic: new FakeClock(),
    workerOf,
    isCluster: () => false,
  });
}

function queued(userId: string, value: string): QueuedWrite {
  return { request: write(userId, [[0, value]]), queuedMs: 0, answered: false, resolve() {}, reject() {} };
}

const valuesOf = (group: readonly QueuedWrite[]) =>
  group.map(
    ({
      request: {
        changes: [change],
      },
    }) => (change.kind === undefined ? change.value : null),
  );

test("held users: what comes during an attempt waits behind what was held before", async () => {
  const attempts: (string | null)[][] = [];
  const held = new LockedUsers({
    commit: async (group) => {
      attempts.push(valuesOf(group));
      if (attempts.length > 1) return "stored";
      assert.ok(held.take(queued("locked", "third")));
      return "locked";
    },
    giveUp: (group) => assert.equal(group.length, 0),
    groupMax: 256,
    waitMaxMs: 1000,
    monotonic: new FakeClock(),
  });
  // After a user whose writes are stored, the next round begins at once.
  held.add([queued("locked", "first"), queued("locked", "second"), queued("free", "beside")]);
  await held.running;
  assert.deepEqual(attempts, [["first", "second"], ["beside"], ["first", "second", "third"]]);
});

test("group commit: queued writes of a locked user do not overtake those that are held", async () => {
  // The group of both users, and the first attempt with the locked one alone.
  const commit = commitOn((call) => (call <= 2 ? LOCKED() : undefined));
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

test("group commit: a write of many facts is stored apart, so that others do not wait for it", async () => {
  const commits: boolean[] = [];
  const commit = commitOn((_, isLong) => void commits.push(isLong));
  const named = (count: number): [number, string][] => Array.from({ length: count }, (_, i) => [i, "x"]);
  const value = { value: "x", revision: 1, ordinal: 1, updatedAtMs: 1, sinceMs: 1 };
  const values = [{ ...value, writtenBy: null, sessionId: null }];
  const lives = Array.from({ length: 65 }, (_, i) => ({ place: "", label: `OWN.l${i}`, values }));
  await Promise.all([
    commit.write(write("ada", [], { changes: [{ kind: "import", lives }] })),
    commit.write(write("bob", named(40))),
    commit.write(write("eve", named(1))),
  ]);
  assert.deepEqual(commits.sort(), [false, true]);
  await commit.close();
});

test("group commit: of the writes of a held user, one that the database refuses fails alone", async () => {
  // The group, the held group, and then each write by itself.
  const answers = [LOCKED(), REFUSED(), REFUSED(), undefined];
  const commit = commitOn((call) => {
    assert.ok(call <= answers.length, "no write is tried again");
    return answers[call - 1];
  });
  const ends = await Promise.allSettled(
    ["refused", "fine"].map((value) => commit.write(write("held", [[0, value]]))),
  );
  assert.deepEqual(fieldsOf(ends, "status"), ["rejected", "fulfilled"]);
  await commit.close();
});

test("group commit: closing waits for the writes of a worker that is set apart meanwhile", async () => {
  const away = () => new Failure("store_unavailable", "The worker is away.");
  let closed: Promise<void> | undefined;
  let later: "waits" | "stored" = "waits";
  const commit = commitOn(
    (call) => {
      if (call > 3) return undefined;
      // The group of both workers fails, and then each worker by itself.
      closed ??= Promise.resolve().then(() => {
        void commit.write(write("away", [[0, "later"]])).then(() => {
          later = "stored";
        });
        return commit.close();
      });
      return away();
    },
    (slot) => (slot === userSlot("acme", "away") ? 1 : 0),
  );
  await Promise.allSettled(["away", "there"].map((user) => commit.write(write(user, [[0, "first"]]))));
  await closed;
  assert.equal(later, "stored");
});
