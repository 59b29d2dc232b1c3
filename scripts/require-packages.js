/** Runs before the scripts that need npm's packages: without them a shell only says that it found no program. */

import { existsSync } from "node:fs";

if (!existsSync("node_modules/tsx")) {
  console.error("the packages are not installed: run npm ci first");
  process.exitCode = 1;
}
