/**
 * What must hold of calls that race, whatever their order was: an erasure is for good, nothing acknowledged is lost or
 * replaced by something older, nothing exists or counts twice, and a call is seen whole or not at all.
 *
 * A call that ended before another began came before it. Of calls at the same time either may have been first.
 */

import { isInside } from "../../../src/memory/places.ts";
import {
  type Beginning,
  isDone,
  isErasure,
  isRemovedBy,
  isReviver,
  isSameName,
  isWipedBy,
  type Kind,
  type MadeCall,
  MOVED_TO,
  mayFollow,
  type Name,
  type Pair,
  PROJECT,
} from "./plans.ts";

interface SeenValue extends Name {
  readonly value: string;
  readonly revision: number;
  readonly isPresent: boolean;
}

export interface Seen {
  readonly begun: number;
  readonly ended: number;
  readonly values: readonly SeenValue[];
}

export interface Log {
  readonly pair: Pair;
  readonly beginning: Beginning;
  readonly calls: readonly MadeCall[];
  readonly reads: readonly Seen[];
  /** Encodes that were counted. */
  readonly used: number;
}

const WRITERS: readonly Kind[] = ["encode", "batch", "append", "import"];

export function violationsOf(log: Log): string[] {
  const found = [
    ...log.reads.flatMap((read) => [
      ...revived(log, read),
      ...lost(log, read),
      ...replacedByOlder(log, read),
      ...twice(log, read),
      ...inPart(log, read),
    ]),
    ...outOfOrder(log),
    ...miscounted(log),
  ];
  return [...new Set(found)];
}

/** What was there before an erasure began, and is seen after it was acknowledged. */
function revived({ calls }: Log, read: Seen): string[] {
  const erasures = calls.filter((call) => isDone(call) && call.ended < read.begun && isErasure(call));
  return erasures.flatMap((erasure) =>
    read.values
      .filter((value) => isWipedBy(erasure, value))
      .filter(({ value }) => tagsOf(value).some((tag) => writtenAt(calls, tag).ended < erasure.begun))
      .map(
        ({ place, value }) => `${value} at "${place}" is seen after ${erasure.plan.kind} ${erasure.ended}`,
      ),
  );
}

/** What was acknowledged, and is neither a fact nor in the history, although nothing has wiped it. */
function lost({ calls }: Log, read: Seen): string[] {
  const seen = new Set(read.values.flatMap(({ value }) => tagsOf(value)));
  const found: string[] = [];
  for (const call of calls) {
    if (!isDone(call) || call.ended > read.begun || !WRITERS.includes(call.plan.kind)) continue;
    const { kind, tags, target } = call.plan;
    const names = kind === "import" ? [] : (call.answer?.facts ?? []);
    const later = calls.filter((other) => mayFollow(other, call, read));
    const written = kind === "encode" || kind === "append" ? tags.slice(0, 1) : tags;
    const isWiped = later.some(
      (other) => isErasure(other) && (kind === "import" || kind === "batch" || isWipedBy(other, target)),
    );
    for (const tag of isWiped ? [] : written) if (!seen.has(tag)) found.push(`${tag} of ${kind} is lost`);
    for (const name of names) {
      const isThere = read.values.some((value) => value.isPresent && isSameName(value, name));
      if (!isThere && !later.some((other) => isRemovedBy(other, name)))
        found.push(`${name.label} at "${name.place}" is gone after ${kind} ${call.ended}`);
    }
  }
  return found;
}

/** A fact whose value, or revision, is from before an acknowledged write. */
function replacedByOlder({ calls, reads }: Log, read: Seen): string[] {
  const found: string[] = [];
  for (const value of read.values) {
    if (!value.isPresent) continue;
    for (const call of calls) {
      const name = call.answer?.facts.find((fact) => isSameName(fact, value));
      if (name === undefined || call.ended > read.begun) continue;
      if (value.revision < name.revision)
        found.push(`${value.value} has revision ${value.revision} after ${name.revision}`);
      if (value.revision === name.revision && value.value !== name.value)
        found.push(`${value.value} has the revision of ${name.value}`);
      const isOlder = tagsOf(value.value).every((tag) => writtenAt(calls, tag).ended < call.begun);
      const isRevived = calls.some((other) => isReviver(other) && mayFollow(other, call, read));
      const isNew = call.plan.kind === "encode" || call.plan.kind === "batch";
      if (isNew && isOlder && !isRevived) found.push(`${value.value} has replaced ${name.value}`);
    }
    for (const other of reads) {
      if (other.ended > read.begun) continue;
      const before = other.values.find((seen) => seen.isPresent && isSameName(seen, value));
      if (before !== undefined && before.revision > value.revision)
        found.push(`${value.value} is seen after ${before.value}, with an older revision`);
    }
  }
  return found;
}

