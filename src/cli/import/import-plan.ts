/**
 * What an import would do: each fact that was found is compared with the one that is there, at the place where it would
 * go. What cannot be kept, is said twice or has ended is left out with the reason, so that nothing is lost unseen.
 */

import { RefusedValueError, sanitizeValue } from "../../agent-side/secrets.ts";
import { VALUE_BYTES_MAX } from "../../base/limits.ts";
import { withThousands } from "../../base/thousands.ts";
import type { ChannelsAnswer, PlaceKind, StoredFact } from "../../contract/answers.ts";
import { type FoundFact, type FoundMemory, type LeftOutLine, UnreadableFileError } from "./findings.ts";

export interface PlannedFact extends FoundFact {
  /** Whose it becomes. */
  readonly kind: PlaceKind;
  /** The project or worktree that the write names. */
  readonly project: string | undefined;
  /** What is there now; undefined if nothing is. */
  readonly present: StoredFact | undefined;
}

export interface ImportPlan {
  readonly writes: readonly PlannedFact[];
  /** Facts that are there already, with the same value. */
  readonly same: readonly PlannedFact[];
  readonly leftOut: readonly LeftOutLine[];
  /** Labels that are added before. */
  readonly labels: NonNullable<FoundMemory["labels"]>;
}

export type AccountLabel = ChannelsAnswer["channels"][number];

export interface PlanOptions {
  readonly labels: readonly AccountLabel[];
  /** Where the person works. */
  readonly project: string | undefined;
  readonly allowSecrets: boolean;
  readonly nowMs: number;
  /** Called for each line that has been looked at. */
  step(): void;
  /** The facts at exactly this place, by label; undefined is the person. */
  presentAt(place: string | undefined): Promise<ReadonlyMap<string, StoredFact>>;
}

/** Values that the service refuses: control characters, separators of lines, halves of characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/u;

/** More are not one person's memory. Each place is asked for, and each batch is a call. */
const FACTS_MAX = 10_000;

const HIDDEN_TEXT = "(not shown)";

export async function planImport(findings: FoundMemory, options: PlanOptions): Promise<ImportPlan> {
  const brought = findings.labels ?? [];
  const known = new Map<string, KnownTerms>(options.labels.map((label) => [label.label, label]));
  const newLabels = brought.filter(({ label }) => !known.has(label));
  for (const { label, oneOf, maxBytes, scope } of newLabels)
    known.set(label, { one_of: oneOf, max_bytes: maxBytes, scope });
  const leftOut = findings.leftOut.map((line) => {
    options.step();
    return withoutSecret(line, options.allowSecrets);
  });
  const leave = ({ line, part, label, value }: FoundFact, why: string, isShown = true) =>
    leftOut.push({ line, part, text: isShown ? `${label}=${value}` : `${label}=${HIDDEN_TEXT}`, why });

  const planned = new Map<string, PlannedFact>();
  for (const fact of findings.facts) {
    options.step();
    const terms = known.get(fact.label);
    const kept =
      terms === undefined
        ? { why: `there is no label ${fact.label}`, isShown: true }
        : keptOf(fact, terms, options);
    if ("why" in kept) leave(fact, kept.why, kept.isShown);
    else {
      const target = targetOf(fact, terms?.scope ?? "person", options.project);
      const name = `${fact.label} ${target.place ?? ""}`;
      const earlier = planned.get(name);
      // Said twice: as with writing, the later one counts.
      if (earlier !== undefined) leave(earlier, `line ${fact.line} says it again`);
      const present = (await options.presentAt(target.place)).get(fact.label);
      planned.delete(name);
      planned.set(name, { ...fact, ...target, value: kept.value, present });
      if (planned.size > FACTS_MAX)
        throw new UnreadableFileError(
          `it holds more than ${withThousands(FACTS_MAX)} facts, which is the most that one import takes`,
        );
    }
  }
  const facts = [...planned.values()];
  const isSame = ({ present, value, expiresAt }: PlannedFact) =>
    present?.value === value && (expiresAt === undefined || isSameMoment(expiresAt, present.expires_at));
  const writes = facts.filter((fact) => !isSame(fact));
  const written = new Set(writes.map(({ label }) => label));
  return {
    writes,
    same: facts.filter(isSame),
    leftOut: leftOut.sort((a, b) => a.line - b.line),
    labels: newLabels.filter(({ label }) => written.has(label)),
  };
}

/** What looks like a secret is not printed, wherever it stands. */
function withoutSecret(line: LeftOutLine, allowSecrets: boolean): LeftOutLine {
  try {
    sanitizeValue(line.text, allowSecrets);
    return line;
  } catch (error) {
    if (!(error instanceof RefusedValueError)) throw error;
    return { ...line, text: HIDDEN_TEXT };
  }
}

function isSameMoment(one: string, other: string | undefined): boolean {
  return other !== undefined && Date.parse(one) === Date.parse(other);
}

interface KnownTerms {
  readonly one_of?: readonly string[] | undefined;
  readonly max_bytes?: number | undefined;
  readonly scope?: PlaceKind | undefined;
}

/** The value as it is kept, or why it is not. What looks like a secret is not shown. */
function keptOf(
  { label, value: found, expiresAt }: FoundFact,
  { one_of: oneOf, max_bytes: bytesMax = VALUE_BYTES_MAX }: KnownTerms,
  { allowSecrets, nowMs }: PlanOptions,
): { readonly value: string } | { readonly why: string; readonly isShown: boolean } {
  const refused = (why: string, isShown = true) => ({ why, isShown });
  let value: string;
  try {
    value = sanitizeValue(found, allowSecrets, label);
  } catch (error) {
    if (!(error instanceof RefusedValueError)) throw error;
    return refused(error.message.split(":")[0], false);
  }
  const bytes = Buffer.byteLength(value);
  if (value.trim() === "") return refused("the value is empty");
  if (bytes > bytesMax) return refused(`the value has ${bytes} bytes, and ${bytesMax} are the most`);
  if (UNFIT.test(value)) return refused("the value has line breaks or control characters");
  if (oneOf !== undefined && !oneOf.includes(value))
    return refused(`the value must be one of: ${oneOf.join(", ")}`);
  if (expiresAt !== undefined && !(Date.parse(expiresAt) > nowMs)) return refused(`it ended on ${expiresAt}`);
  return { value };
}

/** Where a fact goes: where the file says, or else where its label belongs. */
function targetOf(
  { scope, project }: FoundFact,
  labelScope: PlaceKind,
  workplace: string | undefined,
): { kind: PlaceKind; project: string | undefined; place: string | undefined } {
  const at = project ?? workplace;
  const wanted = scope ?? labelScope;
  if (at === undefined || wanted === "person") return { kind: "person", project: at, place: undefined };
  // In the main worktree, what is the worktree's is the project's.
  const kind = wanted === "worktree" && at.includes("/") ? "worktree" : "project";
  return { kind, project: at, place: kind === "worktree" ? at : at.split("/")[0] };
}
