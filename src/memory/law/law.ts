/**
 * The law: what a write does to a user's memory. It is a function of what is there while the user is locked, the request
 * and the limits; it has no clock, no randomness, and waits for nothing. Every store applies it, and nothing else decides
 * what a write does. A write is done whole or, where the law throws a Failure, not at all.
 *
 * A request names what must be read for it (`readingOf`). A composite change (an item of a list, a value restored, a fact
 * renamed, a user rolled back, a project moved, a past imported) becomes steps, each of which sets or forgets one fact (`stepsOf`).
 */

import { assert } from "../../base/assert.ts";
import { Failure } from "../../base/errors.ts";
import { ALL_GROUPS } from "../../base/groups.ts";
import { VALUE_BYTES_MAX } from "../../base/limits.ts";
import type { Sliced } from "../../base/slices.ts";
import { valueFault } from "../identifiers.ts";
import { OWN_PLACE } from "../places.ts";
import type {
  Change,
  ErasedCounts,
  FactChange,
  FactRecord,
  MadeChange,
  Replay,
  WriteOutcome,
  WriteReport,
  WriteRequest,
} from "../ports.ts";
import type { Place, ProjectRecord, UserChange } from "../records.ts";
import { requireWritable } from "../rights.ts";
import { isShared } from "../shared-places.ts";
import { type KeptAnswer, keptAnswer } from "./answers.ts";
import { requireCapacity } from "./bounds.ts";
import type { FactName, Step, Steps } from "./found-user.ts";
import { importSteps } from "./imports.ts";
import { appendSteps, removeSteps } from "./lists.ts";
import { moveSteps } from "./moves.ts";
import { renameSteps } from "./renames.ts";
import { restoreSteps, rollbackSteps } from "./restores.ts";
import { requireMember, requireSharedWrite } from "./sharing.ts";
import { type Memory, nameOf } from "./user-memory.ts";

/** What must be read of a user before a request is decided. */
export interface Reading {
  /** Some may be there twice. */
  readonly names: readonly FactName[];
  /** Everything at these places and inside them; "" means all of the user. */
  readonly inside: readonly Place[];
  /** With earlier values. */
  readonly history: boolean;
}

/** What else a store has found under its locks. */
export interface Found {
  /** What the same request was answered before. */
  readonly replay: Replay | "mismatch" | undefined;
  /** Encodes of the key in the month; 0 where nothing limits them. */
  readonly used: number;
  /** Labels with a live fact in the places of the request, but for those that the request names. */
  readonly others: number;
  /** Labels that were removed. */
  readonly gone: ReadonlySet<string>;
  /** Of a write in a shared project: who shares it; undefined where nobody does. */
  readonly sharing?: ProjectRecord | undefined;
}

/** What is to be stored beside the differences of the memory. */
export interface Decision {
  readonly outcome: WriteOutcome;
  /** Encodes that count. */
  readonly counted: number;
  /** Something was forgotten for good: what was answered before may hold it, and goes. */
  readonly isWiped: boolean;
  /** Of a request with an Idempotency-Key that is stored. */
  readonly answer: KeptAnswer | undefined;
}

/** Work on all of a user, or a place: it is not done together with other writes of the user. */
export function isWhole({ changes }: Pick<WriteRequest, "changes">): boolean {
  return changes.some((change) => change.kind && readingOfChange(change, []).inside.length > 0);
}

/** What must be read of the person, and of the project that is shared, where its place is the own one. */
export function readingsOf(request: Pick<WriteRequest, "changes" | "places">): {
  own: Reading;
  shared: Reading;
} {
  const { names, inside, history } = readingOf(request);
  const own = {
    names: names.filter(({ place }) => !isShared(place)),
    inside: inside.filter((place) => !isShared(place)),
    history,
  };
  const shared = {
    names: names.filter(({ place }) => isShared(place)).map(({ label }) => ({ place: OWN_PLACE, label })),
    inside: inside.filter(isShared).map(() => OWN_PLACE),
    history,
  };
  return { own, shared };
}

export function readingOf({ changes, places }: Pick<WriteRequest, "changes" | "places">): Reading {
  const readings = changes.map((change) => readingOfChange(change, places));
  if (readings.length === 1) return readings[0]!;
  return {
    names: readings.flatMap(({ names }) => names),
    inside: readings.flatMap(({ inside }) => inside),
    history: readings.some(({ history }) => history),
  };
}

