/**
 * sideband import: brings facts along that another tool, a person or an export of Sideband has written. A rule maps what has
 * a label, and the rest is listed. Without --write it only says what it would do.
 */

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { writerName } from "../../agent-side/written-by.ts";
import { projectOf } from "../../agents/project.ts";
import { CHANNELS } from "../../base/channels.ts";
import { NoStoreError } from "../../base/errors.ts";
import type { AgentConfig } from "../../config.ts";
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
import { UnreadableFileError } from "../import/findings.ts";
import { decodedText, FORMATS, type FormatName, readFormat } from "../import/formats.ts";
import { type AccountLabel, planImport } from "../import/import-plan.ts";
import {
  notesPrompt,
  planLines,
  plannedLines,
  promptHint,
  type ReportedImport,
  reportObject,
} from "../import/import-report.ts";
import { factsAt, writeImport } from "../import/import-writes.ts";
import { memoryError } from "../memory-command.ts";
import { counted, ProgressLine } from "../printed.ts";
import { sidebandCommand } from "../printed-commands.ts";
import { JSON_HELP, MEMORY_HELP, MEMORY_USAGE, memoryConfig, repeatedOptions } from "../shared-options.ts";

const FILE_BYTES_MAX = 64 << 20;
const STANDARD_INPUT = "-";
const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

export const importCommand: Command = defineCommand(
  {
    name: "import",
    summary: "bring facts along from another memory, from notes or from an export",
    words: ["[FILE]"],
    usage: `[--as FORMAT] [--write | --dry-run] [--prompt] ${MEMORY_USAGE} [--json]`,
    about: `Brings a memory along that another tool, or you, have written. FILE is "-" for standard input. It is recognised by its
content: an export of Sideband, lines LABEL=value, the memory file of MCP's reference server, an export of mem0, an agent
file of Letta (.af), or text: CLAUDE.md, AGENTS.md, an assistant's memory as you pasted it. A fact is what has a label:
"PREF.tone=dry", "- **Tone:** dry". A name without its group counts where it means one label only, and where the
heading above it, if there is one, names that group ("## Preferences", "## Project"). All else is listed with its line.
Whole accounts, with keys and earlier values, are read by "sideband accounts import".`,
    options: `  --write         store the facts; without it, or with --dry-run, only the table is printed
  --dry-run       only print the table
  --as FORMAT     what FILE is: ${FORMAT_NAMES.join(", ")}
  --prompt        instead of FILE: print a text for any assistant that turns notes into lines for "sideband import -"
${MEMORY_HELP}
${JSON_HELP}

Facts are stored with "import: FILE" as their writer, at most 40 in one step, each step all or none. The command that
rolls the import back is printed.`,
    failures: "1 if it failed or not all was written",
  },
  async (call) => {
    const {
      words: [file],
      texts,
      flags,
      print,
    } = call;
    const { prompt = false, write = false } = flags;
    const format = oneOf("as", FORMAT_NAMES, texts.as);
    if ((file === undefined) !== prompt)
      throw new UsageError(
        'give FILE ("-" for standard input) or --prompt; an export of accounts is read by sideband accounts import',
      );
    if (write && flags["dry-run"])
      throw new UsageError("--write stores and --dry-run does not: give one of them");
    const config = memoryConfig(call);
    try {
      const text = file === undefined ? "" : textOf(file);
      const memory = await memoryFor(config, write);
      const labels: readonly AccountLabel[] =
        memory === undefined ? CHANNELS : (await memory.channels()).channels;
      if (file === undefined) {
        console.log(notesPrompt(labels));
        return EXIT_OK;
      }
      const report = await reportOf(file, text, format, { memory, config, labels });
      if (write && memory !== undefined && report.plan.writes.length > 0)
        return await writeAndSay(report, memory, call);
      const lines = [...planLines(report, false), ...plannedLines(report)];
      print(lines.join("\n"), { ...reportObject(report), written: 0 });
      return EXIT_OK;
    } catch (error) {
      throw memoryError(fileError(file, error), [], config);
    }
  },
);

function textOf(file: string): string {
  const bytes = readFileSync(file === STANDARD_INPUT ? 0 : file);
  if (bytes.length > FILE_BYTES_MAX) throw new UnreadableFileError("it is larger than 64 MiB");
  if (bytes.length === 0) throw new UnreadableFileError("it is empty");
  return decodedText(bytes);
}

function fileError(file = "", error: unknown): unknown {
  if (error instanceof UnreadableFileError)
    return new CommandError(`cannot import ${fileName(file)}: ${error.message}`);
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

interface ImportSetting {
  readonly memory: Sideband<string> | undefined;
  readonly config: AgentConfig;
  readonly labels: readonly AccountLabel[];
}

async function reportOf(
  file: string,
  text: string,
  forced: FormatName | undefined,
  { memory, config, labels }: ImportSetting,
): Promise<ReportedImport> {
  const { userId, allowSecrets } = config;
  const { format, findings } = readFormat(text, forced, { labels, userId });
  const known = new Map<string | undefined, ReturnType<typeof factsAt>>();
  const total = findings.facts.length + findings.leftOut.length;
  const progress = new ProgressLine("lines looked at", total, true);
  const plan = await planImport(findings, {
    labels,
    step: () => progress.step(),
    project: projectOf([process.cwd()], config),
    allowSecrets,
    nowMs: Date.now(),
    presentAt(place) {
      const facts =
        known.get(place) ??
        (memory === undefined ? Promise.resolve(new Map()) : factsAt(memory, userId, place));
      known.set(place, facts);
      return facts;
    },
  }).finally(() => progress.end());
  return { file: fileName(file), format, userId, findings, plan };
}

async function writeAndSay(
  report: ReportedImport,
  memory: Sideband<string>,
  { texts, print }: Call,
): Promise<number> {
  const { plan, userId, file } = report;
  const progress = new ProgressLine("facts written", plan.writes.length, true);
  const { written, labelsAdded, error, rollbackTo } = await writeImport(
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
    rollbackTo === undefined ? undefined : `${sidebandCommand()} rollback --to ${rollbackTo}${options}`;
  const said = [`${counted(written.length, "fact")} written.`, ...promptHint(plan.leftOut)];
  if (rollback !== undefined) said.push(`undo: ${rollback}`);
  else if (written.length > 0)
    said.push("It cannot be rolled back: the service keeps no history of some facts.");
  print([...planLines(done, true), ...said].join("\n"), {
    ...reportObject(done),
    written: written.length,
    rollback: rollback ?? null,
  });
  if (error === undefined) return EXIT_OK;
  if (written.length === 0) throw error;
  const isWritten = new Set(written);
  const rest = plan.writes.filter((fact) => !isWritten.has(fact)).map(({ label }) => label);
  console.error(
    `sideband import: not written: ${rest.join(", ")}: ${error instanceof Error ? error.message : String(error)}`,
  );
  return EXIT_FAILED;
}
