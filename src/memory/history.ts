/**
 * Facts that were: the earlier values of a fact, what changed for a user, an earlier value written again, and a user put
 * back to a moment.
 */

import { assert } from "../base/assert.ts";
import { LABEL_FORM } from "../base/channel-labels.ts";
import { Failure } from "../base/errors.ts";
import type { FactOrigin } from "../base/fact-origins.ts";
import { atOnce, inSlices, type Sliced } from "../base/slices.ts";
import type { Caller } from "./authentication.ts";
import { type EncodeResult, lifeEnd, quotaOf, requireStored, type WriteInput, writeFacts } from "./encode.ts";
import type { UserEvent } from "./events.ts";
import { missingFact, namedLabel } from "./free-labels.ts";
import { checkAuthor } from "./identifiers.ts";
import { withoutGaps } from "./law/earlier-values.ts";
import type { FactName } from "./law/found-user.ts";
import { nameOf } from "./law/user-memory.ts";
import { innermost, isInside, OWN_PLACE, type Person, placeFor } from "./places.ts";
import type { EarlierFact, FactRecord, UserLife, View } from "./ports.ts";
import type { Place, WriteScope } from "./records.ts";
import type { MemoryServices } from "./services.ts";
import { isShared, type OwnMark, ownMark } from "./shared-places.ts";
import { viewFor } from "./shared-projects.ts";

/** A value of a fact: the present one, or one that has ended. */
export type KeptValue = FactRecord | EarlierFact;

export interface FactHistory extends OwnMark {
  readonly label: string;
  readonly place: Place;
  /** The newest first. */
  readonly revisions: readonly KeptValue[];
}

interface LabelInput extends Person {
  readonly label: string;
  /** Only this place of the call. */
  readonly scope?: WriteScope | undefined;
}

/** The history of the fact that counts; where there is none any more, of the innermost place that had one. */
export async function factHistory(
  services: MemoryServices,
  account: string,
  input: LabelInput,
): Promise<FactHistory> {
  const { label, userId } = input;
  const view = await viewFor(services, account, input);
  const { nowMs } = view;
  const places = placesMeant(view, input);
  if (!LABEL_FORM.test(label)) throw await missingFact(services, view, label);
  const lives = places.toReversed().map(async (place) => {
    const life = await services.store.readLife(account, userId, { nowMs, place, label });
    return [...atOnce(lifeByFact(life, services.historyMax)).values()];
  });
  const ofPlaces = (await Promise.all(lives)).flat();
  const found = ofPlaces.find(({ present }) => present !== undefined) ?? ofPlaces[0];
  if (found === undefined) throw await missingFact(services, view, label);
  const revisions = [...found.earlier].reverse();
  return {
    label,
    place: found.place,
    ...ownMark(view, found.place),
    revisions: found.present === undefined ? revisions : [found.present, ...revisions],
  };
}

function placesMeant({ places }: View, { scope }: LabelInput): readonly Place[] {
  return scope === undefined ? places : [placeFor(scope, places)];
}

interface RestoreInput extends LabelInput, WriteInput {
  readonly revision: number;
  readonly ifRevision?: number | undefined;
}

/** Writes the value that a revision had again, at the place where it was, with its origin, and with its end unless that has come. */
export async function restoreFact(
  services: MemoryServices,
  caller: Caller,
  input: RestoreInput,
): Promise<EncodeResult> {
  const { userId, project, label, revision, ifRevision, scope } = input;
  const view = await viewFor(services, caller.account, input);
  const { nowMs } = view;
  const places = placesMeant(view, input);
  const { terms, free } = await namedLabel(services, view, label);
  const expiresAtMs = lifeEnd({}, terms, nowMs);
  const condition = ifRevision === undefined ? {} : { ifRevision };
  return writeFacts(services, caller, input, view, {
    changes: [{ kind: "restore", label, places, revision, terms, free, expiresAtMs, ...condition }],
    label,
    fingerprinted: ["restore", userId, [label, revision, ifRevision, scope], project ?? null],
  });
}

/** Something that happened to a fact, with the value that was written or has ended. */
export interface FactEvent extends Omit<UserEvent, "userId" | "label" | "kind"> {
  readonly kind: UserEvent["kind"] | "renamed";
  readonly label: string;
  readonly value: string;
  /** The value that was replaced; undefined where there was no fact, or none is kept. */
  readonly was?: string | undefined;
  /** The label that a renamed one had. */
  readonly renamedFrom?: string | undefined;
  readonly sessionId: string | null;
  readonly origin?: FactOrigin | undefined;
  readonly author?: string | undefined;
}