function readingOfChange(change: Change, counted: readonly Place[]): Reading {
  const at = (label: string, places: readonly Place[]) =>
    [...places, ...counted.filter((place) => !places.includes(place))].map((place) => ({ place, label }));
  switch (change.kind) {
    case undefined:
      // The value before tells whether the end alone is moved.
      return {
        names: at(change.label, [change.place]),
        inside: [],
        history: change.expiresAtMs != null,
      };
    case "expire":
      return { names: at(change.label, [change.place]), inside: [], history: false };
    case "append":
    case "remove":
    case "forget":
      return { names: at(change.label, change.places), inside: [], history: false };
    case "restore":
      return { names: at(change.label, change.places), inside: [], history: true };
    case "rename":
      return {
        names: [change.label, change.to].flatMap((label) => at(label, change.places)),
        inside: [],
        history: true,
      };
    case "rollback":
      return { names: [], inside: [change.within], history: true };
    case "move":
      return { names: [], inside: [change.from, change.to], history: true };
    case "erase":
      return { names: [], inside: [change.within ?? OWN_PLACE], history: false };
    case "clear":
      return { names: [], inside: [change.place], history: true };
    case "disown":
      return { names: [], inside: [OWN_PLACE], history: true };
    case "import":
      return { names: change.lives, inside: [], history: false };
  }
}

/**
 * Decides a request, and changes the memory accordingly; may be interrupted after each fact. Throws a Failure, after which the
 * memory is not to be used.
 */
export function* applyLaw(
  memory: Memory,
  request: WriteRequest,
  { replay, used, others, gone, sharing }: Found,
): Sliced<Decision> {
  requireMember(request, sharing);
  const undecided = { counted: 0, isWiped: false, answer: undefined };
  if (replay === "mismatch") return { ...undecided, outcome: { outcome: "mismatch", used } };
  if (replay !== undefined) return { ...undecided, outcome: { outcome: "replayed", used, ...replay } };
  const unknown = request.changes.find((change) => isUnknown(memory, change));
  if (unknown !== undefined) {
    const { label, param = "" } = unknown as FactChange;
    return { ...undecided, outcome: { outcome: "label_unknown", used, label, param } };
  }
  const { steps, report } = yield* stepsOf(memory, request);
  // What is made as it goes names no label, has no condition, and does not count.
  const listed = Array.isArray(steps) ? (steps as readonly Step[]) : [];
  // A fact that comes back with its history counts once.
  const written = new Set<string>();
  let conflict: ReturnType<typeof conflictOf>;
  for (const step of listed) {
    yield;
    const { label, value, free, param = "" } = step.change;
    requireWritable(request.writable, label, `${param}label`);
    requireSharedWrite(request, sharing, step.change.place);
    if (value !== null && free === undefined && gone.has(label))
      return { ...undecided, outcome: { outcome: "label_gone", used, label, param } };
    if (value !== null && request.quota !== undefined) written.add(nameOf(step.change));
    conflict ??= conflictOf(memory, step);
  }
  const counted = written.size;
  const limit = request.quota?.limit ?? null;
  if (counted > 0 && limit !== null && used + counted > limit)
    return { ...undecided, outcome: { outcome: "limit", used } };
  if (conflict !== undefined) return { ...undecided, outcome: { outcome: "conflict", used, ...conflict } };
  const before = memory.parts.map(({ facts, heads, revision }) => ({ facts, heads, revision }));
  const { isWiped, ...taken } = yield* take(memory, steps, {
    isReported: report !== undefined,
    require: ({ label, place }) => {
      requireWritable(request.writable, label);
      requireSharedWrite(request, sharing, place);
    },
  });
  const made = request.changes[0]?.kind === "rename" ? renamed(taken.made) : taken.made;
  const events = eventsOf(request, report, taken.events);
  if (request.changes.some(({ kind }) => kind === "expire"))
    events.push(...endExpired(memory, request.nowMs));
  for (const [i, part] of memory.parts.entries()) {
    yield* requireCapacity(part, before[i]!);
    assert(part.revision >= before[i]!.revision, "a revision is not used twice");
  }
  const channelCount = others + memory.countLive(request.places, request.nowMs, namedLabels(request));
  const { revision } = memory;
  return {
    outcome: {
      outcome: "stored",
      channelCount,
      used: used + counted,
      revision,
      changes: made,
      events,
      ...(report === undefined ? {} : { report }),
    },
    counted,
    // Where the last facts have expired, there may be nothing left but answers.
    isWiped: isWiped || request.changes.some(({ kind }) => kind === "erase"),
    answer: request.idempotency === undefined ? undefined : keptAnswer(request, made, memory),
  };
}

