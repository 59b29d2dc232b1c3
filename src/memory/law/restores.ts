/** An earlier value written again, and a user put back to a moment. */

import { findChannel } from "../../base/channels.ts";
import { Failure } from "../../base/errors.ts";
import type { Groups } from "../../base/groups.ts";
import type { Sliced } from "../../base/slices.ts";
import type {
  EarlierFact,
  FactChange,
  FactRecord,
  FormerLabel,
  FreeTerms,
  RestoreChange,
  RollbackChange,
  RollbackReport,
} from "../ports.ts";
import type { Place } from "../records.ts";
import type { FactName, Step, Steps } from "./found-user.ts";
import { relabelled } from "./renames.ts";
import { isLive, type Memory, nameOf } from "./user-memory.ts";

/**
 * Writes the value that a revision had again, at the place where it was, with its origin, with its end unless that has come,
 * and with the description that its label had.
 */
export function restoreSteps(
  memory: Memory,
  change: RestoreChange & VisibleGroups,
  nowMs: number,
): FactChange[] {
  const { label, places, revision, terms, ifRevision, groups } = change;
  const values = places.flatMap((place) => seenValues(valuesOf(memory, { place, label }, nowMs), groups));
  const found = values.find((fact) => fact.revision === revision);
  if (found === undefined)
    throw new Failure("not_found", `There is no revision ${revision} of ${terms.label}.`, {
      param: "revision",
    });
  const { place, value, origin } = found;
  const former = formerLabel(
    values.filter((fact) => fact.place === place),
    found,
  );
  const described = former?.label === label ? { description: former.description } : {};
  const free = change.free === undefined ? undefined : { ...change.free, ...described };
  const expiresAtMs = isLive(found, nowMs) ? found.expiresAtMs : change.expiresAtMs;
  const condition = ifRevision === undefined ? {} : { ifRevision };
  return [{ place, label, value, terms, free, expiresAtMs, ...condition, origin: origin ?? null }];
}

/** Whose labels a caller sees. */
interface VisibleGroups {
  readonly groups: Groups;
}

/** Whether a value ended under a label that a caller sees. */
export function isOfSeenLabel({ former }: Pick<EarlierFact, "former">, groups: Groups): boolean {
  return former === undefined || groups.has(former.label);
}

/** Without what a fact was before it came from a label that is not seen. */
function seenValues<V extends FactRecord | EarlierFact>(values: readonly V[], groups: Groups): readonly V[] {
  return values.slice(values.findLastIndex((value) => !isOfSeenLabel(value as EarlierFact, groups)) + 1);
}

/** What a label had at the moment. */
interface FactAtMoment extends FactName {
  readonly fact: FactRecord | EarlierFact;
  /** What the label was, where that has changed since. */
  readonly former: FormerLabel | undefined;
  /** The name under which the fact, or its history, is now. */
  readonly from: FactName;
}

/**
 * What comes back has the end, origin, pin, label and description that it had. What would have ended since the moment stays away.
 * Where only what has not changed since another moment goes back, the rest of what had changed until then is told.
 */