/** What tells an event from all others of a user: a value is written once, and ends once. */
export type EventMark = Pick<FactEvent, "atMs" | "revision" | "kind">;

interface ChangesInput extends Person {
  readonly sinceMs?: number | undefined;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: EventMark | undefined;
}

/**
 * What changed for a user at all places, or at that of the call and those inside it, and in its project where that is shared;
 * the newest first.
 */
export async function userChanges(
  services: MemoryServices,
  account: string,
  input: ChangesInput,
): Promise<{ events: readonly FactEvent[]; isMore: boolean }> {
  const { sinceMs = 0, limit, after } = input;
  const { store, turns, historyMax } = services;
  const view = await viewFor(services, account, input);
  const isWanted = (event: FactEvent) =>
    event.atMs >= sinceMs && (after === undefined || byTimeBackwards(after, event) < 0);
  const turn = () => turns.next(account);
  let newest: FactEvent[] = [];
  const own = await store.listPlaces(account, input.userId);
  const wanted = own.filter(
    (place) => input.project === undefined || isInside(place, innermost(view.places)),
  );
  for (const place of [...view.places.filter(isShared), ...wanted]) {
    await turn();
    const life = await store.readLife(account, input.userId, { nowMs: view.nowMs, place });
    const events = await inSlices(eventsOf(life, historyMax), turn);
    // Those of all places need not be in memory at once.
    newest = [...newest, ...events.filter(isWanted)].sort(byTimeBackwards).slice(0, limit + 1);
  }
  return { events: newest.slice(0, limit), isMore: newest.length > limit };
}

/** A value that was written and ended in the same millisecond was written first. */
function byTimeBackwards(a: EventMark, b: EventMark): number {
  const isBegun = ({ kind }: EventMark) => Number(kind === "written" || kind === "renamed");
  return b.atMs - a.atMs || b.revision - a.revision || isBegun(a) - isBegun(b);
}

function endedOf(author: string | undefined) {
  return { writtenBy: null, sessionId: null, author };
}

function* eventsOf(life: UserLife | undefined, historyMax: number): Sliced<FactEvent[]> {
  const events: FactEvent[] = [];
  for (const { present, earlier } of (yield* lifeByFact(life, historyMax)).values()) {
    yield;
    // Who renamed a fact, or ended a value, is kept in a shared project alone: its writer need not be the one.
    const begun = valuesOf({ present, earlier }).map((fact, i): FactEvent => {
      const { ended, value, former, endedBy } = earlier[i - 1] ?? {};
      const parts = { ...partsOf(fact), atMs: fact.sinceMs };
      if (ended === "renamed")
        return { ...parts, ...endedOf(endedBy), kind: ended, renamedFrom: former?.label };
      return { ...parts, kind: "written", was: ended === "replaced" ? value : undefined };
    });
    const ended = earlier.flatMap((fact) =>
      fact.ended === "replaced" || fact.ended === "renamed"
        ? []
        : [{ ...partsOf(fact), ...endedOf(fact.endedBy), kind: fact.ended, atMs: fact.endedAtMs }],
    );
    events.push(...begun, ...ended);
  }
  return events;
}

function partsOf({ place, label, revision, value, writtenBy, sessionId, origin, author }: KeptValue) {
  return { place, label, revision, value, writtenBy, sessionId, origin, author };
}

export interface RollbackInput extends WriteInput {
  readonly toMs: number;
  /** Only lists what would change. */
  readonly dryRun?: boolean | undefined;
  /** Puts back what can be, where the history of some labels does not reach back that far. */
  readonly partial?: boolean | undefined;
  /** Of a shared project what its members share, and nothing else. */
  readonly scope?: "project" | undefined;
  /** Goes back only with what has not changed since this moment. */
  readonly unchangedSinceMs?: number | undefined;
}

interface RolledBack {
  readonly place: Place;
  readonly label: string;
  /** null: there is, or was, no fact. */
  readonly from: string | null;
  readonly to: string | null;
}

export interface RollbackResult {
  readonly changes: readonly RolledBack[];
  /** Labels whose history does not reach back that far. */
  readonly unreached: readonly { readonly place: Place; readonly label: string }[];
  readonly isDone: boolean;
  readonly used: number | undefined;
  /** What is left as it is, because it has changed again since the moment that was named. */
  readonly changedSince: readonly { readonly place: Place; readonly label: string }[];
  /** undefined where nothing was changed */
  readonly doneAtMs: number | undefined;
}

/**
 * Puts a user back to a moment at all places, or at that of the call and those inside it: all or none. What is shared goes
 * back only where the call says so, and alone.
 */
