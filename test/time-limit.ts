/**
 * Ends a test process that takes too long, with a line that names the tests still running, and one that something
 * keeps alive after its last test, with a line that says what; both with the exit status 1. The timers run in the
 * tests' own process and do not keep it alive; a test that never gives way to them, such as an endless loop without
 * an await, is not ended.
 */

import { after, beforeEach, type TestContext } from "node:test";

/** For what ends by itself soon after the last test, such as a connection that is being closed, on a busy machine too. */
const GRACE_MS = 60_000;
/** For node:test to print what it knows. */
const FAREWELL_MS = 1_000;

/** To be called before the first test is declared: the hook counts for the tests declared after it. */
export function limitRun(limitMs: number): void {
  const running = new Set<TestContext>();
  beforeEach((context) => {
    const test = context as TestContext;
    running.add(test);
    // A test's signal is aborted when the test has ended, however it ended; "afterEach" misses skipped ones.
    test.signal.addEventListener("abort", () => running.delete(test));
  });
  endAfter(limitMs, () => `it took longer than ${limitMs / 1000} s. ${unfinished(running)}`);
}

/** To be called after the last test is declared, so that the hooks that close what tests share come first. */
export function endWithTests(graceMs = GRACE_MS): void {
  after(() =>
    endAfter(graceMs, () => `its tests have ended, and something was left open (${openResources()}).`),
  );
}

function endAfter(ms: number, reason: () => string): void {
  setTimeout(() => {
    console.error(`The test process was ended: ${reason()}`);
    // node:test waits for this event with its counts, and cancels what has not ended.
    process.emit("beforeExit", 1);
    setTimeout(() => process.exit(1), FAREWELL_MS);
  }, ms).unref();
}

function unfinished(running: ReadonlySet<TestContext>): string {
  if (running.size > 0) return `Still running: ${[...running].map((test) => test.fullName).join("; ")}`;
  return `No test was running: a file or a hook has not ended, or something was left open (${openResources()}).`;
}

function openResources(): string {
  return [...new Set(process.getActiveResourcesInfo())].join(", ");
}
