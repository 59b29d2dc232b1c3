/**
 * What must hold of calls on a shared project that race, whatever their order was: an erasure is for good, whoever was removed
 * reads and writes nothing of the team's, nothing acknowledged is lost, and all facts are in one of both memories.
 *
 * A call that ended before another began came before it. Of calls at the same time either may have been first.
 */

import type { EarlierFact, FactRecord } from "../../../src/memory/ports.ts";
import { KEPT, MEMBERS, type Member, REMOVED, type SharedCall, type SharedPair } from "./shared-calls.ts";

type Value = FactRecord | EarlierFact;

/** Each memory is read at one moment, one after the other. */
export interface SeenMemories {
  readonly begun: number;
  readonly ended: number;
  readonly team: readonly Value[];
  readonly own: Readonly<Record<Member, readonly Value[]>>;
  /** What the member who is removed is shown of the team's. */
  readonly shown: readonly string[];
  /** Whether the project is shared. */
  readonly isKnown: boolean;
}

export interface SharedLog {
  readonly pair: SharedPair;
  readonly calls: readonly SharedCall[];
  readonly reads: readonly SeenMemories[];
  /** The reads after all calls. */
  readonly last: readonly SeenMemories[];
}

type Kind = SharedCall["plan"]["kind"];
type Span = Pick<SharedCall, "begun" | "ended">;

export function sharedViolations(log: SharedLog): string[] {
  const found = [
    ...log.reads.flatMap((read) => [
      ...atWrongPlace(log, read),
      ...revived(log, read),
      ...named(log, read),
      ...shownToRemoved(log, read),
      ...replacedByOlder(log, read),
      ...inPart(log, read),
    ]),
    ...log.last.flatMap((read) => [...lost(log, read), ...apart(log, read)]),
    ...writtenByRemoved(log),
  ];
  return [...new Set(found)];
}

const isDone = ({ answer }: SharedCall) => answer === "done";
/** A call that was refused may have done a part: a sharing is ended, or begun, before facts are moved. */
const mayBeDone = ({ answer }: SharedCall) => answer !== "fact_not_found" && answer !== "not_found";

/** Whether a call of such a kind may have come after one moment and before another. */
function may(calls: readonly SharedCall[], kinds: readonly Kind[], { begun, ended }: Span): boolean {
  return calls.some(
    (call) => kinds.includes(call.plan.kind) && mayBeDone(call) && call.ended > begun && call.begun < ended,
  );
}

function done(calls: readonly SharedCall[], kind: Kind, before: number): SharedCall[] {
  return calls.filter((call) => call.plan.kind === kind && isDone(call) && call.ended < before);
}

function writerOf(calls: readonly SharedCall[], { value }: Pick<Value, "value">): SharedCall {
  return calls.find(({ plan }) => plan.tags.includes(value))!;
}

/** Only sharing takes what a member has alone to the team, and only the end of it gives anything back, and to one. */
function atWrongPlace({ calls }: SharedLog, read: SeenMemories): string[] {
  const isOwn = (value: Value) => writerOf(calls, value).plan.kind === "write own";
  const before = { begun: -1, ended: read.ended };
  const taken = may(calls, ["share"], before) ? [] : read.team.filter(isOwn);
  const given = MEMBERS.flatMap((member) =>
    read.own[member].filter((value) => {
      const { kind, member: writer } = writerOf(calls, value).plan;
      if (kind === "write own" && writer === member) return false;
      return member !== KEPT || !may(calls, ["unshare"], before);
    }),
  );
  return [...taken, ...given].map(({ value }) => `${value} is where nobody has put it`);
}

/** What was there before an erasure began, and is seen after it was acknowledged. */
function revived({ calls }: SharedLog, read: SeenMemories): string[] {
  const found: string[] = [];
  const tell = (erasure: SharedCall, values: readonly Value[]) => {
    for (const value of values)
      if (writerOf(calls, value).ended < erasure.begun)
        found.push(`${value.value} is seen after ${erasure.plan.kind} ${erasure.ended}`);
  };
  const isTeams = (value: Value) => writerOf(calls, value).plan.kind === "write";
  for (const erasure of done(calls, "erase project", read.begun)) {
    const since = { begun: erasure.begun, ended: read.ended };
    if (!may(calls, ["share"], since)) tell(erasure, read.team);
    const own = [...read.own.ada, ...read.own.bob].filter(isTeams);
    if (!may(calls, ["unshare"], { begun: -1, ended: erasure.ended })) tell(erasure, own);
  }
  for (const forget of done(calls, "forget", read.begun)) {
    const since = { begun: forget.begun, ended: read.ended };
    const ofLabel = read.team.filter(({ label }) => label === forget.plan.label);
    if (!may(calls, ["share"], since)) tell(forget, ofLabel);
  }
  for (const erasure of done(calls, "erase member", read.begun)) {
    const since = { begun: erasure.begun, ended: read.ended };
    const { member } = erasure.plan;
    if (!may(calls, ["unshare"], since)) tell(erasure, read.own[member]);
    const isOfMember = (value: Value) => {
      const { kind, member: writer } = writerOf(calls, value).plan;
      return kind === "write own" && writer === member;
    };
    const isTaken = may(calls, ["share"], { begun: -1, ended: erasure.ended });
    if (!isTaken) tell(erasure, read.team.filter(isOfMember));
  }
  return found;
}

