/**
 * Before the tests, in a process of its own so that no test waits for it: where there is no Chromium, no PgBouncer or
 * no numpy and we are root on Debian, their packages are installed. Without them the tests that need them say that they were
 * skipped.
 */

import { spawnSync } from "node:child_process";
import { findChromium } from "./e2e/find-chromium.ts";
import { findNumpy } from "./format/numpy.ts";
import { findPgbouncer } from "./postgres/pgbouncer.ts";

const INSTALL_TIMEOUT_MS = 300_000;
/** RUNLEVEL tells Debian's packages not to start their services. */
const options = {
  timeout: INSTALL_TIMEOUT_MS,
  stdio: "ignore",
  env: { ...process.env, RUNLEVEL: "1" },
} as const;

const missing = [
  ...(findChromium() === undefined ? ["chromium"] : []),
  ...(findPgbouncer() === undefined ? ["pgbouncer"] : []),
  ...(findNumpy() ? [] : ["python3-numpy"]),
];
if (missing.length > 0 && process.getuid?.() === 0) {
  console.log(`installing Debian's packages for the tests: ${missing.join(", ")}`);
  spawnSync("apt-get", ["update"], options);
  for (const name of missing) {
    const { status } = spawnSync("apt-get", ["install", "-y", "--no-install-recommends", name], options);
    if (status !== 0) console.log(`${name} could not be installed: the tests that need it will say so`);
  }
}
