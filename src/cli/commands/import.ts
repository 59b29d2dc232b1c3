/**
 * sideband import: brings facts along that another tool, a person or an export of Sideband has written. Every line becomes a
 * fact, or is listed with the reason why not. Without --yes it only says what it would do.
 */

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { writerName } from "../../agent-side/written-by.ts";
import { projectOf } from "../../agents/project.ts";
import { CHANNELS } from "../../base/channels.ts";
import { NoStoreError } from "../../base/errors.ts";
import { FACT_ORIGINS } from "../../base/fact-origins.ts";
import type { AgentConfig } from "../../config.ts";
import { type FoundMemory, UnreadableFileError } from "../../import/findings.ts";
import { decodedText, FORMATS, type FormatName, isAgentsFile, readFormat } from "../../import/formats.ts";
import { type AccountLabel, type KnownLabel, knownMemory, planImport } from "../../import/import-plan.ts";
import { writeImport } from "../../import/import-writes.ts";
import { openAgentMemory } from "../../main/agent.ts";
import type { Sideband } from "../../sdk/index.ts";
import {
  type Call,
  type Command,
  CommandError,
  defineCommand,
  EXIT_FAILED,
  EXIT_OK,
  oneOf,
  UsageError,
} from "../command.ts";
import { editedText, planText, readPlanText } from "../import/edited-plan.ts";
import {
  notesPrompt,
  planLines,
  plannedLines,
  projectQuestion,
  type ReportedImport,
  reportObject,
} from "../import/import-report.ts";
import { memoryError } from "../memory-command.ts";
import { ask, counted, ProgressLine } from "../printed.ts";
import { sidebandCommand } from "../printed-commands.ts";
import { JSON_HELP, MEMORY_HELP, MEMORY_USAGE, memoryConfig, repeatedOptions } from "../shared-options.ts";

const STANDARD_INPUT = "-";
const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

export const importCommand: Command = defineCommand(
  {
    name: "import",
    summary: "bring facts along from another memory, from notes or from an export",
    words: ["[FILE]"],
    usage: `[--as FORMAT] [--of USER] [--edit] [--yes | --dry-run] [--prompt] ${MEMORY_USAGE} [--json]`,
    about: `Brings a memory along that another tool, or you, have written. FILE is "-" for standard input. It is recognised by its
content: notes as Markdown or plain text, CLAUDE.md, AGENTS.md, an assistant's memory as you pasted it, ChatGPT's
conversations.json (its memories alone), an export of mem0, supermemory or Sideband, items of a LangGraph store, the
memory file of MCP's reference server, an agent file of Letta (.af), a table (.csv), lines LABEL=value. Every line
becomes a fact: "- Wife: Grace" below "## Family" is FAMILY.wife, and a sentence is named by its first words. Standard
labels and those that you have are used where they fit; new ones are marked. What is left out is listed with its line
and the reason. Whole accounts, with keys and earlier values, are read by "sideband accounts import".`,
    options: `  --yes           store the facts; without it, or with --dry-run, only the plan is printed
  --edit          open the plan in your editor (EDITOR) first, as LABEL=value: what you save is imported
  --dry-run       only print the plan
  --as FORMAT     what FILE is: ${FORMAT_NAMES.join(", ")}
  --origin ORIGIN  where its facts come from: said, concluded or read (default: said for notes and tables, read for the
                  files of agents and the memories of others)
  --of USER       whose memory, where FILE has that of several users (default the user of --user)
  --prompt        instead of FILE: print a text for any assistant that turns notes into lines for "sideband import -"
${MEMORY_HELP}
${JSON_HELP}

Facts are stored with "import: FILE" as their writer, at most 40 in one step, each step all or none. The command that
rolls the import back is printed: facts that have changed again since stay as they are.`,
    failures: "1 if it failed or not all was written",
  },
  async (call) => {
    const {
      words: [file],
      texts,
      flags,
      print,
    } = call;
    const { prompt = false, yes = false, edit = false, json = false } = flags;
    const format = oneOf("as", FORMAT_NAMES, texts.as);
    const origin = oneOf("origin", FACT_ORIGINS, texts.origin);
    if ((file === undefined) !== prompt)
      throw new UsageError(
        'give FILE ("-" for standard input) or --prompt; an export of accounts is read by sideband accounts import',
      );
    if (yes && flags["dry-run"])
      throw new UsageError("--yes stores and --dry-run does not: give one of them");
    if (edit && !yes && (json || !process.stdin.isTTY))
      throw new UsageError("--edit needs --yes where nobody can be asked");
    const config = memoryConfig(call);
    try {
      const text = file === undefined ? "" : textOf(file);
      const memory = await memoryFor(config, yes || edit);
      const channels: readonly AccountLabel[] =
        memory === undefined ? CHANNELS : (await memory.channels()).channels;
      if (file === undefined) {
        console.log(notesPrompt(channels));
        return EXIT_OK;
      }
      const planner = await plannerOf(call, memory, config, channels);
      const read = readFormat(text, format, {
        name: fileName(file),
        isOfProject: isAgentsFile(basename(file)) && !isInHomeSettings(file),
        labels: planner.labels,
        userId: texts.of ?? config.userId,
        origin,
      });
      let report = await planner.report(file, read.format, read.findings);
      if (edit) {
        const findings = readPlanText(editedText(planText(report.plan, report.file)), read.findings);
        report = await planner.report(file, read.format, findings);
      }
      const { writes, unplaced } = report.plan;
      if (yes && unplaced.length > 0)
        throw new CommandError(`nothing was written. ${projectQuestion(unplaced)}`);
      if (yes && memory !== undefined && writes.length > 0)
        return await importAndReport(report, memory, call);
      const isAsked = edit && !yes && memory !== undefined && writes.length > 0 && unplaced.length === 0;
      print([...planLines(report, false), ...plannedLines(report, isAsked)].join("\n"), {
        ...reportObject(report),
        written: 0,
      });
      if (!isAsked) return EXIT_OK;
      return (await isConfirmed(writes.length)) ? await importAndReport(report, memory, call) : EXIT_FAILED;
    } catch (error) {
      throw memoryError(fileError(file, error), [], config);
    }
  },
);

