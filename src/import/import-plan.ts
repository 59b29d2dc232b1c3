/**
 * What an import would do: each fact that was found is compared with the one that is there, at the place where it would
 * go. What cannot be kept, is said twice or has ended is left out with the reason, so that nothing is lost unseen. And what
 * there is: the labels that a file's lines may get, and the facts that they would replace.
 */

import { RefusedValueError, sanitizeValue } from "../agent-side/secrets.ts";
import { scopeOfLabel } from "../base/channel-labels.ts";
import { VALUE_BYTES_MAX, withThousands } from "../base/limits.ts";
import type { ChannelsAnswer, PlaceKind, StoredFact } from "../contract/answers.ts";
import type { ServiceCalls } from "../sdk/calls.ts";
import { type FoundFact, type FoundMemory, type LeftOutLine, UnreadableFileError } from "./findings.ts";
import { bytesOf } from "./tidy-facts.ts";
import { slugWords } from "./words.ts";

export interface PlannedFact extends FoundFact {
  /** Whose it becomes. */
  readonly kind: PlaceKind;
  /** The project or worktree that the write names. */
  readonly project: string | undefined;
  /** What is there now; undefined if nothing is. */
  readonly present: StoredFact | undefined;
  /** Neither the account nor the person has the label yet. */
  readonly isNew: boolean;
}

export interface ImportPlan {
  readonly writes: readonly PlannedFact[];
  /** Facts that are there already, with the same value. */
  readonly same: readonly PlannedFact[];
  /** Facts of a project, where none is named: they wait for one. */
  readonly unplaced: readonly PlannedFact[];
  readonly leftOut: readonly LeftOutLine[];
  /** Labels that are added before. */
  readonly labels: NonNullable<FoundMemory["labels"]>;
}

export type AccountLabel = ChannelsAnswer["channels"][number];

export interface KnownLabel extends KnownTerms {
  readonly label: string;
}

export interface PlanOptions {
  /** The labels of the account, and those that the person's facts have. */
  readonly labels: readonly KnownLabel[];
  /** Where the person works. */
  readonly project: string | undefined;
  /** There is no project: what belongs to one is left out. */
  readonly isPersonOnly: boolean;
  readonly allowSecrets: boolean;
  readonly nowMs: number;
  /** Called for each line that has been looked at. */
  step(): void;
  /** The facts that are there already, by label; of the person, the place is undefined. */
  presentAt(kind: PlaceKind, place: string | undefined): Promise<ReadonlyMap<string, StoredFact>>;
}

/** Values that the service refuses: control characters, separators of lines, halves of characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/u;

/** More are not one person's memory. Each place is asked for, and each batch is a call. */
const FACTS_MAX = 10_000;

const HIDDEN_TEXT = "(not shown)";

const NO_PROJECT = "it belongs to a project: name it with --project";

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
  const leave = (fact: FoundFact, why: string, isShown = true) => {
    const { line, part, label, value } = fact;
    const hidden = isNamedByValue(fact) ? HIDDEN_TEXT : `${label}=${HIDDEN_TEXT}`;
    leftOut.push({ line, part, text: isShown ? `${label}=${value}` : hidden, why });
  };

  const planned = new Map<string, PlannedFact>();
  for (const fact of findings.facts) {
    options.step();
    const terms = known.get(fact.label) ?? {};
    const kept = keptOf(fact, terms, options);
    const target = targetOf(fact, terms.scope ?? scopeOfLabel(fact.label), options.project);
    if ("why" in kept) leave(fact, kept.why, kept.isShown);
    else if (target === undefined && options.isPersonOnly) leave(fact, NO_PROJECT);
    else {
      const name = `${fact.label} ${target?.kind} ${target?.place}`;
      const earlier = planned.get(name);
      // Said twice: as with writing, the later one counts.
      if (earlier !== undefined)
        leave(
          earlier,
          earlier.value === kept.value
            ? `a duplicate of line ${fact.line}`
            : `line ${fact.line} says it again`,
        );
      const present = target && (await options.presentAt(target.kind, target.place)).get(fact.label);
      planned.delete(name);
      const where = target ?? { kind: "project", project: undefined, place: undefined };
      planned.set(name, { ...fact, ...where, value: kept.value, present, isNew: !known.has(fact.label) });
      if (planned.size > FACTS_MAX)
        throw new UnreadableFileError(
          `it holds more than ${withThousands(FACTS_MAX)} facts, which is the most that one import takes`,
        );
    }
  }
  const facts = [...planned.values()];
  const isUnplaced = ({ kind, project }: PlannedFact) => kind !== "person" && project === undefined;
  const isSame = ({ present, value, expiresAt, pinned }: PlannedFact) =>
    present?.value === value &&
    (expiresAt === undefined || isSameMoment(expiresAt, present.expires_at)) &&
    (pinned === undefined || present.pinned === true);
  const writes = facts.filter((fact) => !isSame(fact) && !isUnplaced(fact));
  const written = new Set(writes.map(({ label }) => label));
  return {
    writes,
    same: facts.filter(isSame),
    unplaced: facts.filter(isUnplaced),
    leftOut: leftOut.sort((a, b) => a.line - b.line),
    labels: newLabels.filter(({ label }) => written.has(label)),
  };
}

