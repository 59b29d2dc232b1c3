/**
 * The steps for Citus in docs/CLUSTER.md, run as they stand there on a real cluster. A comment in the sample says on which
 * machines the lines after it run.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { guideSample, guideShell, renamed } from "../postgres/cluster-guide.ts";
import { sharedCluster } from "./shared-cluster.ts";

const NAME = "guide_citus";

test("the steps for Citus in docs/CLUSTER.md lead to a node that is ready on a distributed database", async (t) => {
  const cluster = await sharedCluster();
  const { coordinator, workers } = cluster;
  const MACHINES: Readonly<Record<string, typeof workers>> = {
    "on every machine": [coordinator, ...workers],
    "on the coordinator": [coordinator],
    "on every worker": workers,
    "with SIDEBAND_DATABASE_URL at the coordinator": [coordinator],
  };
  const { run } = guideShell(t);
  const env = {
    SIDEBAND_DATABASE_URL: cluster.urlOf(coordinator, NAME).replace(/\/\/\w+@/, `//${NAME}@`),
    SIDEBAND_DATABASE_POOL: "4",
    SIDEBAND_MASTER_KEY: "ab".repeat(32),
  };
  let machines: typeof workers = [];
  for (const line of renamed(guideSample("sh", "citus"), NAME).trim().split("\n")) {
    if (line.startsWith("#")) {
      const place = Object.keys(MACHINES).find((words) => line.startsWith(`# ${words}`));
      if (place !== undefined) machines = MACHINES[place];
      continue;
    }
    // The line for a worker stands for one of each.
    const lines = line.includes("worker-1")
      ? workers.map(({ port }) => line.replace("'worker-1', 5432", `'127.0.0.1', ${port}`))
      : [line.replace("'coordinator', 5432", `'127.0.0.1', ${coordinator.port}`)];
    for (const server of machines)
      for (const command of lines) {
        const { status, stderr, stdout } = await run(`${command}\n`, server, env);
        assert.deepEqual([status, stderr], [0, ""], command);
        if (command === "sideband serve") assert.match(stdout, /"status":"ready"/);
      }
  }
  const { stdout } = await run("sideband db status", coordinator, env);
  assert.match(stdout, /^Citus +(?!no)\S/m);
});
