/**
 * A user's line in an export: facts of all places in the form of GET /facts, and earlier values. An import writes the
 * values again, one after the other, so that the store itself makes the history; where a fact is known already, only its
 * present value is written, and an import may be repeated. A large user has several lines, each with places of its own.
 */

import { momentOf } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { checkAccount, checkAuthor, checkIdentifier, checkValue } from "./identifiers.ts";
import { type AccountLabels, unknownLabel } from "./labels.ts";
import { OWN_PLACE, placesOf } from "./places.ts";
import type { EarlierFact, FactChange, FactRecord, Place, Store, UserLife } from "./ports.ts";

/** What is the same as the default is left out: place "", since = updated_at, ordinal 1, null. */
interface ExportedValue {
  readonly label: string;
  readonly value: string;
  readonly channel: number;
  readonly revision: number;
  readonly updated_at: string;
  readonly since?: string;
  readonly place?: Place;
  readonly ordinal?: number;
  readonly written_by?: string;
  readonly session_id?: string;
}

export interface ExportedFact extends ExportedValue {
  readonly expires_at?: string;
}

export interface ExportedEarlier extends ExportedValue {
  readonly ended: EarlierFact["ended"];
  readonly ended_at: string;
}

export interface UserLine {
  readonly kind: "user";
  readonly account: string;
  readonly user_id: string;
  readonly facts: readonly ExportedFact[];
  readonly earlier?: readonly ExportedEarlier[];
}

const ENDINGS: readonly unknown[] = ["replaced", "forgotten", "expired"];

export function userLine(
  account: string,
  userId: string,
  { facts, earlier }: Pick<UserLife, "facts" | "earlier">,
  labels: AccountLabels,
): UserLine {
  const labelOf = ({ channel }: { readonly channel: number }) => labels.at(channel)?.label ?? "";
  return {
    kind: "user",
    account,
    user_id: userId,
    facts: facts.map((fact) => exportedFact(fact, labelOf(fact))),
    ...(earlier.length === 0 ? {} : { earlier: earlier.map((fact) => exportedEarlier(fact, labelOf(fact))) }),
  };
}

export function exportedFact(fact: FactRecord, label: string): ExportedFact {
  const { expiresAtMs } = fact;
  return {
    ...exportedValue(fact, label),
    ...(expiresAtMs === null ? {} : { expires_at: isoTime(expiresAtMs) }),
  };
}

export function exportedEarlier(fact: EarlierFact, label: string): ExportedEarlier {
  return { ...exportedValue(fact, label), ended: fact.ended, ended_at: isoTime(fact.endedAtMs) };
}

function exportedValue(fact: FactRecord | EarlierFact, label: string): ExportedValue {
  return {
    label,
    value: fact.value,
    channel: fact.channel,
    revision: fact.revision,
    updated_at: isoTime(fact.updatedAtMs),
    ...(fact.sinceMs === fact.updatedAtMs ? {} : { since: isoTime(fact.sinceMs) }),
    ...(fact.place === OWN_PLACE ? {} : { place: fact.place }),
    ...(fact.ordinal === 1 ? {} : { ordinal: fact.ordinal }),
    ...(fact.writtenBy === null ? {} : { written_by: fact.writtenBy }),
    ...(fact.sessionId === null ? {} : { session_id: fact.sessionId }),
  };
}

/** A step of a user's past: a change, and who made it. */
export interface PastStep {
  readonly change: FactChange;
  /** When it is made: not before the value that it follows has expired. */
  readonly nowMs: number;
  readonly revision: number;
  readonly writtenBy: string | null;
  readonly sessionId: string | null;
}

/** Writes a line's facts; how many were written. The labels have been checked. */
export async function importUserLine(
  store: Store,
  line: UserLine,
  labels: AccountLabels,
  nowMs: number,
): Promise<number> {
  const { account, user_id: userId } = line;
  const known = await store.readLife(account, userId, { nowMs });
  const nameOf = (place: Place, channel: number) => `${channel} ${place}`;
  const knownNames = new Set(
    [...(known?.facts ?? []), ...(known?.earlier ?? [])].map(({ place, channel }) => nameOf(place, channel)),
  );
  const byName = new Map<string, { place: Place; channel: number; values: ImportedValue[] }>();
  const add = (fact: ImportedValue) => {
    const { place = OWN_PLACE } = fact;
    const { channel } = labels.find(fact.label)!;
    const name = nameOf(place, channel);
    const values = byName.get(name) ?? { place, channel, values: [] };
    if (fact.ended === undefined || !knownNames.has(name)) values.values.push(fact);
    byName.set(name, values);
  };
  const earlier = [...(line.earlier ?? [])].sort((a, b) => (a.ordinal ?? 1) - (b.ordinal ?? 1));
  for (const fact of earlier) add(fact);
  // What has expired on the way is not written any more.
  const present = line.facts.filter(
    ({ expires_at: until }) => until === undefined || Date.parse(until) > nowMs,
  );
  for (const fact of present) add(fact);
  // In the order in which they were written: what does not fit a block later is still the oldest. Not by their times,
  // since a clock may have been set back.
  const steps = [...byName.values()]
    .flatMap(({ place, channel, values }) => pastOf(place, channel, values))
    .sort((a, b) => a.revision - b.revision);
  for (const group of writesOf(steps)) {
    const [{ writtenBy, sessionId }] = group;
    const changes = group.map(({ change }) => change);
    const atMs = Math.max(...group.map((step) => step.nowMs));
    await store.write({ account, userId, changes, places: [OWN_PLACE], nowMs: atMs, writtenBy, sessionId });
  }
  return present.length;
}

