/** The one writer of the embedded store, on a disk that can be held back, fail, or fail to say whether it did. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Failure } from "../../../src/base/errors.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import { noStep } from "../../../src/base/steps.ts";
import { type Change, CommitError, type Environment } from "../../../src/store/lmdb/environment.ts";
import { GroupCommit } from "../../../src/store/lmdb/group-commit.ts";
import { Writer } from "../../../src/store/lmdb/writer.ts";
import { FakeClock } from "../blockwork/fake-workers.ts";

/** Commits wait until they are confirmed or failed by hand. */
class HeldDisk {
  readonly entries = new Map<string, Buffer>();
  readonly waiting: { confirm: () => void; fail: (error: Error) => void; size: number }[] = [];

  get(_table: string, key: Buffer): Buffer | undefined {
    return this.entries.get(key.toString());
  }

  commit(changes: readonly Change[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const confirm = () => {
        for (const { key, value } of changes) this.entries.set(key.toString(), value!);
        resolve();
      };
      this.waiting.push({ confirm, fail: reject, size: changes.length });
    });
  }
}

function groupCommit(
  options: { queueMax?: number; confirmMs?: number; freeBytes?: () => number } = {},
  environment?: () => HeldDisk | undefined,
) {
  const disk = new HeldDisk();
  const clock = new FakeClock();
  const committed: number[] = [];
  const panics: CommitError[] = [];
  const commit = new GroupCommit(() => (environment?.() ?? disk) as unknown as Environment, {
    queueMax: 100,
    confirmMs: 60_000,
    ...options,
    metrics: new Metrics(),
    monotonic: clock,
    atStep: noStep,
    isOwner: () => true,
    onPanic: (error) => void panics.push(error),
    onCommitted: (changes) => void committed.push(changes.length),
  });
  const put = (key: string, value: string) =>
    commit.run((writer) => {
      const before = writer.get("meta", Buffer.from(key))?.toString();
      writer.put("meta", Buffer.from(key), Buffer.from(value));
      return before;
    });
  return { disk, commit, clock, put, committed, panics };
}

/** A group is made up in a turn of the event loop, and its commit is answered in the next. */
async function turn(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise(setImmediate);
}
const codeOf = (error: unknown) => (error as Failure).code;

test("group commit: nobody is answered before the disk has confirmed", async () => {
  const { disk, put } = groupCommit();
  let answered = false;
  const written = put("a", "1").then(() => {
    answered = true;
  });
  await turn();
  const meanwhile = [disk.waiting.length, answered];
  disk.waiting[0].confirm();
  await written;
  assert.deepEqual(meanwhile, [1, false]);
});

test("group commit: writes that take long are spread over groups, in their order, and one always runs", async () => {
  const { disk, commit, clock } = groupCommit();
  const order: string[] = [];
  const slow = (name: string, ms: number) =>
    commit.run((writer) => {
      order.push(name);
      clock.advance(ms);
      writer.put("meta", Buffer.from(name), Buffer.from("1"));
    });
  const written = [slow("a", 30), slow("b", 2), slow("c", 2), slow("d", 2), slow("e", 2)];
  const sizes: number[] = [];
  for (const _ of ["a", "b c d", "e"]) {
    await turn();
    sizes.push(disk.waiting[sizes.length].size);
    disk.waiting[sizes.length - 1].confirm();
  }
  await Promise.all(written);
  assert.deepEqual([sizes, order.join("")], [[1, 3, 1], "abcde"]);
});

test("group commit: what arrives while the disk is busy goes into one commit, and sees what came before it", async () => {
  const { disk, put } = groupCommit();
  const first = put("a", "1");
  await turn();
  const rest = [put("a", "2"), put("a", "3"), put("b", "1")];
  await turn();
  assert.equal(disk.waiting.length, 1, "one commit at a time");
  disk.waiting[0].confirm();
  assert.equal(await first, undefined);
  await turn();
  assert.equal(disk.waiting[1].size, 2);
  disk.waiting[1].confirm();
  assert.deepEqual(await Promise.all(rest), ["1", "2", undefined]);
});

test("group commit: of a write that fails nothing is left, however often it has changed an entry", async () => {
  const { disk, commit, put } = groupCommit();
  const before = put("a", "1");
  const failed = commit.run((writer) => {
    for (const value of ["2", "3"]) {
      writer.put("meta", Buffer.from("a"), Buffer.from(value));
      writer.setCount("uses", writer.count("uses") + 1);
    }
    throw new Error("a fault of its own");
  });
  const counted = commit.run((writer) => writer.count("uses"));
  await Promise.all([assert.rejects(failed, /of its own/), turn()]);
  disk.waiting[0].confirm();
  await before;
  assert.equal(await counted, 0);
  assert.equal(disk.entries.get("a")?.toString(), "1");
});

