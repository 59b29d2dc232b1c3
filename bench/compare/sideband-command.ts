/** One command of Sideband's command line, as a person runs it. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { COMMAND_PATH } from "../../src/main/package.ts";
import type { Place } from "./place.ts";

export async function runSideband(
  place: Place,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const options = { env: { ...place.env, ...env }, cwd: place.folder, maxBuffer: 2 ** 26 };
  return (await promisify(execFile)(process.execPath, [COMMAND_PATH, ...args], options)).stdout;
}
