/** The scheduler's rules, on a clock and workers that do what the test says. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../src/base/errors.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import { BlockScheduler, DEADLINE_MS, type Task, type Work } from "../../../src/blockwork/block-scheduler.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { FakeClock, FakeWorkers, settled } from "./fake-workers.ts";

function setUp({ threads = 1, queueMax = 10_000 } = {}) {
  const clock = new FakeClock();
  const workers = new FakeWorkers(threads);
  const metrics = new Metrics();
  const scheduler = new BlockScheduler({ workers, clock, queueMax, metrics });
  const results: unknown[] = [];
  /** Runs `count` tasks that `began` shows under this number. */
  const run = (work: Work, number: number, count = 1, size = 1): Promise<string> => {
    const task: Task<"code"> = {
      size,
      message: () => ({ kind: "code", channel: number, value: "" }),
      done: (result) => void results.push(result),
    };
    return scheduler.run(work, "code", new Array(count).fill(task)).then(
      () => "done",
      (error) => (error instanceof Failure ? `${error.message} ${error.extra.retryAfterS}` : String(error)),
    );
  };
  const metric = (name: string, labels: string) => metrics.value(name, labels);
  return { clock, workers, scheduler, run, results, metric, metrics };
}

const of = (account: string, more: Partial<Work> = {}): Work => ({ account, tier: "free", ...more });

test("a tenant with a thousand tasks delays another's first task by one task", async () => {
  const { workers, run } = setUp();
  void run(of("heavy"), 1, 1000);
  for (let i = 0; i < 5; i++) await workers.finish();
  void run(of("stranger"), 2);
  await workers.finish();
  assert.deepEqual(workers.began, [1, 1, 1, 1, 1, 1, 2]);
});

test("accounts take turns by the time used, not by the number of tasks", async () => {
  const { workers, run } = setUp();
  void run(of("dear"), 1, 100);
  void run(of("cheap"), 2, 100);
  for (let i = 0; i < 80; i++) await workers.finish(workers.began.at(-1) === 1 ? 30 : 10);
  const dear = workers.began.filter((number) => number === 1).length;
  assert.ok(dear >= 18 && dear <= 23, `${dear} of 81 tasks were the dear ones`);
});

test("whoever was idle starts at the present minimum: no credit for not having asked", async () => {
  const { workers, run } = setUp();
  void run(of("long there"), 1, 1000);
  for (let i = 0; i < 100; i++) await workers.finish();
  void run(of("new"), 2, 100);
  for (let i = 0; i < 40; i++) await workers.finish();
  const fresh = workers.began.slice(101).filter((number) => number === 2).length;
  assert.ok(fresh >= 19 && fresh <= 22, `${fresh} of the next 40`);
});

test("what was used is not forgiven by being idle for a moment", async () => {
  const { workers, run } = setUp();
  void run(of("steady"), 1, 1000);
  for (let i = 0; i < 10; i++) await workers.finish();
  void run(of("burst"), 2);
  await workers.finish(10);
  await workers.finish(100);
  void run(of("burst"), 3);
  for (let i = 0; i < 9; i++) await workers.finish(10);
  assert.ok(!workers.began.includes(3), "the others are to have their 100 ms first");
  for (let i = 0; i < 3; i++) await workers.finish(10);
  assert.ok(workers.began.includes(3));
});

test("with several threads, one account does not get them all at once", async () => {
  const { workers, run } = setUp({ threads: 3 });
  void run(of("blocker"), 0, 3);
  void run(of("first"), 1, 10);
  void run(of("second"), 2, 10);
  for (let i = 0; i < 3; i++) await workers.finish();
  assert.deepEqual(workers.began.slice(3).sort(), [1, 1, 2]);
});

test("what somebody waits for goes before background work, of any account", async () => {
  const { workers, run } = setUp();
  void run(of("a", { background: true }), 1, 3);
  void run(of("b", { background: true }), 2, 3);
  void run(of("a"), 3, 2);
  void run(of("b"), 4, 2);
  for (let i = 0; i < 5; i++) await workers.finish();
  assert.deepEqual(workers.began, [1, 4, 3, 4, 3, 2]);
});

