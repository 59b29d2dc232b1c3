/** The command line: finds the command, runs it, and turns what went wrong into one clear line and an exit status. */

import { homedir } from "node:os";
import { terminalText } from "../agent-side/escaped-text.ts";
import { closeHomeFolder, UserFileError } from "../agents/user-file.ts";
import { isSlip } from "../base/edit-distance.ts";
import { Failure, OperatorError } from "../base/errors.ts";
import { isSidebandError } from "../sdk/errors.ts";
import {
  type Command,
  EXIT_FAILED,
  EXIT_OK,
  EXIT_USAGE,
  optionErrorText,
  UsageError,
  warnOfUnknownSettings,
} from "./command.ts";

/** Each module is loaded when one of its commands is called: an agent's hook must not wait for the store and the server. */
function commandsOf(load: () => Promise<Record<string, Command>>, ...names: string[]) {
  const find = async (name: string) => Object.values(await load()).find((command) => command.name === name)!;
  return Object.fromEntries(names.map((name) => [name, () => find(name)]));
}

export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  ...commandsOf(() => import("./commands/serve.ts"), "serve", "owner"),
  ...commandsOf(() => import("./commands/remember.ts"), "remember", "rename"),
  ...commandsOf(() => import("./commands/review.ts"), "review"),
  ...commandsOf(() => import("./commands/pin.ts"), "pin", "unpin"),
  ...commandsOf(() => import("./commands/facts.ts"), "recall", "find", "forget", "facts", "context"),
  ...commandsOf(() => import("./commands/history.ts"), "history", "restore", "rollback", "undo"),
  ...commandsOf(() => import("./commands/log.ts"), "log"),
  ...commandsOf(() => import("./commands/labels.ts"), "labels add-set"),
  ...commandsOf(
    () => import("./commands/labels.ts"),
    // "labels" alone is the last of them: it would be found first.
    ...[
      "labels add",
      "labels edit",
      "labels hide",
      "labels show",
      "labels remove",
      "labels strict",
      "labels",
    ],
    "users",
  ),
  ...commandsOf(() => import("./commands/import.ts"), "import"),
  ...commandsOf(() => import("./commands/export.ts"), "export", "accounts export"),
  ...commandsOf(() => import("./commands/accounts-import.ts"), "accounts import"),
  ...commandsOf(() => import("./commands/mcp.ts"), "open", "mcp"),
  ...commandsOf(() => import("./commands/hook.ts"), "hook"),
  ...commandsOf(
    () => import("./commands/agents.ts"),
    ...["agents list", "agents install", "agents status", "agents remove"],
  ),
  ...commandsOf(
    () => import("./commands/project-sharing.ts"),
    ...["project share", "project members", "project unshare", "project erase"],
  ),
  // "project" alone is the last of them: it would be found first.
  ...commandsOf(() => import("./commands/project.ts"), "project groups", "project"),
  ...commandsOf(
    () => import("./commands/keys.ts"),
    "keys create",
    "keys list",
    "keys change",
    "keys revoke",
    "accounts limit",
    "usage",
  ),
  ...commandsOf(
    () => import("./commands/operators.ts"),
    ...["operators add", "operators list", "operators remove"],
  ),
  ...commandsOf(() => import("./commands/audit.ts"), "audit"),
  ...commandsOf(() => import("./commands/verify-receipt.ts"), "verify-receipt"),
  ...commandsOf(
    () => import("./commands/upkeep.ts"),
    ...["backup create", "backup verify", "backup restore", "backup erase-again", "verify", "compact"],
  ),
  ...commandsOf(() => import("./commands/db.ts"), "db"),
  ...commandsOf(() => import("./commands/read.ts"), "read"),
  ...commandsOf(() => import("./commands/measure.ts"), "measure"),
  ...commandsOf(() => import("./commands/off.ts"), "off", "on"),
  ...commandsOf(() => import("./commands/connect.ts"), "connect", "disconnect"),
};

/** Other spellings, each with what to write instead. They are of whole calls, with a space between the arguments. */
const INSTEAD: readonly (readonly [spelling: RegExp, command: string])[] = [
  [/^import .*--from\b/, "import FILE"],
  [/^import .*--(?:with-keys|master-key|new-master-key)\b/, "accounts import FILE"],
  [/^forget .*--keep-history\b/, "forget LABEL, which keeps the history"],
  [/^(?:list|ls|all|show|get|print|cat)$/, "facts"],
  [/^(?:show|get|print|cat) /, "recall LABEL, or sideband facts for all"],
  [/^(?:list|ls) /, "facts GROUP"],
  [/^(?:search|grep|query|look|where)\b/, "find WORDS"],
  [/^(?:add|set|put|save|store|note|edit|update|change|write)\b/, "remember LABEL VALUE"],
  [/^(?:delete|del|remove|rm|erase)(?![\w-])/, "forget LABEL"],
  [/^(?:move|mv)\b/, "rename LABEL TO"],
  [/^(?:end|expire|extend|until|never)\b/, "remember LABEL --until WHEN, or --never"],
  [/^(?:ending|expiring|soon)\b/, "facts --ending"],
  [/^(?:install|setup|init)\b/, "agents install AGENT"],
  [/^status\b/, "agents status"],
  [/^(?:start|run|server)\b/, "serve"],
  [/^version\b/, "--version"],
  [/^labels rename\b/, "rename LABEL TO"],
  [/^verify [^-]/, "verify --data FOLDER, or sideband backup verify BACKUP"],
  [/^backup --verify\b/, "backup verify BACKUP"],
  [/^backup (?!create|verify|restore|erase-again|-)/, "backup create FOLDER"],
  [/^restore [^-\s]\S*(?: --data\b.*)?$/, "backup restore BACKUP, or sideband restore LABEL REVISION"],
];