test("group commit: an answer that changes nothing waits for the commits before it", async () => {
  const { disk, commit, put } = groupCommit();
  const written = put("a", "1");
  await turn();
  let looked: string | undefined;
  const looking = commit
    .run((writer) => writer.get("meta", Buffer.from("a"))?.toString())
    .then((value) => {
      looked = value;
    });
  await turn();
  assert.equal(looked, undefined);
  disk.waiting[0].confirm();
  await Promise.all([written, looking]);
  assert.equal(looked, "1");
});

test("group commit: writes that change nothing, one after the other, leave the event loop to others", async () => {
  const { commit } = groupCommit();
  let turns = 0;
  let counting = setImmediate(function count() {
    turns += 1;
    counting = setImmediate(count);
  });
  for (let i = 0; i < 10; i++) await commit.run(() => {});
  clearImmediate(counting);
  assert.ok(turns >= 10, `${turns} turns`);
});

test("group commit: a failed commit is store_unavailable where nothing was stored, else outcome_unknown", async () => {
  for (const [nothingStored, code] of [
    [true, "store_unavailable"],
    [false, "outcome_unknown"],
  ] as const) {
    const { disk, put, panics } = groupCommit();
    const written = assert.rejects(put("a", "1"), (error) => codeOf(error) === code);
    await turn();
    disk.waiting[0].fail(new CommitError(new Error("no room"), nothingStored));
    await written;
    assert.equal(panics.length, nothingStored ? 0 : 1, "who cannot go on is told");
    const next = put("b", "1");
    await turn();
    disk.waiting[1].confirm();
    await next;
  }
});

test("group commit: a disk that does not confirm in time: its group is unknown, the rest was not stored", async () => {
  const { disk, commit, put } = groupCommit({ confirmMs: 20 });
  const inFlight = put("a", "1").catch(codeOf);
  await turn();
  const waiting = put("b", "1").catch(codeOf);
  assert.deepEqual(await Promise.all([inFlight, waiting]), ["outcome_unknown", "store_unavailable"]);
  assert.equal(await put("c", "1").catch(codeOf), "store_unavailable", "nothing is begun meanwhile");
  assert.equal(commit.recentFailure?.code, "store_unavailable");
  assert.equal(disk.waiting.length, 1);
  disk.waiting[0].confirm();
  await turn();
  const after = put("d", "1");
  await turn();
  disk.waiting[1].confirm();
  assert.equal(await after, undefined);
});

test("group commit: a failure is recent for five seconds, also where a smaller group finds room", async () => {
  const { disk, commit, clock, put } = groupCommit();
  const failed = put("a", "1").catch(codeOf);
  await turn();
  disk.waiting[0].fail(new Error("no space"));
  await failed;
  const stored = put("b", "1");
  await turn();
  disk.waiting[1].confirm();
  await stored;
  clock.advance(4_999);
  assert.equal(commit.recentFailure?.code, "store_unavailable");
  clock.advance(1);
  assert.equal(commit.recentFailure, undefined);
});

test("group commit: one write that throws is refused alone, and close finishes what waits", async () => {
  const { disk, commit, put } = groupCommit();
  const good = put("a", "1");
  const bad = assert.rejects(
    commit.run(() => {
      throw new Error("damaged");
    }),
    /damaged/,
  );
  await turn();
  await bad;
  const closed = commit.close();
  assert.equal(await put("c", "1").catch(codeOf), "store_unavailable");
  disk.waiting[0].confirm();
  await Promise.all([good, closed]);
});

test("group commit: a full queue refuses, and takes writes again when it has room", async () => {
  const { disk, put } = groupCommit({ queueMax: 2 });
  const refused: string[] = [];
  const writes = ["a", "b", "c"].map((key) => put(key, "1").catch((error) => refused.push(codeOf(error))));
  await turn();
  const later = put("d", "1");
  disk.waiting[0].confirm();
  await Promise.all(writes);
  await turn();
  disk.waiting[1].confirm();
  assert.equal(await later, undefined);
  assert.deepEqual(refused, ["overloaded"]);
});

test("group commit: work between two groups runs alone, and writes go where it says", async () => {
  const next = new HeldDisk();
  let moved = false;
  const { disk, commit, put } = groupCommit({}, () => (moved ? next : undefined));
  const before = put("a", "1");
  await turn();
  const between = commit.between(async () => {
    moved = true;
  });
  const after = put("b", "1");
  await turn();
  assert.equal(moved, false);
  disk.waiting[0].confirm();
  await Promise.all([before, between]);
  await turn();
  assert.deepEqual([disk.waiting.length, next.waiting.length], [1, 1]);
  next.waiting[0].confirm();
  await after;
});