test("background work runs one task at a time for each account", async () => {
  const { workers, run } = setUp({ threads: 4 });
  void run(of("a", { background: true }), 1, 3);
  void run(of("b", { background: true }), 2, 3);
  await settled();
  assert.deepEqual(workers.began, [1, 2]);
  await workers.finish();
  assert.deepEqual(workers.began, [1, 2, 1]);
});

test("background work takes turns by the time used, too", async () => {
  const { workers, run } = setUp();
  for (const [number, account] of ["a", "b"].entries())
    void run(of(account, { background: true }), number, 3);
  for (let i = 0; i < 5; i++) await workers.finish();
  assert.deepEqual(workers.began, [0, 1, 0, 1, 0, 1]);
});

test("an account has one background task at a time, however long that runs beside others' work", async () => {
  const { workers, run } = setUp({ threads: 2 });
  void run(of("a", { background: true }), 1);
  void run(of("b"), 2, 10);
  const [background] = workers.running.splice(0, 1);
  for (let i = 0; i < 5; i++) await workers.finish(100);
  workers.running.push(background);
  void run(of("a", { background: true }), 3);
  await workers.finish(100);
  assert.ok(!workers.began.includes(3), "its first one still runs");
});

test("whoever follows up on a result has no credit for the time in which others worked", async () => {
  const { workers, run } = setUp({ threads: 2 });
  const followed = run(of("a"), 1).then(() => run(of("a"), 3, 30));
  void run(of("b"), 2, 60);
  const [first] = workers.running.splice(0, 1);
  for (let i = 0; i < 20; i++) await workers.finish();
  workers.running.unshift(first);
  await workers.finish(1);
  const before = workers.began.length;
  for (let i = 0; i < 20; i++) await workers.finish();
  const own = workers.began.slice(before).filter((number) => number === 3).length;
  assert.ok(own >= 8 && own <= 13, `${own} of the next 20`);
  void followed;
});

test("background work is interrupted for what somebody waits for, and begins again afterwards", async () => {
  const { workers, run, metric } = setUp();
  const background = run(of("a", { background: true }), 1);
  void run(of("b", { background: true }), 2);
  assert.equal(workers.interrupted, 0);
  void run(of("c"), 3);
  assert.equal(workers.interrupted, 1);
  await workers.finish(50, { outcome: "interrupted" });
  for (let i = 0; i < 2; i++) await workers.finish();
  await workers.finish();
  assert.deepEqual(workers.began, [1, 3, 2, 1]);
  assert.equal(await background, "done");
  assert.equal(metric("sideband_block_tasks_total", 'kind="background",result="interrupted"'), 1);
  assert.equal(metric("sideband_block_queue_depth", 'kind="background"'), 0);
});

test("only background work may be interrupted, and what was given up meanwhile does not begin again", async () => {
  const { workers, run } = setUp({ threads: 2 });
  const caller = new AbortController();
  const gone = run(of("a", { background: true, signal: caller.signal }), 1);
  void run(of("b"), 2);
  assert.deepEqual(fieldsOf(workers.running, "interruptible"), [true, false]);
  caller.abort("hung up");
  assert.equal(await gone, "hung up");
  await workers.finish(10, { outcome: "interrupted" });
  assert.deepEqual(workers.began, [1, 2]);
});

test("a thread is asked for when a task finds none, and before; it begins as soon as one is ready", async () => {
  const { workers, scheduler, run } = setUp({ threads: 0 });
  scheduler.warm();
  assert.equal(workers.grown, 1);
  void run(of("a"), 1);
  assert.deepEqual([workers.grown, workers.began], [2, []]);
  workers.count = 1;
  workers.onIdle();
  assert.deepEqual(workers.began, [1]);
  assert.equal(scheduler.healthy, true);
});