export async function rollBack(
  services: MemoryServices,
  caller: Caller,
  input: RollbackInput,
): Promise<RollbackResult> {
  const { account } = caller;
  const {
    userId,
    project,
    toMs,
    dryRun = false,
    partial = false,
    writtenBy = null,
    sessionId = null,
    unchangedSinceMs,
  } = input;
  const view = await viewFor(services, account, input);
  const { places, nowMs } = view;
  checkAuthor(input);
  if (toMs > nowMs) throw new Failure("invalid_request", "to must not be in the future.", { param: "to" });
  const own = project === undefined ? OWN_PLACE : innermost(places);
  const within = input.scope === undefined ? own : sharedPlaceIn(view, project);
  const outcome = await services.store.write({
    account,
    userId,
    places: [],
    nowMs,
    ...(input.scope === undefined ? {} : { shared: view.shared }),
    changes: [{ kind: "rollback", within, toMs, dryRun, partial, unchangedSinceMs }],
    writtenBy,
    sessionId,
    quota: quotaOf(caller, nowMs),
  });
  assert(outcome.outcome !== "label_unknown", "a rollback names no label");
  requireStored(outcome, caller, nowMs);
  assert(outcome.outcome === "stored" && outcome.report?.rollback !== undefined, "a rollback is reported");
  const { changes, unreached, isDone, changedSince } = outcome.report.rollback;
  const isChanged = isDone && changes.length > 0;
  if (isChanged) services.blocks.drop(account, userId);
  return {
    changes: await inOrder(services, account, changes),
    unreached: await inOrder(services, account, unreached),
    isDone,
    used: isChanged ? outcome.used : undefined,
    changedSince: await inOrder(services, account, changedSince),
    doneAtMs: isChanged ? nowMs : undefined,
  };
}

/** What a rollback with the scope `project` is about. */
function sharedPlaceIn({ shared, places }: View, project: string | undefined): Place {
  if (project === undefined || project.includes("/"))
    throw new Failure("invalid_request", "scope needs project, without a worktree.", { param: "scope" });
  const place = places.find(isShared);
  if (shared !== undefined && place !== undefined) return place;
  throw new Failure(
    "not_a_member",
    `The project ${project} is not shared, or not with this user. Leave scope out for what the user has there.`,
    { param: "scope" },
  );
}

/** By place and channel, one place after the other. */
async function inOrder<F extends FactName>(
  { labels, turns }: MemoryServices,
  account: string,
  facts: readonly F[],
): Promise<F[]> {
  const turn = () => turns.next(account);
  const byPlace = await inSlices(factsByPlace(facts), turn);
  const ordered: F[] = [];
  for (const [, ofPlace] of [...byPlace].sort(([a], [b]) => (a < b ? -1 : 1))) {
    await turn();
    ordered.push(...(await labels.inOrder(account, ofPlace)).facts);
  }
  return ordered;
}

function* factsByPlace<F extends FactName>(facts: readonly F[]): Sliced<Map<Place, F[]>> {
  const byPlace = new Map<Place, F[]>();
  for (const fact of facts) {
    yield;
    const known = byPlace.get(fact.place);
    if (known === undefined) byPlace.set(fact.place, [fact]);
    else known.push(fact);
  }
  return byPlace;
}

interface FactLife {
  readonly place: Place;
  readonly label: string;
  present: FactRecord | undefined;
  /** The oldest first. */
  earlier: EarlierFact[];
}

/** The oldest first. */
function valuesOf({ present, earlier }: Pick<FactLife, "present" | "earlier">): KeptValue[] {
  return [...earlier, ...(present === undefined ? [] : [present])];
}

/** Facts and history by place and label, with as much of the history as is to be kept. */
function* lifeByFact(life: UserLife | undefined, historyMax: number): Sliced<Map<string, FactLife>> {
  const byFact = new Map<string, FactLife>();
  const of = ({ place, label }: { place: Place; label: string }) => {
    const name = nameOf({ place, label });
    const known = byFact.get(name) ?? { place, label, present: undefined, earlier: [] };
    byFact.set(name, known);
    return known;
  };
  for (const fact of life?.facts ?? []) {
    yield;
    of(fact).present = fact;
  }
  for (const fact of life?.earlier ?? []) {
    yield;
    of(fact).earlier.push(fact);
  }
  for (const [name, fact] of byFact) {
    yield;
    const { earlier, present } = fact;
    fact.earlier = historyMax === 0 ? [] : withoutGaps(earlier, present, false).slice(-historyMax);
    if (fact.earlier.length === 0 && fact.present === undefined) byFact.delete(name);
  }
  return byFact;
}
