/**
 * How a person starts `sideband` in a terminal, for lines that name a command to type: by its name where the search path
 * leads to it at any time, and else this installation by its full path.
 */

import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { PASSING } from "../agents/install.ts";
import { readSearchPath } from "../config.ts";
import { COMMAND_PATH } from "../main/package.ts";
import { quoted } from "./memory-options.ts";

const PROGRAMS = ["sideband", "sideband.cmd"];

export function spokenCommand(searchPath = readSearchPath(), script = COMMAND_PATH): string {
  const isFound = searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !PASSING.test(folder))
    .some((folder) => PROGRAMS.some((program) => existsSync(join(folder, program))));
  return isFound ? "sideband" : `${quoted(process.execPath)} ${quoted(script)}`;
}