test("a call is answered when the last of its tasks is done, though others were done or skipped before", async () => {
  const { workers, scheduler } = setUp({ threads: 2 });
  const message = () => ({ kind: "code", channel: 1, value: "" }) as const;
  const task = { size: 1, message, done: () => {} };
  const isAnswered = (call: Promise<void>) =>
    Promise.race([call.then(() => true), settled().then(() => false)]);
  const three = scheduler.run(of("a"), "code", [task, task, task]);
  await workers.finish();
  assert.equal(await isAnswered(three), false, "one is done, two run");
  await workers.finish();
  await workers.finish();
  await three;
  const none = { ...task, message: () => undefined };
  const skipped = scheduler.run(of("a"), "code", [task, none]);
  assert.equal(await isAnswered(skipped), false, "one runs, one was skipped");
  await workers.finish();
  await skipped;
  const between = scheduler.run(of("a"), "code", [task, none, task]);
  assert.equal(await isAnswered(between), false, "one was skipped before the other began");
  for (let i = 0; i < 2; i++) await workers.finish();
  await between;
});

test("what a result lets its requester ask for next goes before others' background work", async () => {
  const { workers, run } = setUp();
  const asked = run(of("a"), 1)
    .then(() => run(of("a"), 2))
    .then(() => run(of("a"), 3));
  void run(of("b", { background: true }), 9, 10);
  for (let i = 0; i < 3; i++) await workers.finish();
  assert.equal(await asked, "done");
  assert.deepEqual(workers.began, [1, 2, 3, 9]);
});

test("the queue is bounded; background work makes room, and is refused when there is none", async () => {
  const { workers, run, metric } = setUp({ queueMax: 8 });
  void run(of("a"), 0);
  const background = run(of("a", { background: true }), 1, 2);
  for (const account of ["b", "c", "d"]) void run(of(account), 2, 2);
  assert.match(await run(of("e", { background: true }), 1), /^Too much block work is waiting/);
  void run(of("e"), 3, 2);
  assert.equal(await background, "Dropped to make room for requests. 1");
  assert.match(await run(of("f"), 4), /^Too much block work is waiting/);
  assert.equal(metric("sideband_block_queue_depth", 'kind="code"'), 8);
  assert.equal(metric("sideband_block_tasks_total", 'kind="background",result="dropped"'), 2);
  assert.equal(metric("sideband_block_tasks_total", 'kind="code",result="refused"'), 1);
  await workers.finish();
  void run(of("f"), 4);
  await workers.finish();
  assert.ok(workers.began.length > 2);
});

test("one account cannot fill the queue for all", async () => {
  const { run } = setUp({ queueMax: 8 });
  void run(of("a"), 0);
  for (let i = 0; i < 2; i++) void run(of("a"), 1);
  assert.match(await run(of("a"), 1), /^Too much block work of this account/);
  const outcome = await Promise.race([run(of("b"), 2), settled().then(() => "waits")]);
  assert.equal(outcome, "waits");
});

test("background work of one account has a share of the queue, and its newest makes room first", async () => {
  const { run } = setUp({ queueMax: 8 });
  void run(of("a"), 0);
  const background = ["older", "newer"].map(() => run(of("b", { background: true }), 1));
  assert.match(await run(of("b", { background: true }), 1), /^Too much block work of this account/);
  for (const account of ["c", "d", "e"]) void run(of(account), 2, 2);
  void run(of("f"), 3);
  assert.equal(await background[1], "Dropped to make room for requests. 1");
  const outcome = await Promise.race([background[0], settled().then(() => "waits")]);
  assert.equal(outcome, "waits");
});

test("a request that would miss its deadline is refused at once, with the time to wait", async () => {
  const { workers, scheduler, run, metric } = setUp();
  // One task of size 1 is measured to take 100 ms.
  void run(of("a"), 0);
  await workers.finish(100);
  void run(of("a"), 1, 1 + (DEADLINE_MS / 100) * 1.5);
  assert.equal(await run(scheduler.begin(of("a")), 2), "The block work that is waiting takes too long. 15");
  assert.equal(metric("sideband_block_tasks_total", 'kind="code",result="refused"'), 1);
  // What would begin at the deadline itself is too late.
  const { workers: others, scheduler: exact, run: runExact } = setUp();
  void runExact(of("a"), 0);
  await others.finish(100);
  void runExact(of("a"), 1);
  void runExact(of("a"), 1, 1, DEADLINE_MS / 100);
  assert.match(await runExact(exact.begin(of("a")), 2), /takes too long. 10$/);
  // Another account waits for one task, not for all of them; and so it is let in.
  void run(scheduler.begin(of("b")), 3);
  await workers.finish(100);
  assert.equal(workers.began.at(-1), 3);
});

