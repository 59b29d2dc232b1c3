/**
 * Commands that are printed for a person to type. `sideband` stands there by its name where the search path leads to it at
 * any time, and else this installation by its full path.
 */

import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { projectAt, type UndoCommand } from "../agent-side/written-line.ts";
import { TEMPORARY_FOLDER } from "../agents/install.ts";
import { type AgentConfig, readAgentConfig, readSearchPath, usesService } from "../config.ts";
import type { PlaceKind } from "../contract/answers.ts";
import { COMMAND_PATH } from "../main/package.ts";
import { shellQuote } from "../main/shell-quote.ts";
import { type MemoryOptions, repeatedOptions } from "./shared-options.ts";

const PROGRAMS = ["sideband", "sideband.cmd"];

export function sidebandCommand(searchPath = readSearchPath()): string {
  const isFound = searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !TEMPORARY_FOLDER.test(folder))
    .some((folder) => PROGRAMS.some((program) => existsSync(join(folder, program))));
  return isFound ? "sideband" : `${shellQuote(process.execPath)} ${shellQuote(COMMAND_PATH)}`;
}

/** Adds a label; what belongs there is for the person to say. */
export function addLabelCommand(label: string, sameMemory = ""): string {
  return `${sidebandCommand()} labels add ${shellQuote(label)} --description '…'${sameMemory}`;
}

/** How a person undoes a write where they have just typed it. @param sameMemory the options of that call */
function undoHere(sameMemory: string): UndoCommand {
  return { program: sidebandCommand(), options: sameMemory };
}

/**
 * How a person undoes a write of a fact. The command names its place, so that it means no other fact of the same label, here or
 * in another folder.
 * @param place undefined: that of the call
 * @param project where the person works
 */
export function undoOf(
  call: MemoryOptions,
  place: PlaceKind | undefined,
  project: string | undefined,
): UndoCommand {
  if (place === undefined) return undoHere(repeatedOptions(call));
  const texts = { ...call.texts, project: projectAt(place, project) };
  return undoHere(repeatedOptions({ texts, flags: { person: place === "person" } }));
}

/**
 * Takes back what was done at a moment, and nothing that came later: facts that have changed again since stay.
 * @param at of the service, to the millisecond; undefined where it is not known: then the command lists what there is
 */
export function rollbackOf(at: string | undefined, options: string, isShared = false): string {
  const program = sidebandCommand();
  if (at === undefined) return `${program} undo --list${options}`;
  const before = new Date(Date.parse(at) - 1).toISOString();
  return `${program} rollback --to ${before} --unchanged-since ${at}${isShared ? " --shared" : ""}${options}`;
}

/**
 * How a write of an agent is undone from a terminal in any folder. The agent's settings may be those of its host alone, so
 * what is not usual is named; of a service only the key has to be set there, too.
 */
export function undoAnywhere(
  config: AgentConfig,
  place: PlaceKind | undefined,
  project: string | undefined,
): UndoCommand {
  const usual = readAgentConfig({});
  const unusual = (value: string, other: string) => (value === other ? undefined : value);
  const { userId: user, apiUrl: url, dataFolder, account } = config;
  const where = usesService(config)
    ? { url: url === usual.apiUrl ? undefined : url }
    : { data: unusual(dataFolder, usual.dataFolder), account: unusual(account, usual.account) };
  return undoOf({ texts: { user: unusual(user, usual.userId), project, ...where } }, place, project);
}
