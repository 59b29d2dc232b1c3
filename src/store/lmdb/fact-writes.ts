/** The writes of facts. Each runs inside a group's transaction. */

import { assert } from "../../base/assert.ts";
import { findChannel } from "../../base/channels.ts";
import { applyLaw, readingOf } from "../../memory/law/law.ts";
import type { PlacedCode, WriteOutcome, WriteRequest } from "../../memory/ports.ts";
import type { EndedFact, Place } from "../../memory/records.ts";
import {
  counterName,
  endKey,
  factKey,
  factOfEndKey,
  goneLabelKey,
  HEAD,
  momentOfEndKey,
  momentPrefix,
  PLACES,
  placeKey,
  rangeBelow,
  rangesOfPlace,
  splitFactKey,
  splitHistoryKey,
  USERS,
  userKey,
} from "./entry-keys.ts";
import type { Write, Writer } from "./group-commit.ts";
import { packFact, packUser, unpackFact, unpackUser } from "./records.ts";
import { findReplay, forgetAnswers, keepReplay } from "./replays.ts";
import { addToCounter, isPlaceKey, noteForgetting, noteRevision, UserWrites } from "./user-facts.ts";

/** Locks by its turn: what the law reads, and what becomes of it, is of one transaction. */
export function writeFacts(request: WriteRequest, historyMax: number): Write<WriteOutcome> {
  const { account, userId, nowMs } = request;
  return (writer) => {
    const replay = findReplay(writer, request);
    const used = usedBefore(writer, request);
    const user = new UserWrites(writer, account, userId);
    const memory = user.read(request, historyMax);
    const others = user.countOthers(request, memory);
    const decision = applyLaw(memory, request, { replay, used, others, gone: goneLabels(writer, request) });
    const { outcome } = decision;
    if (outcome.outcome !== "stored") return outcome;
    user.save(memory, nowMs);
    count(writer, request, used, decision.counted);
    if (decision.isWiped) forgetAnswers(writer, account, userId);
    keepReplay(writer, request, outcome, decision.answer);
    return outcome;
  };
}

/** Removed labels among those that are named. */
function goneLabels(writer: Writer, request: WriteRequest): ReadonlySet<string> {
  const gone = new Set<string>();
  for (const { label } of readingOf(request).names)
    if (findChannel(label) === undefined && writer.has("labels", goneLabelKey(request.account, label)))
      gone.add(label);
  return gone;
}

function usedBefore(writer: Writer, { quota }: WriteRequest): number {
  return quota === undefined ? 0 : writer.count(counterName(quota.keyId, quota.month));
}

function count(writer: Writer, { quota }: WriteRequest, used: number, counted: number): void {
  if (quota === undefined || counted === 0) return;
  writer.setCount(counterName(quota.keyId, quota.month), used + counted);
  const day = counterName(quota.keyId, quota.day);
  writer.setCount(day, writer.count(day) + counted);
}

/** Adds to the counts of days and their months. */
export function addUsage(keyId: string, days: readonly { day: string; count: number }[]): Write<void> {
  return (writer) => {
    for (const { day, count: added } of days) {
      assert(added > 0, "only what was used is added");
      for (const name of [counterName(keyId, day), counterName(keyId, day.slice(0, "YYYY-MM".length))]) {
        writer.setCount(name, writer.count(name) + added);
      }
    }
  };
}

/**
 * Moves facts that have expired to the history, and looks at no more than `countMax` entries, so that a group stays
 * short.
 */
export function sweepEnded(nowMs: number, countMax: number, historyMax: number): Write<EndedFact[]> {
  return (writer) => {
    const due = writer.environment.keys("ends", { end: momentPrefix(nowMs + 1), limit: countMax });
    return due.flatMap((key) => {
      const { account, userId, place, label } = splitFactKey(factOfEndKey(key));
      const changes = [{ kind: "expire", place, label } as const];
      const outcome = writeFacts({ account, userId, changes, places: [], nowMs }, historyMax)(writer);
      // An entry whose fact is gone, or expires later, cannot be left: it would be found for ever.
      writer.remove("ends", key);
      if (outcome.outcome !== "stored" || outcome.events.length === 0) return [];
      const [{ revision }] = outcome.events;
      return [{ account, userId, place, label, revision, endedAtMs: momentOfEndKey(key) }];
    });
  };
}