/** Whether the label has words of the value, which may be those of a secret. */
function isNamedByValue({ label, value }: FoundFact): boolean {
  const words = new Set(slugWords(value));
  return slugWords(label.slice(label.indexOf(".") + 1)).some((word) => words.has(word));
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
    // Neither its label is printed, which may have its words.
    const how = error.code === "secret_doubted" ? "; if it is none, sideband remember stores it" : "";
    return refused(`${error.message.split(":")[0]}${how}`, false);
  }
  const bytes = bytesOf(value);
  if (value.trim() === "") return refused("the value is empty");
  if (bytes > bytesMax) return refused(`the value has ${bytes} bytes, and ${bytesMax} are the most`);
  if (UNFIT.test(value)) return refused("the value has line breaks or control characters");
  if (oneOf !== undefined && !oneOf.includes(value))
    return refused(`the value must be one of: ${oneOf.join(", ")}`);
  if (expiresAt !== undefined && !(Date.parse(expiresAt) > nowMs)) return refused(`it ended on ${expiresAt}`);
  return { value };
}

/** Where a fact goes: where the file says, or else where its label belongs. Undefined: in a project that nobody has named. */
function targetOf(
  { scope, project }: FoundFact,
  labelScope: PlaceKind,
  workplace: string | undefined,
): { kind: PlaceKind; project: string | undefined; place: string | undefined } | undefined {
  const at = project ?? workplace;
  const wanted = scope ?? labelScope;
  if (wanted === "person") return { kind: "person", project: at, place: undefined };
  if (at === undefined) return undefined;
  // In the main worktree, what is the worktree's is the project's; in a project that is shared, that is the team's.
  const isOfProject = wanted === "shared" || (wanted === "worktree" && !at.includes("/"));
  const kind = isOfProject ? "project" : wanted;
  return { kind, project: at, place: kind === "worktree" ? at : at.split("/")[0] };
}

type Place = string | undefined;

/** Of a project, whether it is shared or not. */
const PRESENT_AS: Partial<Record<PlaceKind, readonly (PlaceKind | undefined)[]>> = {
  project: ["project", "shared"],
  own: ["project", "own"],
  worktree: ["worktree"],
};

/**
 * Each place is read once.
 * @param memory undefined where there is none yet
 * @param channels the labels of the account
 */
export async function knownMemory(
  memory: Pick<ServiceCalls<string>, "facts"> | undefined,
  channels: readonly AccountLabel[],
  { userId, project }: { readonly userId: string; readonly project: Place },
): Promise<Pick<PlanOptions, "labels" | "presentAt">> {
  const known = new Map<string, ReturnType<PlanOptions["presentAt"]>>();
  const factsAt = async (kind: PlaceKind, place: Place) => {
    const { facts = [] } = (await memory?.facts(userId, { project: place })) ?? {};
    const here = facts.filter((fact) => place === undefined || PRESENT_AS[kind]?.includes(fact.place));
    return new Map(here.map((fact) => [fact.label, fact]));
  };
  const presentAt = (kind: PlaceKind, place: Place) => {
    const name = `${kind} ${place}`;
    const facts = known.get(name) ?? factsAt(kind, place);
    known.set(name, facts);
    return facts;
  };
  const isChannel = new Set(channels.map(({ label }) => label));
  const here = project?.includes("/") ? "worktree" : "project";
  const present = await Promise.all([presentAt("person", undefined), presentAt(here, project)]);
  const own = present.flatMap((facts) => [...facts.keys()]);
  const labels = [...channels, ...own.filter((label) => !isChannel.has(label)).map((label) => ({ label }))];
  return { labels, presentAt };
}
