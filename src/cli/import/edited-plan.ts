/**
 * The plan of an import as a text for the person's editor: the facts as LABEL=value, with the line of the file above each.
 * What the text has when the editor ends is what is imported. A fact belongs to what the last `# person` or `# project`
 * above it says.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LABEL_FORM } from "../../base/channel-labels.ts";
import { readEditor } from "../../config.ts";
import type { PlaceKind } from "../../contract/answers.ts";
import type { FoundFact, FoundMemory, LeftOutLine } from "../../import/findings.ts";
import type { ImportPlan, PlannedFact } from "../../import/import-plan.ts";
import { CommandError } from "../command.ts";
import { lineOf } from "./import-report.ts";

const PLACE_LINE = /^# (person|own|project|worktree)(?: (\S+))?$/;
const UNTIL_LINE = /^# until (\S+)$/;
const LINE_LINE = /^# line (\d+)/;
const LEFT_OUT_MAX = 1_000;

export function planText({ writes, unplaced, leftOut }: ImportPlan, file: string): string {
  const places = new Map<string, PlannedFact[]>();
  for (const fact of [...writes, ...unplaced]) {
    const place =
      fact.kind === "person" || fact.project === undefined ? fact.kind : `${fact.kind} ${fact.project}`;
    places.set(place, [...(places.get(place) ?? []), fact]);
  }
  const lines = [
    `# What is imported from ${file}, as LABEL=value, one fact a line. Change, remove and add lines, then save and close.`,
    "# A label is GROUP.name. Lines that begin with # are no facts.",
  ];
  for (const [place, facts] of places) lines.push("", `# ${place}`, ...facts.flatMap(factLines));
  if (leftOut.length > 0)
    lines.push("", "# Not imported:", ...leftOut.slice(0, LEFT_OUT_MAX).map(leftOutLine));
  return `${lines.join("\n")}\n`;
}

function factLines(fact: PlannedFact): string[] {
  const { label, value, present, isNew, expiresAt } = fact;
  const was = present === undefined ? (isNew ? ", a new label" : "") : `, in the place of: ${present.value}`;
  const until = expiresAt === undefined ? [] : [`# until ${expiresAt}`];
  return [`# line ${lineOf(fact)}${was}`, ...until, `${label}=${value}`];
}

function leftOutLine(line: LeftOutLine): string {
  return `# ${lineOf(line)}: ${line.text} (${line.why})`;
}

/** What the text has now; its lines are those of the file where it says so. */
export function readPlanText(text: string, before: FoundMemory): FoundMemory {
  const facts: FoundFact[] = [];
  const leftOut: LeftOutLine[] = [];
  let scope: PlaceKind | undefined;
  let project: string | undefined;
  let expiresAt: string | undefined;
  let line = 0;
  for (const row of text.split(/\r?\n/)) {
    const [, place, name] = PLACE_LINE.exec(row) ?? [];
    if (place !== undefined) [scope, project] = [place as PlaceKind, name];
    line = Number(LINE_LINE.exec(row)?.[1] ?? line);
    expiresAt = UNTIL_LINE.exec(row)?.[1] ?? expiresAt;
    if (row.trim() === "" || row.startsWith("#")) continue;
    const split = row.indexOf("=");
    const label = row.slice(0, Math.max(split, 0)).trim();
    if (!LABEL_FORM.test(label)) leftOut.push({ line, text: row, why: "it is no LABEL=value" });
    else {
      const found = before.facts.find((fact) => fact.line === line && fact.label === label);
      const origin = found === undefined ? "said" : found.origin;
      const value = row.slice(split + 1);
      const { pinned, description } = found ?? {};
      const terms = { expiresAt, origin, pinned, description };
      facts.push({ line, label, value, isExact: true, scope, project, ...terms });
    }
    expiresAt = undefined;
  }
  return { ...before, facts, leftOut };
}

/** The text after the person has edited it. */
export function editedText(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "sideband-import-"));
  try {
    const path = join(folder, "import.txt");
    writeFileSync(path, text, { mode: 0o600 });
    const editor = readEditor();
    // EDITOR may have options, such as "code --wait".
    const { status, error } = spawnSync(`${editor} "${path}"`, { shell: true, stdio: "inherit" });
    if (error !== undefined || status !== 0)
      throw new CommandError(
        `the editor "${editor}" failed: nothing was written. EDITOR says which one is used`,
      );
    return readFileSync(path, "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