export function saveCodes(account: string, userId: string, codes: readonly PlacedCode[]): Write<void> {
  return (writer) => {
    for (const { place, label, revision, value, code } of codes) {
      const key = factKey(account, userId, { place, label });
      const bytes = writer.get("facts", key);
      if (bytes === undefined) continue;
      const fact = unpackFact(place, label, bytes);
      if (fact.revision !== revision || fact.value !== value) continue;
      writer.put("facts", key, packFact({ ...fact, code }));
    }
  };
}

/** Keys are removed without reading what they hold: records may be damaged. */
export function forgetUser(account: string, userId: string, nowMs: number): Write<boolean> {
  return (writer) => {
    const key = userKey(account, userId);
    const below = rangeBelow(key);
    const entries = writer.keys("facts", below);
    forgetAnswers(writer, account, userId);
    const history = writer.keys("history", below);
    const known = writer.has("facts", key);
    if (entries.length + history.length === 0 && !known) return false;
    removeEntries(writer, entries, history);
    if (known) {
      noteRevision(writer, revisionOf(writer, key));
      writer.remove("facts", key);
      addToCounter(writer, USERS, -1);
    }
    noteForgetting(writer, nowMs);
    return true;
  };
}

/** Forgets a place and those inside it. */
export function forgetPlace(account: string, userId: string, place: Place, nowMs: number): Write<boolean> {
  return (writer) => {
    const key = userKey(account, userId);
    const bytes = writer.get("facts", key);
    if (bytes === undefined) return false;
    const ranges = rangesOfPlace(placeKey(account, userId, place));
    const entries = ranges.flatMap((range) => writer.keys("facts", range));
    const history = ranges.flatMap((range) => writer.keys("history", range));
    if (entries.length + history.length === 0) return false;
    const { facts, heads, places } = removeEntries(writer, entries, history);
    const user = unpackUser(bytes);
    forgetAnswers(writer, account, userId);
    user.facts -= facts;
    user.heads -= heads;
    user.places -= places;
    user.revision += 1;
    if (user.facts + user.heads > 0) writer.put("facts", key, packUser(user));
    else {
      noteRevision(writer, user.revision);
      writer.remove("facts", key);
      addToCounter(writer, USERS, -1);
    }
    noteForgetting(writer, nowMs);
    return true;
  };
}

/** Removes facts, records of places and history; how many of each there were. */
function removeEntries(writer: Writer, entries: readonly Buffer[], history: readonly Buffer[]) {
  let places = 0;
  for (const key of entries) {
    if (isPlaceKey(key)) places += 1;
    else {
      const expiresAtMs = expiryOf(writer, key);
      if (expiresAtMs !== null) writer.remove("ends", endKey(expiresAtMs, key));
    }
    writer.remove("facts", key);
  }
  addToCounter(writer, PLACES, -places);
  for (const key of history) writer.remove("history", key);
  const heads = history.filter((key) => splitHistoryKey(key).ordinal === HEAD).length;
  return { facts: entries.length - places, heads, places };
}

/** A damaged record does not tell; its entry among those that expire is found by the sweep. */
function expiryOf(writer: Writer, key: Buffer): number | null {
  try {
    const bytes = writer.get("facts", key);
    return bytes === undefined ? null : unpackFact("", "", bytes, false).expiresAtMs;
  } catch {
    return null;
  }
}

/** A damaged record does not tell: then the highest that is known has to do. */
function revisionOf(writer: Writer, key: Buffer): number {
  try {
    const bytes = writer.get("facts", key);
    return bytes === undefined ? 0 : unpackUser(bytes).revision;
  } catch {
    return 0;
  }
}
