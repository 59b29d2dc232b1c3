/**
 * sideband import --from and --prompt: brings a memory along that another tool has written. A rule maps what has a label,
 * and the rest is listed. Without --write it only says what it would do.
 */

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { writerName } from "../../agent-side/written-by.ts";
import { projectOf } from "../../agents/project.ts";
import { CHANNELS } from "../../base/channels.ts";
import type { AgentConfig } from "../../config.ts";
import { openAgentMemory } from "../../main/agent.ts";
import type { Sideband } from "../../sdk/index.ts";
import { refuseReplacedBytes } from "../argument-bytes.ts";
import { CommandError, EXIT_FAILED, EXIT_OK, UsageError } from "../command.ts";
import { UnreadableFileError } from "../import/findings.ts";
import { decodedText, FORMATS, type FormatName, readFormat } from "../import/formats.ts";
import { type AccountLabel, planImport } from "../import/import-plan.ts";
import {
  planLines,
  plannedLines,
  promptHint,
  type ReportedImport,
  reportObject,
} from "../import/import-report.ts";
import { factsAt, writeImport } from "../import/import-writes.ts";
import { notesPrompt } from "../import/notes-prompt.ts";
import { memoryError } from "../memory-errors.ts";
import {
  MEMORY_HELP,
  MEMORY_OPTIONS,
  MEMORY_USAGE,
  memoryConfig,
  repeatedOptions,
} from "../memory-options.ts";
import { counted } from "../printed.ts";
import { ProgressLine } from "../progress.ts";
import { spokenCommand } from "../spoken-command.ts";

const FILE_BYTES_MAX = 64 << 20;
const STANDARD_INPUT = "-";

const OPTIONS = {
  ...MEMORY_OPTIONS,
  from: { type: "string" },
  as: { type: "string" },
  write: { type: "boolean" },
  "dry-run": { type: "boolean" },
  prompt: { type: "boolean" },
  json: { type: "boolean", default: false },
} as const;

/** What the help of `sideband import` says of this form. */
export const FROM_HELP = `usage: sideband import --from FILE [--as FORMAT] [--write] ${MEMORY_USAGE} [--json]
       sideband import --prompt ${MEMORY_USAGE}

Brings a memory along that another tool, or you, have written. FILE is "-" for standard input. It is recognised by its
content: an export of Sideband, lines LABEL=value, the memory file of MCP's reference server, an export of mem0, an agent
file of Letta (.af), or text: CLAUDE.md, AGENTS.md, an assistant's memory as you pasted it. A fact is what has a label:
"PREF.tone=dry", "- **Tone:** dry". A name without its group counts where it means one label only, and where the
heading above it, if there is one, names that group ("## Preferences", "## Project"). All else is listed with its line.

  --write         store the facts; without it, or with --dry-run, only the table is printed
  --as FORMAT     what FILE is: ${Object.keys(FORMATS).join(", ")}
  --prompt        print a text for any assistant that turns notes into lines for --from -
${MEMORY_HELP}
  --json          print one JSON object

Facts are stored with "import: FILE" as their writer, at most 40 in one step, each step all or none. The command that
rolls the import back is printed.`;

export function isImportFrom(args: readonly string[]): boolean {
  return args.some((arg) => /^--(?:from|prompt|write|dry-run|as)(?:=|$)/.test(arg));
}

export async function importFrom(args: string[]): Promise<number> {
  refuseReplacedBytes(args);
  const { values } = parseArgs({ args, options: OPTIONS });
  const { from, prompt = false, write = false, json } = values;
  const format = formatNamed(values.as);
  if ((from === undefined) !== prompt) throw new UsageError("give --from FILE or --prompt");
  if (write && values["dry-run"])
    throw new UsageError("--write stores and --dry-run does not: give one of them");
  const config = memoryConfig(values);
  const text = from === undefined ? "" : textFrom(from);
  const memory = await memoryFor(config, write);
  try {
    const labels: readonly AccountLabel[] =
      memory === undefined ? CHANNELS : (await memory.channels()).channels;
    if (from === undefined) {
      console.log(notesPrompt(labels));
      return EXIT_OK;
    }
    const report = await reportOf(from, text, format, { memory, config, labels });
    if (write && memory !== undefined && report.plan.writes.length > 0)
      return await writeAndSay(report, memory, { json, undo: undoOf(values) });
    const lines = [...planLines(report, false), ...plannedLines(report)];
    console.log(json ? JSON.stringify({ ...reportObject(report), written: 0 }) : lines.join("\n"));
    return EXIT_OK;
  } catch (error) {
    throw memoryError(error, [], config);
  }
}

