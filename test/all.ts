/**
 * Runs the tests: npm test [-- PART …]. Every test/**\/*.test.ts, or those whose path contains one of the parts, in
 * a few processes with many files each, because one process per file takes half a minute to start. Finding no file
 * at all is an error.
 */

import { readdirSync } from "node:fs";
import { join, normalize } from "node:path";
import { buildWebsite, builtSideband, packageFolder } from "./agents/built.ts";
import { installMissing } from "./prepare.ts";
import { runTests, type TestProcess } from "./test-processes.ts";

const parts = process.argv.slice(2).map(normalize);
const files = readdirSync(join(packageFolder, "test"), { recursive: true, encoding: "utf8" })
  .map((path) => join("test", path))
  // The packages of test/tokenizers and test/hosts may be installed.
  .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))
  .filter((path) => parts.length === 0 || parts.some((part) => path.includes(part)))
  .sort();

const among = (folders: RegExp) => files.filter((path) => folders.test(path));
/** These start commands as people type them. */
const COMMANDS = /^test\/agents\/(operations|owner|printed|quickstart|readme|snippets|terminal|undo)/;
const CRASHES = /^test\/fault\/(crash|holds|test-run)/;
// A few run at a time, so that the longest come first, and those that mostly wait beside those that compute.
const processes: TestProcess[] = [
  { name: "browser", files: among(/^test\/e2e/) },
  { name: "crashes", files: among(CRASHES) },
  // With the package, so that it is packed once.
  { name: "agents", files: among(/^test\/(agents|package)/).filter((path) => !COMMANDS.test(path)) },
  { name: "commands", files: among(COMMANDS) },
  { name: "faults", files: among(/^test\/fault/).filter((path) => !CRASHES.test(path)) },
  // Two processes, so that `npm test -- unit` uses two cores. What needs PostgreSQL is in one of them.
  { name: "stores", files: among(/^test\/(property|unit\/store)\//) },
  { name: "clients", files: among(/^test\/(?!fault|agents|e2e|http|package|postgres|property|tidy|unit)/) },
  { name: "PostgreSQL", files: among(/^test\/postgres/) },
  { name: "HTTP", files: among(/^test\/http/) },
  { name: "units", files: among(/^test\/(tidy|unit)\/(?!store\/)/) },
];
// A whole run has the HTTP tests on both stores, but for those whose subject no store comes near, and the examples, which
// are made on the embedded one; npm run test:postgres has all of them. A run of chosen tests is on the store that
// TEST_STORE names.
if (parts.length === 0 && process.env.TEST_STORE === undefined) {
  const http = among(
    /^test\/http\/(?!alarms|block-work|connections|console-session|examples|metrics|website)/,
  );
  processes.push({ name: "HTTP on PostgreSQL", files: http, env: { TEST_STORE: "postgres" } });
}

installMissing(files);
const wanted = processes.filter((entry) => entry.files.length > 0);
// Two processes must not build at once. Tests of units start nothing that is built.
if (wanted.length > 1 && files.some((path) => !/^test\/(unit|property|tidy)\//.test(path))) {
  builtSideband();
  buildWebsite();
}
if (wanted.length > 0) await runTests(wanted, packageFolder);
else {
  console.error(`no test file's path contains ${parts.length === 0 ? ".test.ts" : parts.join(" or ")}`);
  process.exitCode = 1;
}
