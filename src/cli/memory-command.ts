/**
 * What the commands on a memory share: their options, opening the memory as an agent in the same folder does, and
 * printing lines or one JSON object.
 */

import { type ParseArgsConfig, parseArgs } from "node:util";
import { openProject } from "../agents/open-project.ts";
import { NoStoreError } from "../base/errors.ts";
import type { AgentConfig } from "../config.ts";
import { openAgentMemory } from "../main/agent.ts";
import { isSidebandError, type Sideband } from "../sdk/index.ts";
import { refuseReplacedBytes } from "./argument-bytes.ts";
import { type Command, CommandError, EXIT_OK, UsageError } from "./command.ts";
import { memoryError } from "./memory-errors.ts";
import {
  MEMORY_HELP,
  MEMORY_OPTIONS,
  MEMORY_USAGE,
  memoryConfig,
  repeatedOptions,
  withoutPerson,
} from "./memory-options.ts";

const HELP = `${MEMORY_HELP}
  --json          print one JSON object

The facts are those of an agent in the working directory. Inside a git repository that is a project. TASK facts and
PROJ.branch are kept for the worktree, other PROJ facts for the project, all else for the person. Where several have a
label, the innermost counts. "sideband agents status" prints the project.

With --url, SIDEBAND_API_URL or SIDEBAND_API_KEY the command asks that service. Otherwise, and with --data, it asks the
process that owns the data folder, such as a running service on it. If no process owns the folder, the command starts
an owner in the background, which ends after ten minutes without use. Only remember begins a store where there is
none.`;

/** Who writes at a terminal. */
export const WRITER = "cli";

export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

export interface MemoryCall {
  readonly memory: Sideband<string>;
  readonly config: AgentConfig;
  /** Where the person works. */
  readonly project: string | undefined;
  /** The arguments after the options. */
  readonly words: readonly string[];
  readonly values: OptionValues;
  /** The options of this call, for a command that undoes it. */
  readonly sameMemory: string;
  /** Prints the lines, or the object if the call has --json. */
  print(lines: string, object: object): void;
}

export interface MemoryCommand {
  readonly name: string;
  readonly summary: string;
  /** The arguments; one in brackets may be left out. */
  readonly words: readonly string[];
  readonly options?: NonNullable<ParseArgsConfig["options"]>;
  /** The own options in the usage line, and their lines in the help. */
  readonly usage?: string;
  readonly optionHelp?: string;
  readonly about: string;
  readonly failures: string;
  /** What to do instead, where the person's own facts cannot be meant alone: --person is refused with it. */
  readonly insteadOfPerson?: string;
  /** Whether it makes the data folder's store where there is none. */
  readonly begins?: boolean;
  /** Looks at the call before a memory is opened; throws UsageError. */
  check?(words: readonly string[], values: OptionValues): void;
  /** What it does where there is no store yet; otherwise that is an error. */
  withoutStore?(call: Pick<MemoryCall, "values" | "print">): Promise<void>;
}

export function memoryCommand(command: MemoryCommand, work: (call: MemoryCall) => Promise<void>): Command {
  const { name, summary, words: names, usage, optionHelp, about, failures, begins = false } = command;
  const { insteadOfPerson } = command;
  const [memoryUsage, help] =
    insteadOfPerson === undefined ? [MEMORY_USAGE, HELP] : [MEMORY_USAGE, HELP].map(withoutPerson);
  return {
    name,
    summary,
    help: `usage: ${["sideband", name, ...names, ...(usage === undefined ? [] : [usage]), memoryUsage].join(" ")} [--json]

${about}

${optionHelp === undefined ? "" : `${optionHelp}\n`}${help}

Exit status: 0; ${failures}; 2 for a wrong call.`,

    async run(args) {
      refuseReplacedBytes(args);
      const { values, positionals: words } = parseArgs({
        args,
        options: { ...MEMORY_OPTIONS, ...command.options, json: { type: "boolean", default: false } },
        allowPositionals: true,
      });
      checkCount(names, words);
      const given = values as OptionValues;
      if (insteadOfPerson !== undefined && values.person) throw new UsageError(insteadOfPerson);
      command.check?.(words, given);
      const config = memoryConfig(values);
      const print = (lines: string, object: object) => {
        if (values.json) console.log(JSON.stringify(object));
        else if (lines !== "") console.log(lines);
      };
      const opened = { ...config, timeoutMs: config.personTimeoutMs };
      const memory = await openAgentMemory(opened, { begin: begins }).catch(async (error) => {
        if (!(error instanceof NoStoreError) || command.withoutStore === undefined) throw error;
        await command.withoutStore({ values: given, print });
      });
      if (memory === undefined) return EXIT_OK;
      const project = await openProject(memory, config.userId, [process.cwd()], config);
      const sameMemory = repeatedOptions(values);
      const call = { memory, config, project, words, values: given, sameMemory, print };
      await work(call).catch((error) => {
        throw memoryError(error, words, config, sameMemory);
      });
      return EXIT_OK;
    },
  };
}

function checkCount(names: readonly string[], words: readonly string[]): void {
  const needed = names.filter((name) => !name.startsWith("["));
  if (words.length >= needed.length && words.length <= names.length) return;
  if (names.length === 0) throw new UsageError(`it takes no arguments, but was given "${words[0]}"`);
  const quotes =
    words.length > names.length && names.includes("VALUE") ? "; put a VALUE with spaces in quotes" : "";
  throw new UsageError(`it takes ${names.join(" and ")}${quotes}`);
}

export async function orNoFact<T>(call: Promise<T>, userId: string, label: string): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!isSidebandError(error, "fact_not_found")) throw error;
    throw new CommandError(`${userId} has no fact ${label}`);
  }
}