/** A value that is a fact at two places, in two projects, or ended twice. */
function twice({ beginning }: Log, read: Seen): string[] {
  const facts = new Map<string, number>();
  const projects = new Map<string, Set<string>>();
  let ends = 0;
  for (const { place, value, isPresent } of read.values) {
    if (value === beginning.ending) ends += 1;
    for (const tag of tagsOf(value)) {
      if (isPresent) facts.set(tag, (facts.get(tag) ?? 0) + 1);
      projects.set(tag, (projects.get(tag) ?? new Set()).add(place.split("/")[0]));
    }
  }
  return [
    ...[...facts].filter(([, count]) => count > 1).map(([tag]) => `${tag} is a fact twice`),
    ...[...projects]
      .filter(([, of]) => of.size > 1)
      .map(([tag, of]) => `${tag} is at ${[...of].join(" and ")}`),
    ...(ends > 1 ? ["a fact has expired twice"] : []),
  ];
}

/** What was written together, and is seen in part. */
function inPart({ pair, beginning, calls }: Log, read: Seen): string[] {
  if (pair.includes("forget")) return [];
  const batches = calls.filter(({ plan: { kind } }) => kind === "batch" || kind === "import");
  const whole = [...beginning.tags, ...batches.map(({ plan }) => plan.tags)];
  // A project is erased, and moved, without the person's own.
  const groups = whole.map((tags) => (pair.includes("erase project") ? tags.slice(1) : tags));
  const homes = new Map<string, string>();
  for (const { place, value } of read.values)
    for (const tag of tagsOf(value)) homes.set(tag, isInside(place, MOVED_TO) ? MOVED_TO : PROJECT);
  const found = groups
    .filter((tags) => new Set(tags.map((tag) => homes.has(tag))).size > 1)
    .map((tags) => `${tags.join(", ")} are there in part`);
  const moved = groups
    .map((tags) => tags.slice(-2))
    .filter((tags) => new Set(tags.map((tag) => homes.get(tag))).size > 1);
  return [
    ...found,
    ...moved.map((tags) => `${tags.join(", ")} are moved in part`),
    ...rolledBackInPart(pair, beginning, read),
  ];
}

/** Where nothing else writes facts, all of them have their first values, or all their second. */
function rolledBackInPart(pair: Pair, { tags }: Beginning, read: Seen): string[] {
  const others: readonly Kind[] = ["rollback", "move", "expiry", "append", "remove", "erase person"];
  if (!pair.includes("rollback") || !pair.every((kind) => others.includes(kind))) return [];
  const present = read.values.filter(({ isPresent }) => isPresent).map(({ value }) => value);
  const are = tags.map((ofMoment) => ofMoment.filter((tag) => present.includes(tag)).length);
  return are.every((count) => count > 0) ? [`rolled back in part: ${present.join(", ")}`] : [];
}

/** Revisions and what they replace are each used once, and grow from a call to those after it. */
function outOfOrder({ calls }: Log): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const once = (what: string) => {
    if (seen.has(what)) found.push(`twice: ${what}`);
    seen.add(what);
  };
  for (const { answer, begun } of calls) {
    for (const { place, label, revision, replaced } of answer?.facts ?? []) {
      once(`revision ${revision}`);
      if (replaced !== undefined) once(`${label} at "${place}" replaces ${replaced}`);
      for (const other of calls)
        if (other.ended < begun && other.answer?.facts.some((fact) => fact.revision > revision))
          found.push(`revision ${revision} was given after a higher one`);
    }
    for (const expired of answer?.expired ?? []) once(`expired ${expired}`);
  }
  return found;
}

/** The most that a call without an answer may have counted. */
const COUNTED_MAX: Partial<Record<Kind, number>> = {
  encode: 1,
  batch: 3,
  append: 1,
  remove: 1,
  restore: 1,
  rollback: 9,
};
/** What the beginning has counted. */
const COUNTED_BEFORE = 8;

function miscounted({ calls, used }: Log): string[] {
  let least = COUNTED_BEFORE;
  let most = COUNTED_BEFORE;
  for (const { plan, answer } of calls) {
    least += answer?.counted ?? 0;
    most += answer?.counted ?? COUNTED_MAX[plan.kind] ?? 0;
  }
  return used < least || used > most ? [`${used} are counted, of ${least} to ${most}`] : [];
}

const ALWAYS = { begun: 0, ended: 0 };

function writtenAt(calls: readonly MadeCall[], tag: string): Pick<MadeCall, "begun" | "ended"> {
  if (!tag.startsWith("t")) return ALWAYS;
  return calls.find(({ plan }) => plan.tags.includes(tag))!;
}

function tagsOf(value: string): string[] {
  return value.split("; ");
}