async function isConfirmed(count: number): Promise<boolean> {
  return /^y(?:es)?$/.test(await ask(`Write ${counted(count, "fact")}? (y/N) `));
}

/** A CLAUDE.md there is the person's, not a project's. */
function isInHomeSettings(file: string): boolean {
  return resolve(file).startsWith(join(homedir(), "."));
}

function textOf(file: string): string {
  return decodedText(readFileSync(file === STANDARD_INPUT ? 0 : file));
}

function fileError(file = "", error: unknown): unknown {
  if (error instanceof UnreadableFileError) {
    const { message, missing } = error;
    const option = missing === "format" ? " (--as NAME says which)" : ": name one with --of";
    return new CommandError(
      `cannot import ${fileName(file)}: ${message}${missing === undefined ? "" : option}`,
    );
  }
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === "EISDIR") return new CommandError(`${file} is a folder: name a file in it`);
  return code === "ENOENT" && path === file ? new CommandError(`there is no file ${file}`) : error;
}

function fileName(file: string): string {
  return file === STANDARD_INPUT ? "standard input" : basename(file);
}

/** The memory; undefined where there is none yet and nothing is written. */
async function memoryFor(config: AgentConfig, begin: boolean): Promise<Sideband<string> | undefined> {
  try {
    return await openAgentMemory({ ...config, timeoutMs: config.personTimeoutMs }, { begin });
  } catch (error) {
    if (!begin && error instanceof NoStoreError) return undefined;
    throw error;
  }
}

interface Planner {
  /** Those of the account, and those that the person's facts have. */
  readonly labels: readonly KnownLabel[];
  report(file: string, format: FormatName, findings: FoundMemory): Promise<ReportedImport>;
}

async function plannerOf(
  { flags }: Call,
  memory: Sideband<string> | undefined,
  config: AgentConfig,
  channels: readonly AccountLabel[],
): Promise<Planner> {
  const { userId, allowSecrets } = config;
  const project = projectOf([process.cwd()], config);
  const { labels, presentAt } = await knownMemory(memory, channels, { userId, project });
  return {
    labels,
    async report(file, format, findings) {
      const total = findings.facts.length + findings.leftOut.length;
      const progress = new ProgressLine("lines looked at", total, true);
      const options = {
        labels,
        project,
        isPersonOnly: flags.person === true,
        // What was stored once was allowed.
        allowSecrets: allowSecrets || format === "sideband",
        nowMs: Date.now(),
        presentAt,
      };
      const plan = await planImport(findings, { ...options, step: () => progress.step() }).finally(() =>
        progress.end(),
      );
      return { file: fileName(file), format, userId, findings, plan };
    },
  };
}

async function importAndReport(
  report: ReportedImport,
  memory: Sideband<string>,
  { texts, print }: Call,
): Promise<number> {
  const { plan, userId, file } = report;
  const progress = new ProgressLine("facts written", plan.writes.length, true);
  const { written, labelsAdded, error, rollbackTo, unchangedSince } = await writeImport(
    memory,
    userId,
    plan,
    writerName(`import: ${file}`, "import"),
    (count) => progress.step(count),
  ).finally(() => progress.end());
  const done = { ...report, plan: { ...plan, writes: written, labels: labelsAdded } };
  // What was written for the person is in no project.
  const options = repeatedOptions({ texts: { ...texts, project: undefined } });
  const rollback =
    rollbackTo === undefined
      ? undefined
      : `${sidebandCommand()} rollback --to ${rollbackTo} --unchanged-since ${unchangedSince}${options}`;
  const said = [`${counted(written.length, "fact")} written.`];
  if (rollback !== undefined) said.push(`undo: ${rollback}`);
  else if (written.length > 0)
    said.push("It cannot be rolled back: the service keeps no history of some facts.");
  print([...planLines(done, true), ...said].join("\n"), {
    ...reportObject(done),
    written: written.length,
    rollback: rollback ?? null,
  });
  // Of notes much is no fact. A fact of an export that is left out is missing.
  if (error === undefined)
    return report.format === "sideband" && plan.leftOut.length > 0 ? EXIT_FAILED : EXIT_OK;
  if (written.length === 0) throw error;
  const isWritten = new Set(written);
  const rest = plan.writes.filter((fact) => !isWritten.has(fact)).map(({ label }) => label);
  console.error(
    `sideband import: not written: ${rest.join(", ")}: ${error instanceof Error ? error.message : String(error)}`,
  );
  return EXIT_FAILED;
}
