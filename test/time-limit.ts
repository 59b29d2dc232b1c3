/**
 * Ends a test run that takes too long, with a line that names the tests still running and the exit status 1. The
 * timer runs in the tests' own process and does not keep it alive; a test that never gives way to it, such as an
 * endless loop without an await, is not ended.
 */

import { beforeEach, type TestContext } from "node:test";

/** To be called before the first test is declared: the hook counts for the tests declared after it. */
export function limitRun(limitMs: number): void {
  const running = new Set<TestContext>();
  beforeEach((context) => {
    const test = context as TestContext;
    running.add(test);
    // A test's signal is aborted when the test has ended, however it ended; "afterEach" misses skipped ones.
    test.signal.addEventListener("abort", () => running.delete(test));
  });
  setTimeout(() => {
    console.error(`The test run was ended: it took longer than ${limitMs / 1000} s. ${unfinished(running)}`);
    process.exit(1);
  }, limitMs).unref();
}

function unfinished(running: ReadonlySet<TestContext>): string {
  if (running.size > 0) return `Still running: ${[...running].map((test) => test.fullName).join("; ")}`;
  const open = [...new Set(process.getActiveResourcesInfo())].join(", ");
  return `No test was running: a file or a hook has not ended, or something was left open (${open}).`;
}