/** Where a project is shared, others' writes of its group may have named further labels. */
function namedLabels(request: WriteRequest): ReadonlySet<string> | undefined {
  if (request.shared === undefined) return undefined;
  return new Set(readingOf(request).names.map(({ label }) => label));
}

/** Neither the account has the label, nor the person, and it is not to be made. */
function isUnknown(memory: Memory, change: Change): boolean {
  if (!("free" in change) || change.free === undefined) return false;
  return !change.free.make && memory.freeLabel(change.label) === undefined;
}

function* stepsOf(memory: Memory, request: WriteRequest): Sliced<Steps> {
  const { changes, nowMs, groups = ALL_GROUPS, writtenBy = null, sessionId = null } = request;
  assert(Number.isSafeInteger(nowMs), "a write has a moment");
  const author = { writtenBy, sessionId, userId: request.userId };
  const by = (facts: readonly FactChange[]) =>
    facts.map((change) => ({ change: checked(change, nowMs), author, nowMs }));
  const [first] = changes;
  if (first === undefined || first.kind === undefined)
    return { steps: by(changes.filter((change) => change.kind === undefined)) };
  assert(
    changes.length === 1 || changes.every(({ kind }) => kind === "expire"),
    "a change of another kind is the only one of its write",
  );
  switch (first.kind) {
    case "append":
      return { steps: by(appendSteps(memory, first, nowMs)) };
    case "remove":
      return { steps: by(removeSteps(memory, first, nowMs)) };
    case "forget":
      return { steps: by([forgetStep(memory, first, nowMs)]) };
    case "restore":
      return { steps: by(restoreSteps(memory, { ...first, groups }, nowMs)) };
    case "rename": {
      const steps = renameSteps(memory, first, { author, nowMs });
      for (const { change } of steps) checked(change, nowMs);
      return { steps };
    }
    case "erase": {
      const names = memory.names.filter(({ place }) => first.within !== OWN_PLACE || place === OWN_PLACE);
      return {
        steps: forgetting(names, { author, nowMs }),
        report: { erased: yield* countsOf(memory, names, nowMs) },
      };
    }
    case "clear":
      return { steps: forgetting(yield* clearedNames(memory, first, nowMs), { author, nowMs }) };
    case "expire":
      return { steps: [] };
    case "rollback":
      return yield* rollbackSteps(memory, { ...first, groups }, { author, nowMs });
    case "move":
      return yield* moveSteps(memory, first, { nowMs, owner: request.userId });
    case "disown": {
      const [part] = memory.parts;
      return { steps: [], report: { disowned: yield* part!.disown(first.author) } };
    }
    case "import":
      return yield* importSteps(memory, first, nowMs);
  }
}

function* countsOf(memory: Memory, names: readonly FactName[], nowMs: number): Sliced<ErasedCounts> {
  let [facts, earlier] = [0, 0];
  for (const name of names) {
    yield;
    if (memory.live(name, nowMs) !== undefined) facts += 1;
    earlier += memory.earlierCount(name, nowMs);
  }
  const places = new Set(names.map(({ place }) => place)).size;
  return { facts, earlier, labels: names.length, places };
}

function* clearedNames(
  memory: Memory,
  { place, isKept }: Extract<Change, { kind: "clear" }>,
  nowMs: number,
): Sliced<FactName[]> {
  const cleared: FactName[] = [];
  for (const name of memory.names) {
    yield;
    if (name.place !== place) continue;
    const present = memory.live(name, nowMs);
    const isLeft = (present !== undefined && isKept(present)) || memory.earlier(name, nowMs).some(isKept);
    if (!isLeft) cleared.push(name);
  }
  return cleared;
}

function* forgetting(names: Iterable<FactName>, by: Pick<Step, "author" | "nowMs">): Generator<Step> {
  for (const { place, label } of names) yield { change: { place, label, value: null }, ...by };
}

/** Forgets the fact that counts in the places; where there is none, what is kept of it at the last resort. */
function forgetStep(memory: Memory, change: Extract<Change, { kind: "forget" }>, nowMs: number): FactChange {
  const { label, places, otherwise, keepHistory = false, ifRevision } = change;
  const place =
    places.toReversed().find((at) => memory.live({ place: at, label }, nowMs) !== undefined) ?? otherwise;
  return { place, label, value: null, keepHistory, ...(ifRevision === undefined ? {} : { ifRevision }) };
}