export function* rollbackSteps(
  memory: Memory,
  {
    toMs,
    partial,
    dryRun,
    groups,
    unchangedSinceMs = Number.POSITIVE_INFINITY,
  }: RollbackChange & VisibleGroups,
  by: Pick<Step, "author" | "nowMs">,
): Sliced<Steps> {
  const { nowMs } = by;
  const unreached: FactName[] = [];
  const changedSince: FactName[] = [];
  const names = new Map<string, FactName>();
  const wanted = new Map<string, FactAtMoment>();
  for (const { place, label } of memory.names) {
    yield;
    if (!groups.has(label)) continue;
    const from = { place, label };
    const all = valuesOf(memory, from, nowMs);
    const values = seenValues(all, groups);
    const [first] = values;
    if (first === undefined) continue;
    if (values.some((value) => changedAtMs(value) > unchangedSinceMs)) {
      if (values.some(({ sinceMs }) => sinceMs > toMs && sinceMs <= unchangedSinceMs))
        changedSince.push(from);
      continue;
    }
    const fact = values.filter(({ sinceMs }) => sinceMs <= toMs).at(-1);
    // A fact that came from a label that is not seen began when it came.
    const isWhole = first.ordinal === 1 || values.length < all.length;
    if (fact === undefined && !isWhole) unreached.push(from);
    else names.set(nameOf(from), from);
    if (fact === undefined || !isLive(fact, nowMs) || ("ended" in fact && fact.endedAtMs <= toMs)) continue;
    const former = formerLabel(values, fact);
    const name = { place, label: former?.label ?? label };
    wanted.set(nameOf(name), { ...name, fact, former, from });
  }
  // First what has another label since: then its old one may be free, and the new one is.
  const [moves, writes]: [Step[], Step[]] = [[], []];
  const moved = new Map<string, FactRecord | undefined>();
  for (const [key, { place, label, from, former }] of wanted) {
    yield;
    if (!names.has(key)) names.set(key, { place, label });
    const fact = memory.live(from, nowMs);
    if (from.label === label || fact === undefined || !memory.isEmpty({ place, label }, nowMs)) continue;
    moves.push(...relabelled(memory, fact, { label, free: termsOf(memory, place, former) }, by));
    moved.set(key, fact).set(nameOf(from), undefined);
  }
  const changes: RollbackReport["changes"][number][] = [];
  for (const [key, name] of names) {
    yield;
    const { fact, former } = wanted.get(key) ?? {};
    // What moves there makes its label.
    const free = moved.get(key) === undefined ? termsOf(memory, name.place, former) : undefined;
    const isThere = (present: FactRecord | undefined) => isAlike(present, fact) && free === undefined;
    const present = memory.live(name, nowMs);
    if (!isThere(present)) changes.push({ ...name, from: present?.value ?? null, to: fact?.value ?? null });
    if (isThere(moved.has(key) ? moved.get(key) : present)) continue;
    const terms =
      fact === undefined
        ? { keepHistory: true }
        : { expiresAtMs: fact.expiresAtMs, free, origin: fact.origin ?? null, pinned: fact.pinned === true };
    writes.push({ change: { ...name, value: fact?.value ?? null, ...terms }, ...by });
  }
  const isDone = !dryRun && (partial || unreached.length === 0);
  return {
    steps: isDone ? [...moves, ...writes] : [],
    report: { rollback: { changes, unreached, isDone, changedSince } },
  };
}

/** When a value came, or went away for good: what followed at once has its own moment. */
function changedAtMs(value: FactRecord | EarlierFact): number {
  const isGone = "ended" in value && (value.ended === "forgotten" || value.ended === "expired");
  return isGone ? Math.max(value.sinceMs, value.endedAtMs) : value.sinceMs;
}

function isAlike(a: FactRecord | undefined, b: FactRecord | EarlierFact | undefined): boolean {
  const isSameValue = a?.value === b?.value && a?.expiresAtMs === b?.expiresAtMs;
  return isSameValue && a?.origin === b?.origin && a?.pinned === b?.pinned;
}

/** What makes a label again, or describes it as it was; undefined where it is so, or is the account's. */
function termsOf(memory: Memory, place: Place, former: FormerLabel | undefined): FreeTerms | undefined {
  if (former === undefined || findChannel(former.label) !== undefined) return undefined;
  const { label, description } = former;
  const known = memory.freeLabel(label, place);
  const isSo = known === undefined ? memory.isKnown({ place, label }) : known.description === description;
  return isSo ? undefined : { make: true, description };
}

/** What the label of a value was, where that has changed since. */
function formerLabel(values: readonly (FactRecord | EarlierFact)[], value: FactRecord | EarlierFact) {
  const since = values.slice(values.indexOf(value));
  return since.flatMap((one) => ("former" in one ? one.former : []))[0];
}

/** The oldest first. */
function valuesOf(memory: Memory, name: FactName, nowMs: number): (FactRecord | EarlierFact)[] {
  const present = memory.live(name, nowMs);
  return [...memory.earlier(name, nowMs), ...(present === undefined ? [] : [present])];
}
