/**
 * Runs the tests in one process, which starts in a second where one process per file takes half a minute:
 * npm test [-- PART …]. Every test/**\/*.test.ts is imported, or those whose path contains one of the parts.
 * node:test runs what they declare, prints the counts at the end and sets the exit status. A file that cannot
 * be loaded is a failed test; finding no file at all is an error.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

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

for (const file of files) {
  try {
    await import(pathToFileURL(join(root, file)).href);
  } catch (error) {
    test(`${file} can be loaded`, () => {
      throw error;
    });
  }
}
