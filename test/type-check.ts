/** The type check of a test run. It remembers what it found, so that a second one without a change is quick. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { packageFolder } from "./agents/built.ts";

/**
 * Resolves with what the compiler says, which is nothing where all is right.
 * @param project the folder of a tsconfig.json
 */
export async function typeErrors(project: string): Promise<string> {
  const compiler = join(packageFolder, "node_modules", "typescript", "bin", "tsc");
  const memory = join(project, "test", "output", "types.tsbuildinfo");
  const args = [compiler, "-p", project, "--noEmit", "--incremental", "--tsBuildInfoFile", memory];
  const child = spawn(process.execPath, args, { cwd: project, stdio: ["ignore", "pipe", "inherit"] });
  return text(child.stdout);
}