test("the expected wait counts what others run in the meantime, and is shared by the threads", async () => {
  const { workers, scheduler, run } = setUp({ threads: 2 });
  void run(of("a"), 0);
  await workers.finish(100);
  // Two tasks run, and those that wait take 12 and 16 seconds of one thread.
  void run(of("a"), 1, 1, 120);
  void run(of("b"), 2, 1, 160);
  void run(of("a"), 1, 1, 120);
  void run(of("b"), 2, 1, 160);
  const waits = (account: string, size: number) =>
    Promise.race([run(scheduler.begin(of(account)), 3, 2, size), settled().then(() => "waits")]);
  assert.match(await waits("c", 120), /takes too long. 14$/, "half of 12 and 16 s");
  assert.equal(await waits("c", 40), "waits", "half of twice its own 8 s");
});

test("own work is never the reason to refuse: alone, a request of any length begins", async () => {
  const { workers, scheduler, run } = setUp();
  void run(of("a"), 0);
  await workers.finish(1000);
  void run(scheduler.begin(of("a")), 1, 40);
  assert.deepEqual(workers.began, [0, 1]);
});

test("whoever still waits at the deadline is told so then, and its tasks are gone", async () => {
  const { clock, workers, scheduler, run, metric } = setUp();
  void run(of("a"), 0);
  const waits = run(scheduler.begin(of("b")), 1, 3);
  clock.advance(DEADLINE_MS - 1);
  assert.equal(metric("sideband_block_queue_depth", 'kind="code"'), 3);
  clock.advance(1);
  assert.equal(await waits, "The block work was not done in time. 1");
  assert.equal(metric("sideband_block_queue_depth", 'kind="code"'), 0);
  assert.equal(metric("sideband_block_tasks_total", 'kind="code",result="late"'), 3);
  await workers.finish();
  assert.deepEqual(workers.began, [0]);
  assert.equal(clock.alarmCount, 0);
});

test("a deadline that passes while the work is being let in is missed like any other, and leaves nothing behind", async () => {
  const { clock, workers, scheduler, run, metric } = setUp();
  void run(of("a"), 0);
  const work = scheduler.begin(of("b"));
  clock.advance(DEADLINE_MS - 1);
  const now = clock.now.bind(clock);
  clock.now = () => {
    const readMs = now();
    clock.advance(1);
    return readMs;
  };
  const late = run(work, 1);
  clock.now = now;
  clock.advance(100);
  assert.equal(await late, "The block work was not done in time. 1");
  assert.equal(metric("sideband_block_queue_depth", 'kind="code"'), 0);
  await workers.finish();
  assert.deepEqual(workers.began, [0]);
  assert.equal(clock.alarmCount, 0);
});

test("the time in which its own tasks run does not count against a request", async () => {
  const { clock, workers, scheduler, run } = setUp();
  const outcome = run(scheduler.begin(of("a")), 1, 5);
  for (let i = 0; i < 5; i++) {
    clock.advance(DEADLINE_MS * 0.7);
    await workers.finish(DEADLINE_MS * 0.7);
  }
  assert.equal(await outcome, "done");
  assert.equal(clock.alarmCount, 0);
});

test("after its own tasks have run, a request still has its time to wait for others", async () => {
  const { clock, workers, scheduler, run } = setUp();
  const outcome = run(scheduler.begin(of("a")), 1, 2);
  void run(of("b"), 2);
  for (let i = 0; i < 3; i++) {
    clock.advance(DEADLINE_MS * 0.7);
    await workers.finish(DEADLINE_MS * 0.7);
  }
  assert.equal(await outcome, "done");
  assert.deepEqual(workers.began, [1, 2, 1]);
});