test("group commit: a write that fails half-way leaves nothing behind, and the writes beside it are stored", async () => {
  const { disk, commit, put } = groupCommit();
  const first = put("shared", "before");
  const broken = commit.run((writer) => {
    writer.put("meta", Buffer.from("shared"), Buffer.from("half"));
    writer.put("meta", Buffer.from("new"), Buffer.from("half"));
    writer.setCount("counted", 7);
    throw new Error("a programmer's error");
  });
  const last = put("other", "after");
  const counted = commit.run((writer) => writer.count("counted"));
  await Promise.all([
    assert.rejects(broken, /a programmer's error/),
    turn().then(() => disk.waiting[0].confirm()),
  ]);
  await Promise.all([first, last]);
  assert.equal(await counted, 0);
  assert.deepEqual(
    [...disk.entries].map(([key, value]) => [key, value.toString()]),
    [
      ["shared", "before"],
      ["other", "after"],
    ],
  );
});

test("group commit: a group that the disk confirms late is reported as on disk all the same", async () => {
  const { disk, put, committed } = groupCommit({ confirmMs: 1 });
  await assert.rejects(put("a", "1"), { code: "outcome_unknown" });
  assert.deepEqual(committed, []);
  disk.waiting[0].confirm();
  await turn();
  assert.deepEqual(committed, [1]);
});

test("group commit: a confirmation that comes with the end of its time counts, and the next write is taken", async () => {
  const { disk, put } = groupCommit({ confirmMs: 1 });
  const written = put("a", "1");
  await turn();
  const confirmed = setTimeout(() => setImmediate(() => disk.waiting[0].confirm()), 1);
  // As after a stop and a continue of the process: both timers are due in the same turn of the event loop.
  for (const endMs = performance.now() + 10; performance.now() < endMs; );
  await written.finally(() => clearTimeout(confirmed));
  await turn();
  const next = put("b", "1");
  await turn();
  disk.waiting[1].confirm();
  assert.equal(await next, undefined);
});

test("group commit: a group is refused where the disk has not room for each of its changes and a reserve", async () => {
  let freeBytes = 2 ** 18 + 3 * 16_384 - 1;
  const { disk, put } = groupCommit({ freeBytes: () => freeBytes });
  const three = () => Promise.all(["a", "b", "c"].map((key) => put(key, "1").catch(codeOf)));
  assert.deepEqual(await three(), new Array(3).fill("store_unavailable"));
  freeBytes += 1;
  const written = three();
  await turn();
  disk.waiting[0].confirm();
  assert.deepEqual(await written, new Array(3).fill(undefined));
});

test("group commit: whoever is refused is told when to try again", async () => {
  const { disk, put } = groupCommit({ queueMax: 1 });
  const retryOf = (written: Promise<unknown>) =>
    written.then(
      () => assert.fail("it is refused"),
      ({ extra }: Failure) => extra.retryAfterS,
    );
  const failing = retryOf(put("a", "1"));
  assert.equal(await retryOf(put("b", "1")), 1, "the queue is full");
  await turn();
  const cause = new Error("no room");
  disk.waiting[0].fail(new CommitError(cause, true));
  assert.equal(await failing, 5);
  const unknown = put("a", "1").catch((error: Failure) => error);
  await turn();
  const broken = new CommitError(cause, false);
  disk.waiting[1].fail(broken);
  const { extra } = (await unknown) as Failure;
  assert.deepEqual([extra.retryAfterS, extra.cause], [5, broken]);
});

test("a writer sees the keys of a range as its group has left them", () => {
  const stored = ["b", "c", "d"].map((key) => Buffer.from(key));
  const environment = { keys: () => stored, has: () => true } as unknown as Environment;
  const writer = new Writer(environment);
  const value = Buffer.of(1);
  for (const key of ["a", "b", "e", "f"]) writer.put("labels", Buffer.from(key), value);
  writer.put("keys", Buffer.from("dd"), value);
  for (const key of ["c", "e"]) writer.remove("labels", Buffer.from(key));
  const range = { start: Buffer.from("b"), end: Buffer.from("f") };
  assert.deepEqual(writer.keys("labels", range).map(String), ["b", "d"]);
  const has = (key: string) => writer.has("labels", Buffer.from(key));
  assert.deepEqual([has("a"), has("c"), has("d")], [true, false, true]);
});