type ImportedValue = ExportedFact & Partial<ExportedEarlier>;

/** The steps that make the values of one label at one place, the oldest first. */
export function pastOf(place: Place, channel: number, values: readonly ImportedValue[]): PastStep[] {
  const steps: PastStep[] = [];
  let before: ImportedValue | undefined;
  for (const fact of values) {
    const { value, revision, ordinal = 1, updated_at, since = updated_at, ended, ended_at = "" } = fact;
    const { written_by: writtenBy = null, session_id: sessionId = null } = fact;
    const beforeMs = Date.parse(before?.ended_at ?? "");
    const times = [Date.parse(since), Date.parse(updated_at)];
    if (before?.ended === "replaced") times.unshift(beforeMs);
    const expires_at = ended === "expired" ? ended_at : fact.expires_at;
    for (const [i, updatedAtMs] of times.entries()) {
      const isLast = i === times.length - 1;
      if (!isLast && updatedAtMs === times[i + 1]) continue;
      const expiresAtMs = isLast && expires_at !== undefined ? Date.parse(expires_at) : null;
      const change = { place, channel, value, ordinal, updatedAtMs, expiresAtMs };
      const nowMs = before?.ended === "expired" ? Math.max(updatedAtMs, beforeMs) : updatedAtMs;
      steps.push({ change, nowMs, revision, writtenBy, sessionId });
    }
    if (ended === "forgotten") {
      const change = { place, channel, value: null, keepHistory: true };
      steps.push({ change, nowMs: Date.parse(ended_at), revision, writtenBy: null, sessionId: null });
    }
    before = fact;
  }
  return steps;
}

/** Steps that one write can make: of one writer, each fact once. What is forgotten ends at the moment of its write. */
function writesOf(steps: readonly PastStep[]): PastStep[][] {
  const groups: PastStep[][] = [];
  let names = new Set<string>();
  for (const step of steps) {
    const group = groups.at(-1);
    const { place, channel } = step.change;
    const name = `${channel} ${place}`;
    const isOneWith = (other: PastStep) =>
      other.writtenBy === step.writtenBy &&
      other.sessionId === step.sessionId &&
      other.change.value !== null &&
      step.change.value !== null;
    if (group !== undefined && !names.has(name) && group.every(isOneWith)) group.push(step);
    else {
      groups.push([step]);
      names = new Set();
    }
    names.add(name);
  }
  return groups;
}

/** Throws unless a line can be imported into an account with these labels. */
export function checkUserLine(line: UserLine, labels: AccountLabels): void {
  const { facts, earlier = [] } = line;
  if (!Array.isArray(facts) || !Array.isArray(earlier)) throw wrong("the facts of a user must be a list");
  for (const fact of facts) {
    checkExported(fact, labels);
    if (fact.expires_at !== undefined && !isTime(fact.expires_at))
      throw wrong("a fact has no sound expires_at");
  }
  for (const fact of earlier) {
    checkExported(fact, labels);
    if (!ENDINGS.includes(fact.ended) || !isTime(fact.ended_at)) throw wrong("an earlier value has no end");
  }
  const names = facts.map(({ label, place = OWN_PLACE }) => `${label} ${place}`);
  if (new Set(names).size < names.length) throw wrong("a label is given twice");
}

/** What must hold before anything else is asked of a line. */
export function checkUserName(line: UserLine): void {
  if (typeof line.account !== "string" || typeof line.user_id !== "string")
    throw wrong("account and user_id must be texts");
  checkAccount(line.account);
  checkIdentifier(line.user_id, "user_id");
}

function checkExported(fact: ExportedValue, labels: AccountLabels): void {
  const { label, value, revision, updated_at, since = updated_at, place = OWN_PLACE } = fact ?? {};
  const { ordinal = 1, written_by: writtenBy, session_id: sessionId } = fact ?? {};
  if (typeof label !== "string" || typeof value !== "string") throw wrong("labels and values must be texts");
  if (labels.find(label) === undefined) throw unknownLabel(labels, label);
  checkValue(value);
  if (typeof place !== "string") throw wrong("a place must be a text");
  if (place !== OWN_PLACE) placesOf(place);
  const isText = (text: unknown) => text === undefined || text === null || typeof text === "string";
  if (!isText(writtenBy) || !isText(sessionId)) throw wrong("written_by and session_id must be texts");
  checkAuthor({ writtenBy: writtenBy ?? undefined, sessionId: sessionId ?? undefined });
  if (!Number.isInteger(revision) || !isTime(updated_at) || !isTime(since) || !isOrdinal(ordinal))
    throw wrong("a fact has no revision or time");
}

/** One that all stores can hold, and go on from. */
function isOrdinal(number: unknown): boolean {
  return Number.isInteger(number) && (number as number) >= 1 && (number as number) < 2 ** 30;
}

/** Stores hold times from 1970 on. */
function isTime(text: unknown): boolean {
  return typeof text === "string" && (momentOf(text) ?? -1) >= 0;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function wrong(reason: string): Failure {
  return new Failure("invalid_request", `This line cannot be imported: ${reason}.`);
}