function formatNamed(name: string | undefined): FormatName | undefined {
  const known = (Object.keys(FORMATS) as FormatName[]).find((format) => format === name);
  if (name !== undefined && known === undefined)
    throw new UsageError(`--as takes one of ${Object.keys(FORMATS).join(", ")}`);
  return known;
}

function textFrom(from: string): string {
  return readably(from, () => {
    const bytes = readFileSync(from === STANDARD_INPUT ? 0 : from);
    if (bytes.length > FILE_BYTES_MAX) throw new UnreadableFileError("it is larger than 64 MiB");
    if (bytes.length === 0) throw new UnreadableFileError("it is empty");
    return decodedText(bytes);
  });
}

function readably<T>(from: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableFileError)
      throw new CommandError(`cannot import ${fileName(from)}: ${error.message}`);
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EISDIR") throw new CommandError(`${from} is a folder: name a file in it`);
    if (code === "ENOENT") throw new CommandError(`there is no file ${from}`);
    throw error;
  }
}

function fileName(from: string): string {
  return from === STANDARD_INPUT ? "standard input" : basename(from);
}

/** The memory; undefined where there is none yet and nothing is written. */
async function memoryFor(config: AgentConfig, begin: boolean): Promise<Sideband<string> | undefined> {
  try {
    return await openAgentMemory({ ...config, timeoutMs: config.personTimeoutMs }, { begin });
  } catch (error) {
    if (!begin && (error as Error).name === "NoStoreError") return undefined;
    throw error;
  }
}

interface ImportSetting {
  readonly memory: Sideband<string> | undefined;
  readonly config: AgentConfig;
  readonly labels: readonly AccountLabel[];
}

async function reportOf(
  from: string,
  text: string,
  forced: FormatName | undefined,
  { memory, config, labels }: ImportSetting,
): Promise<ReportedImport> {
  const { userId, allowSecrets } = config;
  const { format, findings } = readably(from, () => readFormat(text, forced, { labels, userId }));
  const known = new Map<string | undefined, ReturnType<typeof factsAt>>();
  const total = findings.facts.length + findings.leftOut.length;
  const progress = new ProgressLine("lines looked at", total, true);
  const planning = planImport(findings, {
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
  });
  const plan = await planning
    .catch((error) =>
      readably(from, () => {
        throw error;
      }),
    )
    .finally(() => progress.end());
  return { file: fileName(from), format, userId, findings, plan };
}

/** The command that undoes it, but for its moment. What was written for the person is in no project. */
function undoOf(values: Parameters<typeof repeatedOptions>[0]): (to: string) => string {
  const options = repeatedOptions({ ...values, project: undefined, person: undefined });
  return (to) => `${spokenCommand()} rollback --to ${to}${options}`;
}

async function writeAndSay(
  report: ReportedImport,
  memory: Sideband<string>,
  { json, undo }: { json: boolean; undo: (to: string) => string },
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
  const rollback = rollbackTo === undefined ? undefined : undo(rollbackTo);
  if (json)
    console.log(
      JSON.stringify({ ...reportObject(done), written: written.length, rollback: rollback ?? null }),
    );
  else {
    const said = [`${counted(written.length, "fact")} written.`, ...promptHint(plan.leftOut)];
    if (rollback !== undefined) said.push(`undo: ${rollback}`);
    else if (written.length > 0)
      said.push("It cannot be rolled back: the service keeps no history of some facts.");
    console.log([...planLines(done, true), ...said].join("\n"));
  }
  if (error === undefined) return EXIT_OK;
  if (written.length === 0) throw error;
  const isWritten = new Set(written);
  const rest = plan.writes.filter((fact) => !isWritten.has(fact)).map(({ label }) => label);
  console.error(
    `sideband import: not written: ${rest.join(", ")}: ${error instanceof Error ? error.message : String(error)}`,
  );
  return EXIT_FAILED;
}
