/** What the package holds: its version, its command, what its threads run, the agents' files, the website. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PACKAGE_ROOT } from "../base/package-root.ts";

export function packageVersion(): string {
  return JSON.parse(readFileSync(new URL("package.json", PACKAGE_ROOT), "utf8")).version;
}

/** The `sideband` command. */
export const COMMAND_PATH = fileURLToPath(new URL("bin/sideband.js", PACKAGE_ROOT));

/** What the threads of block work run. */
export const BLOCK_WORKER = new URL("dist/src/blockwork/block-worker.js", PACKAGE_ROOT);

/** The files that `sideband agents install` copies. */
export const AGENT_FILES = fileURLToPath(new URL("agents", PACKAGE_ROOT));

/** What the OpenClaw plugin loads. */
export const OPENCLAW_MODULE = fileURLToPath(new URL("dist/src/agents/openclaw.js", PACKAGE_ROOT));

/** Where the build puts the website. */
export const WEBSITE_FOLDER = fileURLToPath(new URL("dist/web", PACKAGE_ROOT));
