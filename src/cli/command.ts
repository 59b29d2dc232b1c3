/**
 * What every command of the CLI is made of. The help names the options, and the arguments are read by it: a line
 * `  --name VALUE  what it is for` is an option, and one without VALUE is a flag. So no option is without its help.
 * A command throws UsageError for a wrong call, and CommandError if it cannot do what was asked.
 */

import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { OperatorError } from "../base/errors.ts";
import { unknownSettings } from "../config.ts";

export interface Command {
  /** As typed: one word, or two ("keys create"). */
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  /** The whole text of --help. */
  readonly help: string;
  /** Runs with the arguments after the name; resolves to the exit status. */
  run(args: string[]): Promise<number>;
}

export interface CommandText {
  readonly name: string;
  readonly summary: string;
  /** The arguments; one in brackets may be left out, and of one with dots there may be several. */
  readonly words?: readonly string[];
  /** What follows the arguments in the usage, if it is not simply all options. */
  readonly usage?: string;
  readonly about: string;
  /** The lines about the options, and what is to be said after them. */
  readonly options?: string;
  /** When the exit status is 1. */
  readonly failures: string;
}

/** A call as it was typed. */
export interface Call {
  readonly words: readonly string[];
  /** The options with a value. */
  readonly texts: Readonly<Record<string, string | undefined>>;
  readonly flags: Readonly<Record<string, boolean | undefined>>;
  /** Prints the lines, or the object if the call has --json. */
  print(lines: string, object: object): void;
}

export const EXIT_OK = 0;
/** The command worked, and found something wrong. */
export const EXIT_FAILED = 1;
/** The call was wrong. */
export const EXIT_USAGE = 2;

export class UsageError extends Error {
  override name = "UsageError";
}

export class CommandError extends OperatorError {
  override name = "CommandError";
}

export function defineCommand(text: CommandText, run: (call: Call) => Promise<number>): Command {
  const { name, summary, words = [], about, options = "", failures } = text;
  const { usage = optionsIn(options).map(({ spelled }) => `[${spelled}]`) } = text;
  return {
    name,
    summary,
    help: [
      `usage: ${["sideband", name, ...words].concat(usage).join(" ")}`,
      about,
      ...(options === "" ? [] : [options]),
      `Exit status: 0; ${failures}; 2 for a wrong call.`,
    ].join("\n\n"),
    run: async (args) => run(parseCall(args, text)),
  };
}

export function parseCall(args: string[], { words: names = [], options = "" }: Partial<CommandText>): Call {
  refuseReplacedBytes(args);
  const known = optionsIn(options).map(({ name, type }) => [name, { type }] as const);
  const { values, positionals: words } = parseArgs({
    args,
    options: Object.fromEntries(known),
    allowPositionals: true,
  });
  checkCount(names, words);
  const print = (lines: string, object: object) => {
    if (values.json) console.log(JSON.stringify(object));
    else if (lines !== "") console.log(lines);
  };
  // Which of them have a value, the lines of the options say.
  return { words, texts: values as Call["texts"], flags: values as Call["flags"], print };
}

/** The value of an option that takes one of some words. */
export function oneOf<T extends string>(
  option: string,
  known: readonly T[],
  value: string | undefined,
): T | undefined {
  const found = known.find((one) => one === value);
  if (found === undefined && value !== undefined)
    throw new UsageError(`--${option} takes one of ${known.join(", ")}`);
  return found;
}

/** What node:util's parseArgs throws for a wrong option, as one line. Its own texts give advice that does not fit ours. */
export function optionErrorText(error: unknown): string | undefined {
  if (!(error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")))
    return undefined;
  const [line] = error.message.split("\n");
  const unknown = /^Unknown option '(-[^']*)'/.exec(line);
  if (unknown !== null) {
    // No option of ours has one dash: more likely it is an argument, such as -5.
    const isArgument = !unknown[1].startsWith("--");
    return `there is no option ${unknown[1]}${isArgument ? '; put an argument that begins with "-" last, after --' : ""}`;
  }
  const [, name, , why] = /^Option '(--[\w-]+)( <value>)?' argument (missing|is ambiguous)/.exec(line) ?? [];
  if (name === undefined) return line;
  const advice = why === "missing" ? "" : `; write one that begins with "-" as ${name}=VALUE`;
  return `${name} needs a value${advice}`;
}

/** One line on standard error: a setting with a typing error would do nothing, unseen. */
export function warnOfUnknownSettings(): void {
  const line = unknownSettings();
  if (line !== undefined) console.error(`sideband: ${line}`);
}

function optionsIn(text: string) {
  return [...text.matchAll(/^ {2}(--([a-z-]+)(?: (\S+))?)(?= {2}|$)/gm)].map(([, spelled, name, value]) => ({
    spelled,
    name,
    type: value === undefined ? ("boolean" as const) : ("string" as const),
  }));
}

function checkCount(names: readonly string[], words: readonly string[]): void {
  const needed = names.filter((name) => !name.startsWith("["));
  const isEnough = words.length <= names.length || names.at(-1)?.endsWith("...") === true;
  if (words.length >= needed.length && isEnough) return;
  if (names.length === 0) throw new UsageError(`it takes no arguments, but was given "${words[0]}"`);
  const quotes =
    words.length > names.length && names.includes("[VALUE]") ? "; put a VALUE with spaces in quotes" : "";
  throw new UsageError(`it takes ${names.join(" and ")}${quotes}`);
}

const COMMAND_LINE = "/proc/self/cmdline";

/**
 * Refuses arguments that are not valid UTF-8. Node.js replaces their bytes before a program sees them, so another value
 * than the typed one would be stored. Only Linux shows a process its original bytes.
 */
function refuseReplacedBytes(args: readonly string[]): void {
  // The character U+FFFD may also have been typed: the bytes show which it was.
  if (!args.some((arg) => arg.includes("\uFFFD")) || !existsSync(COMMAND_LINE)) return;
  const bytes = readFileSync(COMMAND_LINE, "latin1")
    .split("\0")
    .slice(-args.length - 1, -1);
  for (const [i, arg] of args.entries()) {
    if (!isUtf8(Buffer.from(bytes[i] ?? "", "latin1")))
      throw new UsageError(`"${arg}" is not valid UTF-8: pass text in UTF-8`);
  }
}
