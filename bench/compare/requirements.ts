/** What npm run compare needs of its machine, each with the way to get it. */

import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { BLOCK_WORKER } from "../../src/main/package.ts";
import { canRecord } from "../../test/fault/power/recording.ts";
import { packageFile } from "./packages.ts";
import { newFolder } from "./place.ts";

/** Throws with the first that is missing. */
export function requireAll(measures: readonly string[]): void {
  const isThere = (command: string) => spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
  if (process.platform !== "linux") throw new Error("it needs Linux");
  if (!existsSync(packageFile("ioredis", "package.json")))
    throw new Error("the memories are not installed: npm ci --prefix bench/compare");
  if (!existsSync(BLOCK_WORKER)) throw new Error("Sideband is not built: npm run build");
  if (!isThere("redis-server"))
    throw new Error("there is no redis-server on the PATH: apt-get install redis-server");
  if (measures.includes("power") && !canRecord())
    throw new Error("the measure of power needs a C compiler: apt-get install gcc libc6-dev");
  try {
    rmSync(newFolder(), { recursive: true });
  } catch (error) {
    throw new Error(`no folder can be made in ${tmpdir()} (TMPDIR): ${(error as Error).message}`);
  }
}
