/**
 * What the commands on a memory share: their options, opening the memory as an agent in the same folder does, and its
 * errors in the words of a terminal: the service speaks of requests, a person uses settings and options.
 */

import { hostGroups } from "../agent-side/host-groups.ts";
import { RefusedValueError } from "../agent-side/secrets.ts";
import { isForAnotherUser, otherUserText } from "../agent-side/written-line.ts";
import { openProject } from "../agents/project.ts";
import { groupOf, LABEL_FORM, NOTHING_REMEMBERED } from "../base/channel-labels.ts";
import { NoStoreError } from "../base/errors.ts";
import { promptGroups } from "../base/groups.ts";
import { plainLetters } from "../base/letters.ts";
import { type AgentConfig, usesService } from "../config.ts";
import type { StoredFact } from "../contract/answers.ts";
import { openAgentMemory } from "../main/agent.ts";
import { shellQuote } from "../main/shell-quote.ts";
import { isSidebandError, type Sideband } from "../sdk/index.ts";
import {
  type Call,
  type Command,
  CommandError,
  type CommandText,
  defineCommand,
  EXIT_OK,
} from "./command.ts";
import { namedProject } from "./named-project.ts";
import { counted } from "./printed.ts";
import { sidebandCommand } from "./printed-commands.ts";
import {
  JSON_HELP,
  MEMORY_HELP,
  MEMORY_USAGE,
  memoryConfig,
  parsed,
  repeatedOptions,
} from "./shared-options.ts";

const HELP = `${MEMORY_HELP}
${JSON_HELP}

The facts are those of an agent in the working directory. Inside a git repository that is a project. TASK facts and
PROJ.branch are kept for the worktree, other PROJ facts for the project, all else for the person. Outside of a
repository TASK and PROJ facts are kept for the folder. Where several have a label, the innermost counts. "sideband
agents status" prints the project.

With --url, SIDEBAND_API_URL or SIDEBAND_API_KEY the command asks that service. Otherwise, and with --data, it asks the
process that owns the data folder, such as a running service on it. If no process owns the folder, the command starts
an owner in the background, which ends after ten minutes without use. Only remember begins a store where there is
none.`;

/** Who writes at a terminal. */
export const WRITER = "cli";

export interface MemoryCall extends Call {
  readonly memory: Sideband<string>;
  readonly config: AgentConfig;
  readonly userId: string;
  /** Where the person works. */
  readonly project: string | undefined;
  /** The options of this call, for a command that undoes it. */
  readonly sameMemory: string;
}

interface MemoryCommandText extends CommandText {
  /** Whether it makes the data folder's store where there is none. */
  readonly begins?: boolean;
  /** Whether it has --json. */
  readonly hasJson?: boolean;
  /** Looks at the call before a memory is opened; throws UsageError. */
  check?(call: Call): void;
  /** What it does where there is no store yet; otherwise that is an error. */
  withoutStore?(call: Call): Promise<void>;
}

export const GROUPS_HELP = `  --groups LIST   only these groups (USER,PREF), all but those: --groups=-HEALTH, or all (default: as a host for code gets)`;

/** The groups that are named, else those that a host for code gets here; undefined: all. */
export async function shownGroups({
  memory,
  userId,
  config,
  project,
  texts,
}: MemoryCall): Promise<string | undefined> {
  if (texts.groups !== undefined) return parsed("--groups", promptGroups, texts.groups);
  return hostGroups(memory, userId, config.groups, { project });
}

/** Says on standard error which facts are not among the groups of a host for code; nothing where groups are named. */
export function printOtherFacts({ texts }: MemoryCall, others: readonly StoredFact[], done: string): void {
  if (texts.groups !== undefined || others.length === 0) return;
  const groups = [...new Set(others.map(({ label }) => groupOf(label)))].join(", ");
  console.error(
    `${counted(others.length, "fact")} of ${groups} not ${done}: agents for code reach them by find and recall; all with --groups all`,
  );
}

/** A label as labels are written: "family.best-friend" is FAMILY.best_friend, and "Räder" is "rader". What cannot be one stays as it is. */
export function labelForm(typed: string): string {
  const [group, ...name] = plainLetters(typed.trim())
    .replace(/[\s-]+/g, "_")
    .split(".");
  const label = `${group.toUpperCase()}.${name.join("_")}`;
  return LABEL_FORM.test(label) ? label : typed;
}

/** What is said of a label that a write names with letters which no label has: "BIRTHDAY.zoë" is kept under BIRTHDAY.zoe. */
function printLabelForms(typed: Call, { words }: Call): void {
  for (const [i, word] of typed.words.entries())
    if (word !== words[i] && /[^\0-\x7f]/.test(word)) console.error(`${word} is the label ${words[i]}`);
}