/** A name that is kept with a value, although its person was erased and has done nothing since. */
function named({ calls }: SharedLog, read: SeenMemories): string[] {
  return done(calls, "erase member", read.begun).flatMap((erasure) => {
    const { member } = erasure.plan;
    const isActive = calls.some(
      (call) =>
        call.plan.kind !== "erase member" &&
        call.plan.kind !== "remove member" &&
        // Taking and giving name whose it was.
        (call.plan.member === member || call.plan.kind === "share" || call.plan.kind === "unshare") &&
        call.ended > erasure.begun &&
        call.begun < read.ended,
    );
    const values = isActive
      ? []
      : read.team.filter(
          (value) => value.author === member || ("endedBy" in value && value.endedBy === member),
        );
    return values.map(({ value }) => `${value} names ${member} after ${erasure.ended}`);
  });
}

function shownToRemoved({ calls }: SharedLog, read: SeenMemories): string[] {
  const isRemoved = done(calls, "remove member", read.begun).some(
    ({ begun }) => !may(calls, ["share"], { begun, ended: read.ended }),
  );
  return isRemoved ? read.shown.map((value) => `${value} is shown to whoever was removed`) : [];
}

function writtenByRemoved({ calls }: SharedLog): string[] {
  const writers: readonly Kind[] = ["write", "forget", "restore", "rollback"];
  const late = calls.filter(
    (call) =>
      writers.includes(call.plan.kind) &&
      call.plan.member === REMOVED &&
      isDone(call) &&
      done(calls, "remove member", call.begun).some(
        ({ begun }) => !may(calls, ["share"], { ...call, begun }),
      ),
  );
  return late.map(({ plan, begun }) => `${plan.kind} ${begun} is of whoever was removed`);
}

/** A fact from before an acknowledged write on its label. */
function replacedByOlder({ calls }: SharedLog, read: SeenMemories): string[] {
  const others: readonly Kind[] = ["restore", "rollback", "share", "unshare", "forget"];
  return read.team.flatMap((value) => {
    if ("ended" in value) return [];
    const writer = writerOf(calls, value);
    const newer = done(calls, "write", read.begun).find(
      (write) => writer.ended < write.begun && !may(calls, others, { begun: write.begun, ended: read.ended }),
    );
    return newer === undefined ? [] : [`${value.value} has replaced ${newer.plan.tags.join(" and ")}`];
  });
}

/** What was written together is in a memory whole, or not at all. */
function inPart({ pair, calls }: SharedLog, { team, own }: SeenMemories): string[] {
  if (pair.includes("forget")) return [];
  return calls.flatMap(({ plan: { tags } }) =>
    [team, own.ada, own.bob]
      .filter((values) => new Set(tags.map((tag) => values.some(({ value }) => value === tag))).size > 1)
      .map(() => `${tags.join(" and ")} are there in part`),
  );
}

/** What was acknowledged, and is in no memory although nothing may have erased it. */
function lost({ pair, calls }: SharedLog, read: SeenMemories): string[] {
  const values = [...read.team, ...read.own.ada, ...read.own.bob].map(({ value }) => value);
  return calls.filter(isDone).flatMap((call) => {
    const { kind, tags } = call.plan;
    if (kind !== "write" && kind !== "write own") return [];
    const isTeams = kind === "write" || pair.includes("share");
    const isPersons = kind === "write own" || pair.includes("unshare");
    const wipers: Kind[] = [
      ...(isTeams ? (["forget", "erase project"] as const) : []),
      ...(isPersons ? (["erase member"] as const) : []),
    ];
    if (may(calls, wipers, { begun: call.begun, ended: read.ended })) return [];
    return tags.filter((tag) => !values.includes(tag)).map((tag) => `${tag} of ${kind} is lost`);
  });
}

/** At rest each value is in one memory, and the team has nothing where no project is shared. */
function apart(_: SharedLog, { team, own, isKnown }: SeenMemories): string[] {
  const memories = [team, own.ada, own.bob].map((values) => new Set(values.map(({ value }) => value)));
  const all = memories.flatMap((values) => [...values]);
  const twice = all
    .filter((value, i) => all.indexOf(value) < i)
    .map((value) => `${value} is in two memories`);
  return isKnown || team.length === 0 ? twice : [...twice, "facts of a project that nobody shares"];
}