/** Commands with the settings of the service refuse an unknown one, and a hook names it once in a session. */
const SETTINGS_READERS = /^(?:serve|owner|keys|operators|usage|backup|verify|compact|db|accounts|hook)\b/;

export async function main(args: readonly string[]): Promise<number> {
  const { log, error } = console;
  // Values, names and files are anybody's: what commands print goes through here, so that none of them need think of it.
  console.log = (text: unknown) => log(terminalText(String(text)));
  console.error = (text: unknown) => error(terminalText(String(text)));
  try {
    closeHomeFolder(homedir());
    return await runCommand(args);
  } finally {
    Object.assign(console, { log, error });
  }
}

async function runCommand(args: readonly string[]): Promise<number> {
  const [first] = args;
  if (first === "help" && args.length > 1 && args[1] !== "all")
    return runCommand([...args.slice(1), "--help"]);
  if (first === "help" && args[1] === "all") {
    console.log(await listed(Object.keys(COMMANDS)));
    return EXIT_OK;
  }
  if (first === undefined || first === "--help" || first === "-h" || first === "help") {
    console.log(await overview());
    return first === undefined ? EXIT_USAGE : EXIT_OK;
  }
  if (first === "--version" || first === "-v") {
    const { packageVersion } = await import("../main/package.ts");
    console.log(packageVersion());
    return EXIT_OK;
  }
  const instead = INSTEAD.find(([spelling]) => spelling.test(args.join(" ")))?.[1];
  if (instead !== undefined) {
    console.error(`sideband ${first}: write sideband ${instead}`);
    return EXIT_USAGE;
  }
  const name = Object.keys(COMMANDS).find((known) => known.split(" ").every((word, i) => args[i] === word));
  if (name === undefined) {
    const group = Object.keys(COMMANDS).filter((known) => known.startsWith(`${first} `));
    if (group.length > 0 && (args.length === 1 || args[1] === "--help" || args[1] === "-h")) {
      for (const known of group) console.log(`${(await COMMANDS[known]()).help}\n`);
      return args.length === 1 ? EXIT_USAGE : EXIT_OK;
    }
    console.error(
      group.length === 0
        ? `sideband: there is no command "${first}"; ${hint(first)}sideband help all lists them`
        : `sideband: there is no command "${first} ${args[1]}"; there is ${group.join(", ")}`,
    );
    return EXIT_USAGE;
  }
  if (!SETTINGS_READERS.test(name)) warnOfUnknownSettings();
  const command = await COMMANDS[name]();
  const rest = args.slice(name.split(" ").length);
  if (rest.includes("--help") || rest.includes("-h")) {
    console.log(command.help);
    return EXIT_OK;
  }
  try {
    return await command.run(rest);
  } catch (error) {
    const text = error instanceof UsageError ? error.message : optionErrorText(error);
    if (text !== undefined) {
      console.error(
        `sideband ${command.name}: ${text} (sideband ${command.name} --help says how to call it)`,
      );
      return EXIT_USAGE;
    }
    if (isRefusal(error) || isSystemError(error)) {
      console.error(`sideband ${command.name}: ${error.message}`);
      return EXIT_FAILED;
    }
    throw error;
  }
}

/** The command that was probably meant, as the beginning of a sentence. */
function hint(typed: string): string {
  const words = new Set(Object.keys(COMMANDS).map((name) => name.split(" ")[0]));
  const near = [...words].filter((word) => isSlip(typed.toLowerCase(), word));
  return near.length === 1 ? `did you mean "sideband ${near[0]}"? ` : "";
}

/** The commands with which a person begins; the others are named after them. */
const FIRST_COMMANDS = [
  ...[
    "remember",
    "recall",
    "find",
    "facts",
    "forget",
    "rename",
    "history",
    "undo",
    "import",
    "export",
    "open",
  ],
  ...["agents install", "agents status", "context", "serve"],
];

async function overview(): Promise<string> {
  const others = Object.keys(COMMANDS).filter((name) => !FIRST_COMMANDS.includes(name));
  const words = [...new Set(others.map((name) => name.split(" ")[0]))];
  return [
    "sideband: a persistent fact memory for AI agents",
    "",
    'usage: sideband COMMAND [OPTIONS], such as: sideband remember FAMILY.wife "Grace"',
    "",
    await listed(FIRST_COMMANDS),
    "",
    `and ${words.join(", ")}`,
    "",
    "sideband help COMMAND tells more, sideband help all lists every command, sideband --version prints the version.",
  ].join("\n");
}

async function listed(names: readonly string[]): Promise<string> {
  const width = Math.max(...names.map((name) => name.length));
  const commands = await Promise.all(names.map((name) => COMMANDS[name]()));
  return commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join("\n");
}

/** Errors of the operating system: a missing file, a folder without permission, a lost connection. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && "syscall" in error && "code" in error;
}

/** Errors whose message is written for people: about a setting, a file, the data folder, a failure of the service. */
function isRefusal(error: unknown): error is Error {
  const kinds = [OperatorError, UserFileError, Failure];
  return kinds.some((kind) => error instanceof kind) || isSidebandError(error);
}
