/**
 * npm run test:citus [-- PART …]: the tests of the store, the HTTP tests and the fault tests on a real Citus cluster,
 * started from the Citus that is built for the PostgreSQL in the path (or in TEST_POSTGRES_BIN). Exit status: 0; 1 if a
 * test fails; 3 if there is no Citus.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { findCitus } from "../../bench/store/citus-cluster.ts";
import { buildWebsite, builtSideband, packageFolder } from "../agents/built.ts";
import { runTests, type TestProcess } from "../test-processes.ts";

const EXIT_NO_CITUS = 3;
/** Of HTTP tests. The service of a file asks its database several times a second until the last test of its process. */
const FILES_MAX = 6;
/** Processes, each with a cluster. */
const AT_ONCE = 2;

const parts = process.argv.slice(2);
const among = (folder: string, pattern: RegExp) =>
  readdirSync(join(packageFolder, folder))
    .filter((name) => pattern.test(name))
    .map((name) => `${folder}/${name}`)
    .filter((path) => parts.length === 0 || parts.some((part) => path.includes(part)));

const env = { TEST_STORE: "postgres", TEST_CITUS: "1" };
/** Nodes, events, histories, moves between the stores; of the other tests the database is one server. */
const NODES = /^(events|move|oauth-nodes|rotation|team-nodes)\.test\.ts$/;
// What has nothing to do with the store is left out, the examples, whose revisions are those of the embedded store, and its metrics.
const http = among("test/http", /^(?!alarms|block-work|connections|examples|website).*\.test\.ts$/);
const processes: TestProcess[] = [
  { name: "faults and store of Citus", files: among("test/citus", /\.citus\.ts$/), env },
  ...Array.from({ length: Math.ceil(http.length / FILES_MAX) }, (_, i) => ({
    name: `HTTP on Citus, part ${i + 1}`,
    files: http.slice(i * FILES_MAX, (i + 1) * FILES_MAX),
    env,
  })),
  {
    name: "nodes and moves on Citus",
    files: [...among("test/postgres", NODES), ...among("test/unit/store", /^postgres-events\.test\.ts$/)],
    env: { TEST_CITUS: "1" },
  },
];

const wanted = processes.filter(({ files }) => files.length > 0);
const citus = findCitus();
if (typeof citus === "string") {
  console.error(`test:citus: nothing was tested: ${citus}`);
  process.exitCode = EXIT_NO_CITUS;
} else if (wanted.length === 0) {
  console.error(`test:citus: no test file's path contains ${parts.join(" or ")}`);
  process.exitCode = 1;
} else {
  builtSideband();
  buildWebsite();
  await runTests(wanted, packageFolder, undefined, undefined, AT_ONCE);
}
