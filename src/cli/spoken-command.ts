/**
 * How a person starts `sideband` in a terminal, for lines that name a command to type: by its name where the search path
 * leads to it at any time, and else this installation by its full path.
 */

import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { UndoCommand } from "../agent-side/written-line.ts";
import { PASSING } from "../agents/install.ts";
import { type AgentConfig, readAgentConfig, readSearchPath, usesService } from "../config.ts";
import { COMMAND_PATH } from "../main/package.ts";
import { typedWord } from "../main/typed-word.ts";
import { repeatedOptions } from "./memory-options.ts";

const PROGRAMS = ["sideband", "sideband.cmd"];

export function spokenCommand(searchPath = readSearchPath(), script = COMMAND_PATH): string {
  const isFound = searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !PASSING.test(folder))
    .some((folder) => PROGRAMS.some((program) => existsSync(join(folder, program))));
  return isFound ? "sideband" : `${typedWord(process.execPath)} ${typedWord(script)}`;
}

/** Adds a label; what belongs there is for the person to say. */
export function addLabelCommand(label: string, sameMemory = ""): string {
  return `${spokenCommand()} labels add ${typedWord(label)} --description '…'${sameMemory}`;
}

/** How a person undoes a write where they have just typed it. @param sameMemory the options of that call */
export function undoHere(sameMemory: string): UndoCommand {
  return { program: spokenCommand(), options: sameMemory };
}

/**
 * How a write of an agent is undone from a terminal in any folder. The agent's settings may be those of its host alone, so
 * what is not usual is named; of a service only the key has to be set there, too.
 */
export function undoAnywhere(config: AgentConfig, project: string | undefined): UndoCommand {
  const usual = readAgentConfig({});
  const unusual = <T>(value: T, other: T) => (value === other ? undefined : value);
  const options = repeatedOptions({
    user: unusual(config.userId, usual.userId),
    project,
    ...(usesService(config)
      ? { url: config.apiUrl }
      : {
          data: unusual(config.dataFolder, usual.dataFolder),
          account: unusual(config.account, usual.account),
        }),
  });
  return { program: spokenCommand(), options };
}
