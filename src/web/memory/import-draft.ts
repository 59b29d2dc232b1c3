/**
 * An import before it is written: what `sideband import` would do with the file, as rows that the person changes. A row
 * that is changed is planned again as a file with that line alone.
 */

import { writerName } from "../../agent-side/written-by.ts";
import type { RollbackAnswer } from "../../contract/answers.ts";
import type { FoundFact, FoundMemory } from "../../import/findings.ts";
import { decodedText, type FormatName, isAgentsFile, readFormat } from "../../import/formats.ts";
import {
  type ImportPlan,
  knownMemory,
  type PlannedFact,
  type PlanOptions,
  planImport,
} from "../../import/import-plan.ts";
import { type WrittenImport, writeImport } from "../../import/import-writes.ts";
import type { Memory, PageClient } from "../api/memory.ts";

export interface FileTerms {
  /** Undefined: known by its content. */
  readonly format: FormatName | undefined;
  /** Whose memory, where the file has that of several. */
  readonly of: string;
  /** A CLAUDE.md that is about the person. */
  readonly isOfPerson: boolean;
}

export interface DraftRow {
  readonly id: number;
  readonly fact: PlannedFact;
  readonly isWanted: boolean;
}

export interface ImportDraft extends Pick<ImportPlan, "same" | "leftOut" | "labels"> {
  readonly format: FormatName;
  readonly findings: FoundMemory;
  readonly rows: readonly DraftRow[];
  readonly isAgentsFile: boolean;
  /** Plans one row again. */
  plan(fact: FoundFact, project: string | undefined): Promise<{ fact?: PlannedFact; why?: string }>;
}

/** What the page may do: labels of the account are added only with a key of the whole account. */
interface Rights {
  readonly mayAddLabels: boolean;
  readonly mayMakeLabels: boolean;
}

export const STRICT_ACCOUNT = "there is no such label, and this account is strict: choose one that it has";

export async function readDraft(
  api: PageClient,
  { userId, project }: Memory,
  file: File,
  terms: FileTerms,
  { mayAddLabels, mayMakeLabels }: Rights,
): Promise<ImportDraft> {
  const text = decodedText(new Uint8Array(await file.arrayBuffer()));
  const { channels } = await api.channels();
  const known = await knownMemory(api, channels, { userId, project });
  const isOfAgents = isAgentsFile(file.name);
  const { format, findings } = readFormat(text, terms.format, {
    name: file.name,
    isOfProject: isOfAgents && !terms.isOfPerson,
    labels: known.labels,
    userId: terms.of,
  });
  const labels = mayAddLabels ? (findings.labels ?? []) : [];
  const options = (place: string | undefined): PlanOptions => ({
    ...known,
    project: place,
    isPersonOnly: false,
    allowSecrets: false,
    nowMs: Date.now(),
    step: () => {},
  });
  const plan = await planImport({ ...findings, labels }, options(project));
  const facts = [...plan.writes, ...plan.unplaced].sort((a, b) => a.line - b.line);
  return {
    ...plan,
    format,
    findings,
    isAgentsFile: isOfAgents,
    rows: facts.map((fact, id) => ({ id, fact, isWanted: mayMakeLabels || !fact.isNew })),
    async plan(fact, place) {
      const one = await planImport({ facts: [fact], leftOut: [], labels }, options(place));
      const [planned] = [...one.writes, ...one.same, ...one.unplaced];
      const why = one.leftOut[0]?.why ?? (planned?.isNew && !mayMakeLabels ? STRICT_ACCOUNT : undefined);
      return why === undefined ? { fact: planned } : { why };
    },
  };
}

/** Whether a fact belongs to a project that nobody has named. */
export function isUnplaced({ kind, project }: PlannedFact): boolean {
  return kind !== "person" && project === undefined;
}

/** Where a fact is kept, and under which label: two rows cannot have the same. */
export function slotOf({ label, kind, project }: PlannedFact): string {
  return `${label} ${kind} ${kind === "person" ? "" : project}`;
}

export function writeDraft(
  api: PageClient,
  userId: string,
  draft: ImportDraft,
  { name, step }: { readonly name: string; readonly step: (count: number) => void },
): Promise<WrittenImport> {
  const writes = draft.rows.filter(({ isWanted }) => isWanted).map(({ fact }) => fact);
  const used = new Set(writes.map(({ label }) => label));
  const labels = draft.labels.filter(({ label }) => used.has(label));
  return writeImport(api, userId, { writes, labels }, writerName(`import: ${name}`, "import"), step);
}

/** What a rollback would change beside the import: others have written since. */
export function changedSince(
  { changes }: Pick<RollbackAnswer, "changes">,
  written: readonly PlannedFact[],
): string[] {
  const placeOf = ({ kind, project }: PlannedFact) =>
    kind === "person" ? undefined : kind === "project" ? project?.split("/")[0] : project;
  return changes
    .filter(
      ({ label, project, from }) =>
        !written.some((fact) => fact.label === label && placeOf(fact) === project && fact.value === from),
    )
    .map(({ label }) => label);
}
