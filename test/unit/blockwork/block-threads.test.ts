/** Threads that start, answer, take too long and do not start, on a clock that moves when told to. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { BlockMessage } from "../../../src/blockwork/block-tasks.ts";
import {
  BlockThreads,
  RESTART_MS,
  type Reply,
  TASK_BUDGET_MS,
  type ThreadEvents,
} from "../../../src/blockwork/block-threads.ts";
import { FakeClock } from "./fake-workers.ts";

const MESSAGE: BlockMessage = { kind: "code", channel: 0, value: "x" };

function setUp(count = 1) {
  const clock = new FakeClock();
  const started: {
    events: ThreadEvents;
    posted: BlockMessage[];
    held: boolean;
    ended: boolean;
    interrupted: number;
  }[] = [];
  const start = (events: ThreadEvents) => {
    const thread = { events, posted: [] as BlockMessage[], held: true, ended: false, interrupted: 0 };
    started.push(thread);
    return {
      post: (message: BlockMessage) => void thread.posted.push(message),
      interrupt: () => void thread.interrupted++,
      hold: (held: boolean) => {
        thread.held = held;
      },
      end: async () => {
        thread.ended = true;
      },
    };
  };
  return { clock, started, threads: new BlockThreads({ start, count, clock }) };
}

test("a thread takes tasks once it has said that it is ready; more are started one at a time, up to the limit", () => {
  const { started, threads } = setUp(2);
  let told = 0;
  threads.onIdle = () => told++;
  threads.grow();
  threads.grow();
  assert.deepEqual([started.length, threads.idle], [1, 0]);
  started[0].events.ready();
  assert.deepEqual([told, threads.idle, started[0].held], [1, 1, false]);
  threads.grow();
  started[1].events.ready();
  threads.grow();
  assert.deepEqual([started.length, threads.idle], [2, 2]);
});

test("a task's answer comes back; the process stays alive for it, and only for it", async () => {
  const { clock, started, threads } = setUp();
  threads.grow();
  started[0].events.ready();
  const answer = threads.run(MESSAGE, { interruptible: false });
  assert.deepEqual([started[0].posted, started[0].held, threads.idle], [[MESSAGE], true, 0]);
  const reply: Reply = { outcome: "ok", result: 1, ms: 2 };
  started[0].events.replied(reply);
  assert.equal(await answer, reply);
  assert.deepEqual([started[0].held, threads.idle, clock.alarmCount], [false, 1, 0]);
});

test("an answer that comes while the threads are closed does not let the process end before they have", async () => {
  const { started, threads } = setUp();
  threads.grow();
  started[0].events.ready();
  const answer = threads.run(MESSAGE, { interruptible: false });
  const closed = threads.close();
  started[0].events.replied({ outcome: "ok", result: 1, ms: 2 });
  assert.equal(started[0].held, true);
  assert.equal((await answer).outcome, "lost");
  await closed;
});

test("a task is interrupted once, and only one that may be", () => {
  const { started, threads } = setUp(3);
  for (const interruptible of [false, true, true]) {
    threads.grow();
    started.at(-1)!.events.ready();
    if (started.length === 1) threads.interrupt();
    void threads.run(MESSAGE, { interruptible });
  }
  const interrupted = () => started.map((thread) => thread.interrupted);
  assert.deepEqual(interrupted(), [0, 0, 0], "a thread without a task is not interrupted");
  threads.interrupt();
  assert.deepEqual(interrupted(), [0, 1, 0]);
  started[2].events.replied({ outcome: "ok", ms: 1 });
  threads.interrupt();
  assert.deepEqual(interrupted(), [0, 1, 0]);
});

test("tasks over their budget cost their threads, however many, and the workers stay well", async () => {
  const { clock, started, threads } = setUp();
  for (let i = 0; i < 10; i++) {
    threads.grow();
    started[i].events.ready();
    const answer = threads.run(MESSAGE, { interruptible: false });
    clock.advance(TASK_BUDGET_MS);
    assert.equal((await answer).outcome, "lost");
    assert.deepEqual([started[i].ended, threads.idle, threads.healthy], [true, 0, true]);
  }
});

test("threads that do not start make the workers ill, are tried again, and one that starts makes them well", () => {
  const { clock, started, threads } = setUp();
  threads.grow();
  for (let i = 0; i < 3; i++) {
    assert.equal(threads.healthy, true);
    started[i].events.ended();
    threads.grow();
    assert.equal(started.length, i + 1, "not again at once");
    clock.advance(RESTART_MS);
    assert.equal(started.length, i + 2);
  }
  assert.equal(threads.healthy, false);
  started[3].events.ready();
  assert.equal(threads.healthy, true);
});

test("a thread that never says that it is ready is given up, and another is tried", () => {
  const { clock, started, threads } = setUp();
  threads.grow();
  clock.advance(29_999);
  assert.equal(started[0].ended, false);
  clock.advance(1);
  assert.equal(started[0].ended, true);
  let told = 0;
  threads.onIdle = () => told++;
  started[0].events.ready();
  assert.equal(told, 0, "too late");
  clock.advance(RESTART_MS);
  assert.equal(started.length, 2);
});

test("closing ends every thread, answers what they were at, and starts none", async () => {
  const { clock, started, threads } = setUp(2);
  threads.grow();
  started[0].events.ready();
  threads.grow();
  const answer = threads.run(MESSAGE, { interruptible: false });
  await threads.close();
  assert.equal((await answer).outcome, "lost");
  threads.grow();
  assert.deepEqual([started.length, started.every(({ ended }) => ended), clock.alarmCount], [2, true, 0]);
  // What a thread has sent before its end comes to nobody.
  for (const { events } of started) events.replied({ outcome: "ok", ms: 1 });
});
