/**
 * One process of a test run: imports the test files that its arguments name, and node:test runs what they declare,
 * prints the counts at the end and sets the exit status. A file that cannot be loaded is a failed test.
 */

import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { failAtOnce } from "./quick-assert.ts";
import { endWithTests, limitRun } from "./time-limit.ts";

/** Four times the processor time of a run on two cores, so that a busy machine is no failure. */
const RUN_LIMIT_MS = 30 * 60_000;

failAtOnce();
limitRun(RUN_LIMIT_MS);
// An interrupted run ends by way of the "exit" listeners, which stop and remove its PostgreSQL and its browser.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

// No test begins before all files are loaded: node:test would take the last test of the files loaded so far for
// the last of all, and run the hooks that end the PostgreSQL and the browser.
let openGate = () => {};
const loaded = new Promise<void>((resolve) => {
  openGate = resolve;
});
before(() => loaded);

for (const file of process.argv.slice(2)) {
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    test(`${file} can be loaded`, () => {
      throw error;
    });
  }
}
const { TEST_GRACE_MS } = process.env;
endWithTests(TEST_GRACE_MS === undefined ? undefined : Number(TEST_GRACE_MS));
openGate();
