/** The writes of facts. Each runs inside a group's transaction. */

import { assert } from "../../base/assert.ts";
import { CHANNEL_COUNT } from "../../base/limits.ts";
import type {
  EndedFact,
  FactChange,
  Place,
  PlacedCode,
  WriteOutcome,
  WriteRequest,
} from "../../memory/ports.ts";
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
import { type LifeSource, packFact, packUser, unpackFact, unpackUser } from "./records.ts";
import { findReplay, forgetAnswers, keepReplay } from "./replays.ts";
import { addToCounter, noteForgetting, UserWrites } from "./user-facts.ts";

export interface FactWriteOptions {
  readonly lives: LifeSource;
  readonly historyMax: number;
}

export function writeFacts(
  request: WriteRequest,
  { lives, historyMax }: FactWriteOptions,
): Write<WriteOutcome> {
  const counted = request.changes.filter(({ value }) => value !== null).length;
  return (writer) => {
    const used = usedBefore(writer, request);
    const known = findReplay(writer, request);
    if (known === "mismatch") return { outcome: known, used };
    if (known !== undefined) return { outcome: "replayed", used, ...known };
    const { account, userId, changes, nowMs, quota } = request;
    const isGone = ({ channel, value }: FactChange) =>
      value !== null && channel >= CHANNEL_COUNT && writer.has("labels", goneLabelKey(account, channel));
    const index = changes.findIndex(isGone);
    if (index >= 0) return { outcome: "label_gone", used, index };
    if (counted > 0 && quota?.limit != null && used + counted > quota.limit)
      return { outcome: "limit", used };
    const facts = new UserWrites(writer, account, userId, { nowMs, historyMax });
    for (const [index, { place, channel, ifRevision }] of changes.entries()) {
      if (ifRevision === undefined) continue;
      const present = facts.live(place, channel);
      if ((present?.revision ?? 0) !== ifRevision) return { outcome: "conflict", used, index, present };
    }
    const author = { writtenBy: request.writtenBy ?? null, sessionId: request.sessionId ?? null };
    for (const { place, channel } of changes) facts.endExpired(place, channel);
    let forgotten = 0;
    const previous = changes.map((change) => {
      const { value } = change;
      if (value !== null) return facts.set({ ...change, value }, author, lives);
      const { before, found } = facts.forget(change);
      if (found) forgotten += 1;
      return before;
    });
    facts.save();
    count(writer, request, used, counted);
    const { revision } = facts;
    const channelCount = facts.countChannels(request.places);
    const isForgotten = ({ value, keepHistory }: FactChange) =>
      value === null && (!keepHistory || historyMax === 0);
    if (forgotten > 0 && changes.some(isForgotten)) forgetAnswers(writer, account, userId);
    keepReplay(writer, request, { channelCount, revision, previous });
    const after = used + (quota === undefined ? 0 : counted);
    return { outcome: "stored", channelCount, used: after, revision, previous, forgotten };
  };
}

function usedBefore(writer: Writer, { quota }: WriteRequest): number {
  return quota === undefined ? 0 : writer.count(counterName(quota.keyId, quota.month));
}

function count(writer: Writer, { quota }: WriteRequest, used: number, counted: number): void {
  if (quota === undefined) return;
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
      const { account, userId, place, channel } = splitFactKey(factOfEndKey(key));
      const facts = new UserWrites(writer, account, userId, { nowMs, historyMax });
      const fact = facts.endExpired(place, channel);
      facts.save();
      // An entry whose fact is gone, or expires later, cannot be left: it would be found for ever.
      writer.remove("ends", key);
      if (fact === undefined) return [];
      const endedAtMs = momentOfEndKey(key);
      return [{ account, userId, place, channel, revision: fact.revision, endedAtMs }];
    });
  };
}

export function saveCodes(account: string, userId: string, codes: readonly PlacedCode[]): Write<void> {
  return (writer) => {
    for (const { place, channel, revision, value, code } of codes) {
      const key = factKey(account, userId, place, channel);
      const bytes = writer.get("facts", key);
      if (bytes === undefined) continue;
      const fact = unpackFact(place, channel, bytes);
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
    const { facts, heads } = removeEntries(writer, entries, history);
    const user = unpackUser(bytes);
    forgetAnswers(writer, account, userId);
    user.facts -= facts;
    user.heads -= heads;
    user.revision += 1;
    if (user.facts + user.heads > 0) writer.put("facts", key, packUser(user));
    else {
      writer.remove("facts", key);
      addToCounter(writer, USERS, -1);
    }
    noteForgetting(writer, nowMs);
    return true;
  };
}

/** Removes facts, records of places and history; how many facts and heads there were among them. */
function removeEntries(writer: Writer, entries: readonly Buffer[], history: readonly Buffer[]) {
  let places = 0;
  for (const key of entries) {
    const isPlace = key.indexOf(0, key.indexOf(0, key.indexOf(0) + 1) + 1) < 0;
    if (isPlace) places += 1;
    else {
      const expiresAtMs = expiryOf(writer, key);
      if (expiresAtMs !== null) writer.remove("ends", endKey(expiresAtMs, key));
    }
    writer.remove("facts", key);
  }
  addToCounter(writer, PLACES, -places);
  for (const key of history) writer.remove("history", key);
  const heads = history.filter((key) => splitHistoryKey(key).ordinal === HEAD).length;
  return { facts: entries.length - places, heads };
}

/** A damaged record does not tell; its entry among those that expire is found by the sweep. */
function expiryOf(writer: Writer, key: Buffer): number | null {
  try {
    const bytes = writer.get("facts", key);
    return bytes === undefined ? null : unpackFact("", 0, bytes, false).expiresAtMs;
  } catch {
    return null;
  }
}