test("a request that has run already is told at its deadline, too, when it waits for others that long", async () => {
  const { clock, workers, scheduler, run } = setUp();
  const outcome = run(scheduler.begin(of("a")), 1, 2);
  void run(of("b"), 2, 10);
  clock.advance(DEADLINE_MS * 0.7);
  await workers.finish(DEADLINE_MS * 0.7);
  for (let i = 0; i < 3; i++) clock.advance(DEADLINE_MS * 0.5);
  assert.equal(
    await Promise.race([outcome, settled().then(() => "waits")]),
    "The block work was not done in time. 1",
  );
  assert.deepEqual(workers.began, [1, 2]);
});

test("whoever hangs up has his waiting tasks removed; the running one ends unheard", async () => {
  const { clock, workers, scheduler, run, results, metric } = setUp();
  const caller = new AbortController();
  const gone = run(scheduler.begin(of("a", { signal: caller.signal })), 1, 10);
  void run(of("b"), 2);
  caller.abort("hung up");
  assert.equal(await gone, "hung up");
  assert.equal(metric("sideband_block_tasks_total", 'kind="code",result="cancelled"'), 9);
  assert.equal(metric("sideband_block_queue_depth", 'kind="code"'), 1);
  assert.equal(metric("sideband_block_running", 'kind="code"'), 1);
  await workers.finish();
  assert.deepEqual(workers.began, [1, 2]);
  assert.equal(results.length, 0);
  assert.equal(clock.alarmCount, 0);
  assert.equal(await run(of("a", { signal: caller.signal }), 3), "hung up");
});

test("a task that is not needed any more when its turn comes takes no thread", async () => {
  const { workers, scheduler } = setUp();
  let needed = true;
  const message = () => (needed ? ({ kind: "code", channel: 1, value: "" } as const) : undefined);
  const tasks = Array.from({ length: 3 }, () => ({ size: 1, message, done: () => {} }));
  const outcome = scheduler.run(of("a"), "code", tasks);
  needed = false;
  await workers.finish();
  await outcome;
  assert.deepEqual(workers.began, [1]);
});

test("a task that fails or costs its thread is its caller's alone, and the rest of that call is given up", async () => {
  const { workers, run, metric } = setUp();
  const lost = run(of("a"), 1, 3);
  const failed = run(of("b"), 2, 3);
  const well = run(of("c"), 3);
  await workers.finish(5000, { outcome: "lost" });
  assert.equal(await lost, "The block work could not be finished. 1");
  await workers.finish(1, { outcome: "error", error: "AssertionError" });
  assert.equal(await failed, "Error: block task failed: AssertionError");
  await workers.finish();
  assert.equal(await well, "done");
  assert.deepEqual(workers.began, [1, 2, 3]);
  assert.equal(metric("sideband_block_tasks_total", 'kind="code",result="lost"'), 1);
});

test("closing gives up all that waits at once, and takes nothing more", async () => {
  const { workers, scheduler, run } = setUp();
  const outcomes = [run(of("a"), 1, 5), run(of("b", { background: true }), 2, 5)];
  await scheduler.close();
  assert.deepEqual(await Promise.all(outcomes), new Array(2).fill("The service is stopping. 1"));
  assert.equal(await run(of("a"), 3), "The service is stopping. 1");
  await settled();
  assert.deepEqual([workers.began, workers.closed], [[1], true]);
});

test("metrics: time waited and processor time by tier of the account", async () => {
  const { clock, workers, run, metric, metrics } = setUp();
  void run(of("a"), 1);
  void run(of("b", { tier: "demo" }), 2);
  clock.advance(300);
  await workers.finish(300);
  await workers.finish(100);
  assert.equal(metric("sideband_block_processor_seconds_total", 'tier="free"'), 0.3);
  assert.equal(metric("sideband_block_processor_seconds_total", 'tier="demo"'), 0.1);
  assert.match(metrics.render(), /^sideband_block_wait_seconds_sum\{kind="code"\} 0\.3$/m);
  assert.match(metrics.render(), /^sideband_block_wait_seconds_count\{kind="code"\} 2$/m);
});