function withLabelForms(call: Call, names: readonly string[]): Call {
  const isLabel = (i: number) => /^\[?(?:LABEL|TO)\b/.test(names[Math.min(i, names.length - 1)] ?? "");
  return { ...call, words: call.words.map((word, i) => (isLabel(i) ? labelForm(word) : word)) };
}

/** @param text with the own options alone */
export function memoryCommand(text: MemoryCommandText, work: (call: MemoryCall) => Promise<void>): Command {
  const { usage = "", words = [], options, begins = false, hasJson = true } = text;
  const help = hasJson ? HELP : HELP.replace(`${JSON_HELP}\n`, "");
  const full = {
    ...text,
    usage: `${usage} ${MEMORY_USAGE}${hasJson ? " [--json]" : ""}`.trimStart(),
    options: options === undefined ? help : `${options}\n${help}`,
  };
  return defineCommand(full, async (parsed) => {
    const typed = withLabelForms(parsed, words);
    text.check?.(typed);
    if (begins || words.includes("TO")) printLabelForms(parsed, typed);
    const { userId, ...settings } = memoryConfig(typed);
    const opened = { ...settings, userId, timeoutMs: settings.personTimeoutMs };
    const memory = await openAgentMemory(opened, { begin: begins }).catch(async (error) => {
      if (!(error instanceof NoStoreError)) throw error;
      if (text.withoutStore === undefined) throw new CommandError(noStoreText(settings.dataFolder, typed));
      await text.withoutStore(typed);
    });
    if (memory === undefined) return EXIT_OK;
    const call = await withProject(typed, memory, userId);
    const config = memoryConfig(call);
    const project = await openProject(memory, userId, [process.cwd()], config);
    const sameMemory = repeatedOptions(call);
    await work({ ...call, memory, config, userId, project, sameMemory }).catch((error) => {
      throw memoryError(error, call.words, config, sameMemory);
    });
    return EXIT_OK;
  });
}

function noStoreText(folder: string, typed: Call): string {
  const open = `${sidebandCommand()} open${repeatedOptions(typed)}`;
  return `there is no store in ${folder}: nothing is remembered there yet; a first fact begins one, and so does: ${open}`;
}

/** The call with the whole name of its --project. */
async function withProject(call: Call, memory: Sideband<string>, userId: string): Promise<Call> {
  if (call.texts.project === undefined) return call;
  const { project, note } = await namedProject(memory, userId, call.texts.project, memoryConfig(call));
  if (note !== undefined) console.error(note);
  return { ...call, texts: { ...call.texts, project } };
}

/** What all pages of an answer have. */
export async function allPages<P extends { readonly next_cursor: string | null }, T>(
  ask: (cursor: string | undefined) => Promise<P>,
  itemsOf: (page: P) => readonly T[],
): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask(cursor);
    found.push(...itemsOf(page));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

export async function withNotFoundText<T>(call: Promise<T>, userId: string, label: string): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!isSidebandError(error, "fact_not_found")) throw error;
    throw new CommandError(`${userId} has no fact ${label}`);
  }
}

/** @param hint the label that was probably meant */
export function unknownLabelText(label: string, hint: string | undefined, sameMemory: string): string {
  const question = hint === undefined ? "" : `. Did you mean ${hint}?`;
  const form = LABEL_FORM.test(label)
    ? ""
    : "\na label is GROUP.name, such as FAMILY.wife: 1 to 16 letters of a to z, digits and _, a point, and 1 to 48 of the same";
  return `there is no label ${label}${question}${form}\nall labels: ${sidebandCommand()} labels${sameMemory}`;
}

/** Where a fact was asked for, or was to be changed. */
function nothingText(label: string, hint: string | undefined, sameMemory: string): string {
  const question = hint === undefined ? "" : `. Did you mean ${hint}?`;
  const byWords = LABEL_FORM.test(label)
    ? `\nfacts by words: ${sidebandCommand()} find ${label}${sameMemory}`
    : "";
  return `nothing is remembered under ${label}${question}\nall facts: ${sidebandCommand()} facts${sameMemory}${byWords}`;
}

/** What a person has typed for a field of a request. */
const OPTION_OF: Readonly<Record<string, string>> = { to: "--to", query: "WORDS" };

/**
 * The error to throw instead.
 * @param words the arguments of the call: a label, if there is any, is the first
 * @param sameMemory the options of the call, for commands that are to mean the same memory
 */
export function memoryError(
  error: unknown,
  words: readonly string[],
  config: AgentConfig,
  sameMemory = "",
): unknown {
  if (isSidebandError(error, "connection_failed") && usesService(config) && config.apiUrl === undefined) {
    return new CommandError(
      `${error.message}, which is used because SIDEBAND_API_KEY is set: set SIDEBAND_API_URL to the address of the ` +
        "service, or name a data folder with --data",
    );
  }
  if (isSidebandError(error, "missing_key"))
    return new CommandError("the service asks for a key: set SIDEBAND_API_KEY to one");
  if (isForAnotherUser(error)) return new CommandError(otherUserText(config.userId));
  if (isSidebandError(error, "unknown_label")) {
    const label = words[error.param === "to" ? 1 : 0];
    const isRead = error.message.startsWith(NOTHING_REMEMBERED);
    return new CommandError((isRead ? nothingText : unknownLabelText)(label, error.hint, sameMemory));
  }
  if (isSidebandError(error, "invalid_value") && error.param === "item" && error.items !== undefined)
    return new CommandError(
      "with this item the list would be too long; " +
        `to remove one of its items: ${sidebandCommand()} forget ${shellQuote(words[0])} --item TEXT${sameMemory}`,
    );
  if (isSidebandError(error, "invalid_request") && error.param !== undefined && error.param in OPTION_OF)
    return new CommandError(error.message.replace(error.param, OPTION_OF[error.param]));
  if (isSidebandError(error, "not_a_member")) {
    const share = `${sidebandCommand()} project share${sameMemory}`;
    return new CommandError(
      error.param === "scope"
        ? `this project is not shared with ${config.userId}: nothing was written; to share it: ${share}; for ${config.userId} alone: --own`
        : error.message.replace('scope "own"', "--own"),
    );
  }
  if (error instanceof RefusedValueError) {
    const allow = error.code === "private_refused" ? "" : " SIDEBAND_ALLOW_SECRETS=1 lets it be stored.";
    return new CommandError(error.message + allow);
  }
  return error;
}
