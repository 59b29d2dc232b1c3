/** The type check of a test run. It remembers what it found, so that a second one without a change is quick. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { packageFolder } from "./agents/built.ts";

/**
 * Resolves with what the compiler says, which is nothing where all is right.
 * @param project the folder of a tsconfig.json
 * @param stop ends it early
 */
export async function typeErrors(project: string, stop: AbortSignal): Promise<string> {
  const compiler = join(packageFolder, "node_modules", "typescript", "bin", "tsc");
  const memory = join(project, "test", "output", "types.tsbuildinfo");
  // One checker: with several, each works out the types of the libraries that its files share with the others'.
  const how = ["--noEmit", "--checkers", "1", "--incremental", "--tsBuildInfoFile", memory];
  const child = spawn(process.execPath, [compiler, "-p", project, ...how], {
    cwd: project,
    stdio: ["ignore", "pipe", "inherit"],
  });
  stop.addEventListener("abort", () => child.kill());
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, "close")]);
  return status === 0 ? "" : output || `the compiler ended with ${status}`;
}
