/**
 * Runs the tests in one process, which starts in a second where one process per file takes half a minute:
 * npm test [-- PART …]. Every test/**\/*.test.ts is imported, or those whose path contains one of the parts.
 * node:test runs what they declare, prints the counts at the end and sets the exit status. A file that cannot
 * be loaded is a failed test; finding no file at all is an error, and so is a run that takes too long.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { limitRun } from "./time-limit.ts";

/** Four times the processor time of a run on two cores, so that a busy machine is no failure. */
const RUN_LIMIT_MS = 30 * 60_000;

const root = fileURLToPath(new URL(".", import.meta.url));
const parts = process.argv.slice(2);
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .filter((path) => parts.length === 0 || parts.some((part) => join("test", path).includes(part)))
  .sort();

if (files.length === 0) {
  console.error(`no test file's path contains ${parts.length === 0 ? ".test.ts" : parts.join(" or ")}`);
  process.exitCode = 1;
}

limitRun(RUN_LIMIT_MS);
// An interrupted run ends by way of the "exit" listeners, which stop and remove its PostgreSQL and its browser.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

for (const file of files) {
  try {
    await import(pathToFileURL(join(root, file)).href);
  } catch (error) {
    test(`${file} can be loaded`, () => {
      throw error;
    });
  }
}
