/**
 * Before the tests, in a process of its own so that no test waits for it: where there is no Chromium and we are root on
 * Debian, its package is installed. Without it the tests that need a browser say that they were skipped.
 */

import { spawnSync } from "node:child_process";
import { findChromium } from "./find-chromium.ts";

const INSTALL_TIMEOUT_MS = 300_000;

if (findChromium() === undefined && process.getuid?.() === 0) {
  console.log("no Chromium on this machine: installing Debian's package for the browser tests");
  const options = { timeout: INSTALL_TIMEOUT_MS, stdio: "ignore" } as const;
  spawnSync("apt-get", ["update"], options);
  const { status } = spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], options);
  if (status !== 0) console.log("Chromium could not be installed: the browser tests will say so");
}