/** What a label asks of its values, and an end that is to come. Nothing is ever cut. */
function checked(change: FactChange, nowMs: number): FactChange {
  const { value, terms, expiresAtMs, param = "" } = change;
  if (value === null || terms === undefined) return change;
  const { label, oneOf, maxBytes } = terms;
  if (oneOf !== null && !oneOf.includes(value)) {
    const allowed = oneOf.map((one) => JSON.stringify(one)).join(", ");
    throw new Failure("invalid_value", `The value of ${label} must be one of: ${allowed}.`, {
      param: `${param}value`,
    });
  }
  const fault = valueFault(value, maxBytes ?? VALUE_BYTES_MAX);
  if (fault !== undefined)
    throw new Failure("invalid_value", `The value ${fault}.`, { param: `${param}value` });
  if (expiresAtMs != null && expiresAtMs <= nowMs)
    throw new Failure("invalid_request", "expires_at must be in the future.", {
      param: `${param}expires_at`,
    });
  return change;
}

/** The fact that is there where a revision does not hold. */
function conflictOf(memory: Memory, { change, nowMs }: Step) {
  const { label, ifRevision, param = "" } = change;
  if (ifRevision === undefined) return undefined;
  const present = memory.live(change, nowMs);
  return (present?.revision ?? 0) === ifRevision ? undefined : { label, present, param, ifRevision };
}

/** Of a fact that has come with its history, the fact alone is told, and what was there before it came. */
function renamed(made: readonly MadeChange[]): MadeChange[] {
  const written = made.filter(({ value }) => value !== null);
  return written.slice(-1).map((fact) => ({ ...fact, before: written[0]?.before }));
}

interface Taken {
  /** Most of it need not be told fact by fact. */
  readonly isReported: boolean;
  /** Refuses what the author may not write. */
  readonly require: (name: FactName) => void;
}

function* take(memory: Memory, steps: Iterable<Step>, { isReported, require }: Taken) {
  const made: MadeChange[] = [];
  const events = new Map<string, UserChange>();
  let isWiped = false;
  for (const { change, author, nowMs } of steps) {
    yield;
    const { place, label, value, expiresAtMs = null } = change;
    require(change);
    const name = nameOf(change);
    const expired = memory.endExpired(change, nowMs);
    if (expired !== undefined) events.set(`${name} expired`, expiredEvent(expired));
    const numberBefore = memory.freeLabel(label, place)?.number;
    let before: MadeChange["before"];
    let found = true;
    if (value !== null) before = memory.set(change, value, author, nowMs);
    else {
      ({ before, found } = memory.forget(change, author, nowMs));
      if (found && (!change.keepHistory || memory.historyMax === 0)) isWiped = true;
    }
    const revision = found ? memory.revisionAt(place) : 0;
    const number = memory.freeLabel(label, place)?.number ?? numberBefore;
    const numbered = number === undefined ? {} : { number };
    if (!isReported || expiresAtMs !== null)
      made.push({ place, label, ...numbered, value, revision, expiresAtMs, before, found });
    if (value !== null || before !== undefined)
      events.set(name, {
        place,
        label,
        revision,
        kind: value === null ? "forgotten" : "written",
        writtenBy: author.writtenBy,
        atMs: nowMs,
      });
  }
  return { made, events: [...events.values()], isWiped };
}

/** What is erased as a whole is told once. */
function eventsOf(
  { changes: [first], nowMs }: WriteRequest,
  report: WriteReport | undefined,
  events: UserChange[],
): UserChange[] {
  if (first?.kind !== "erase") return events;
  if (!report?.erased?.labels) return [];
  const place = first.within ?? OWN_PLACE;
  return [{ place, label: null, revision: 0, kind: "forgotten", writtenBy: null, atMs: nowMs }];
}

/** Ends what has expired. */
function endExpired(memory: Memory, nowMs: number): UserChange[] {
  return memory.names.flatMap((name) => {
    const expired = memory.endExpired(name, nowMs);
    return expired === undefined ? [] : [expiredEvent(expired)];
  });
}

function expiredEvent({ place, label, revision, expiresAtMs }: FactRecord): UserChange {
  assert(expiresAtMs !== null, "an expired fact has a moment");
  return { place, label, revision, kind: "expired", writtenBy: null, atMs: expiresAtMs };
}
