/** The command line: finds the command, runs it, and turns what went wrong into one clear line and an exit status. */

import { existsSync, readFileSync } from "node:fs";
import { type Command, CommandError, EXIT_FAILED, EXIT_OK, EXIT_USAGE, UsageError } from "./command.ts";
import { bench } from "./commands/bench.ts";
import { keysCreate, keysList, keysRevoke } from "./commands/keys.ts";
import { measure } from "./commands/measure.ts";
import { read } from "./commands/read.ts";
import { serve } from "./commands/serve.ts";
import { exportCommand, importCommand } from "./commands/transfer.ts";
import { backup, compact, restoreCommand, verifyCommand } from "./commands/upkeep.ts";
import { usage } from "./commands/usage.ts";

const COMMANDS: readonly Command[] = [
  serve,
  keysCreate,
  keysList,
  keysRevoke,
  usage,
  exportCommand,
  importCommand,
  backup,
  restoreCommand,
  verifyCommand,
  compact,
  read,
  measure,
  bench,
];

export async function main(args: readonly string[]): Promise<number> {
  const [first] = args;
  if (first === undefined || first === "--help" || first === "-h" || first === "help") {
    console.log(overview());
    return first === undefined ? EXIT_USAGE : EXIT_OK;
  }
  if (first === "--version" || first === "-v") {
    console.log(version());
    return EXIT_OK;
  }
  const command = COMMANDS.find(({ name }) => name.split(" ").every((word, i) => args[i] === word));
  if (command === undefined) {
    console.error(`sideband: there is no command "${first}"; sideband --help lists them`);
    return EXIT_USAGE;
  }
  const rest = args.slice(command.name.split(" ").length);
  if (rest.includes("--help") || rest.includes("-h")) {
    console.log(command.help);
    return EXIT_OK;
  }
  try {
    return await command.run(rest);
  } catch (error) {
    if (error instanceof UsageError || isParseArgsError(error)) {
      console.error(
        `sideband ${command.name}: ${error.message}\nsideband ${command.name} --help says how to call it`,
      );
      return EXIT_USAGE;
    }
    if (error instanceof CommandError || isRefusal(error)) {
      console.error(`sideband ${command.name}: ${error.message}`);
      return EXIT_FAILED;
    }
    throw error;
  }
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const rows = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    "sideband: a persistent fact memory for AI agents",
    "",
    "usage: sideband COMMAND [OPTIONS]",
    "",
    ...rows,
    "",
    "sideband COMMAND --help tells more; sideband --version prints the version.",
  ].join("\n");
}

function version(): string {
  // Built, this file stands one folder deeper than its source.
  const files = ["../../package.json", "../../../package.json"].map((path) => new URL(path, import.meta.url));
  const file = files.find((url) => existsSync(url));
  if (file === undefined) throw new CommandError("package.json is missing");
  return JSON.parse(readFileSync(file, "utf8")).version;
}

/** node:util's parseArgs explains a wrong option well enough to pass its message on. */
function isParseArgsError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}

/** What the parts refuse in words meant for the operator: a setting, the data folder, a failure of the service. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && ["ConfigError", "DataFolderError", "Failure"].includes(error.name);
}
