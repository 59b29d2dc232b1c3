/**
 * One user's memory inside a group's transaction: what a write names is read, the law decides (memory/law), and the
 * difference is put. The records of the user and of places count, so that a user without facts and history is gone.
 */

import { readingOf } from "../../memory/law/law.ts";
import {
  type FactDifference,
  type FactName,
  type FoundFact,
  isLive,
  UserMemory,
} from "../../memory/law/user-memory.ts";
import type { EarlierFact, FactRecord, WriteRequest } from "../../memory/ports.ts";
import type { Place } from "../../memory/records.ts";
import {
  dayOfAnswer,
  endKey,
  factKey,
  HEAD,
  historyKey,
  labelOfKey,
  PLACES,
  placeKey,
  REVISIONS,
  rangeBelow,
  rangesOfPlace,
  splitFactKey,
  splitHistoryKey,
  USERS,
  userKey,
} from "./entry-keys.ts";
import type { Entry } from "./environment.ts";
import type { Writer } from "./group-commit.ts";
import {
  FORGOTTEN,
  newUser,
  type PlaceRecord,
  packEarlier,
  packFact,
  packNumber,
  packPlace,
  packUser,
  type UserRecord,
  unpackEarlier,
  unpackFact,
  unpackNumber,
  unpackPlace,
  unpackUser,
} from "./records.ts";

/** An entry whose key says all. */
const LISTED = Buffer.of(1);

export class UserWrites {
  readonly #writer: Writer;
  readonly #account: string;
  readonly #userId: string;
  readonly #key: Buffer;
  readonly #wasKnown: boolean;
  readonly #user: UserRecord;
  /** By their keys, where all of a place was read. */
  #whole: ReadonlyMap<string, WholeFact> | undefined;
  /** Further places, as they are now and were before. */
  readonly #places = new Map<Place, { record: PlaceRecord; before: Readonly<PlaceRecord> }>();

  constructor(writer: Writer, account: string, userId: string) {
    this.#writer = writer;
    this.#account = account;
    this.#userId = userId;
    this.#key = userKey(account, userId);
    const bytes = writer.get("facts", this.#key);
    this.#wasKnown = bytes !== undefined;
    // A new user goes on after the last revision of any user who is gone: no revision is ever used twice.
    this.#user = bytes === undefined ? newUser(writer.count(REVISIONS)) : unpackUser(bytes);
  }

  /** What a request names. */
  read(request: Pick<WriteRequest, "changes" | "places">, historyMax: number): UserMemory {
    const { names, inside, history } = readingOf(request);
    const { revision, facts, heads, places } = this.#user;
    const isWhole = inside.length > 0;
    const named = isWhole ? this.#findInside(inside) : names.map((name) => this.#find(name, history));
    const counts = { places, factsAt: (place: Place) => this.#place(place).facts };
    return new UserMemory({ revision, facts, heads, named, isWhole, counts }, historyMax);
  }

  /** Labels with a live fact in the places, but for those that a request names, which are in the memory. */
  countOthers({ places, changes, nowMs }: WriteRequest, memory: UserMemory): number {
    if (!this.#wasKnown) return 0;
    const used = places.filter((place) => this.#place(place).facts > 0);
    if (used.every((place) => this.#place(place).ending === 0))
      return this.#countLabels(used) - memory.countLive(used, nowMs);
    const labels = new Set(
      used
        .flatMap((place) => this.#factsAt(place))
        .filter((fact) => isLive(fact, nowMs))
        .map(({ label }) => label),
    );
    for (const { label } of readingOf({ changes, places }).names) labels.delete(label);
    return labels.size;
  }

  /** Labels of several places: those of the largest are counted, and only keys of the others are read. */
  #countLabels(places: readonly Place[]): number {
    const [largest, ...others] = places.toSorted((a, b) => this.#place(b).facts - this.#place(a).facts);
    if (largest === undefined) return 0;
    const labels = new Set(
      others.flatMap((place) => {
        const prefix = placeKey(this.#account, this.#userId, place);
        return this.#writer.keys("facts", rangeBelow(prefix)).map((key) => labelOfKey(prefix, key));
      }),
    );
    const isNew = (label: string) => !this.#writer.has("facts", this.#keyOf({ place: largest, label }));
    return this.#place(largest).facts + [...labels].filter(isNew).length;
  }

  #factsAt(place: Place): FactRecord[] {
    const prefix = placeKey(this.#account, this.#userId, place);
    return this.#writer
      .entries("facts", rangeBelow(prefix))
      .map(({ key, value }) => unpackFact(place, labelOfKey(prefix, key), value, false));
  }

  /** Puts what has become of the memory. */
  save(memory: UserMemory, nowMs: number): void {
    const differences = memory.differences();
    if (differences.length === 0) return;
    for (const difference of differences) this.#put(difference, memory.historyMax);
    if (differences.some(({ dropBelow }) => dropBelow === Number.POSITIVE_INFINITY))
      noteForgetting(this.#writer, nowMs);
    const { revision, facts, heads } = memory;
    this.#saveCounts({ revision, facts, heads });
  }

  /** Puts the records that count. */
  #saveCounts(counts: Pick<UserRecord, "revision" | "facts" | "heads">): void {
    let { places } = this.#user;
    for (const [place, { record, before }] of this.#places) {
      if (record.facts === before.facts && record.ending === before.ending) continue;
      const key = placeKey(this.#account, this.#userId, place);
      if (record.facts > 0) this.#writer.put("facts", key, packPlace(record));
      else this.#writer.remove("facts", key);
      places += Number(record.facts > 0) - Number(before.facts > 0);
    }
    addToCounter(this.#writer, PLACES, places - this.#user.places);
    const isUsed = counts.facts + counts.heads > 0;
    // A user without facts and history is removed: nothing shows that the user ever existed.
    if (isUsed) this.#writer.put("facts", this.#key, packUser({ ...this.#user, ...counts, places }));
    else if (this.#wasKnown) this.#writer.remove("facts", this.#key);
    if (!isUsed) noteRevision(this.#writer, counts.revision);
    addToCounter(this.#writer, USERS, Number(isUsed) - Number(this.#wasKnown));
  }

  /** Removes those of a fact's entries in the history that are beyond its limit. */
  shorten(name: FactName, ordinals: readonly number[], historyMax: number, nowMs: number): void {
    if (!this.#wasKnown) return;
    const key = this.#keyOf(name);
    const present = this.#stored(name);
    const last = present === undefined ? this.#head(key) : present.ordinal - 1;
    const old = ordinals.filter((ordinal) => ordinal !== HEAD && ordinal <= last - historyMax);
    for (const ordinal of old) this.#writer.remove("history", historyKey(key, ordinal));
    // Where nothing is kept, nothing is left of a label without a fact.
    const isOver = present === undefined && historyMax === 0 && ordinals.includes(HEAD);
    if (old.length === 0 && !isOver) return;
    noteForgetting(this.#writer, nowMs);
    if (!isOver) return;
    this.#writer.remove("history", historyKey(key, HEAD));
    const { revision, facts, heads } = this.#user;
    this.#saveCounts({ revision, facts, heads: heads - 1 });
  }

  #find({ place, label }: FactName, withHistory: boolean): FoundFact {
    if (!this.#wasKnown) return { place, label, present: undefined, earlier: [], last: 0 };
    const present = this.#stored({ place, label });
    const key = this.#keyOf({ place, label });
    const last = present?.ordinal ?? this.#head(key);
    const range = { start: historyKey(key, 1), end: historyKey(key, HEAD) };
    const entries = withHistory && last > 0 ? this.#writer.entries("history", range) : [];
    const earlier = entries.map((entry) =>
      unpackEarlier(place, label, splitHistoryKey(entry.key).ordinal, entry.value),
    );
    return { place, label, present, earlier, last };
  }

  /** Everything at the places and inside them, by place and label, with its history. Each table is read once. */
  #findInside(inside: readonly Place[]): FoundFact[] {
    if (!this.#wasKnown) return [];
    const found = new Map<string, WholeFact>();
    const at = (key: Buffer) => {
      // In the order of the bytes.
      const name = key.toString("latin1");
      const known = found.get(name);
      if (known !== undefined) return known;
      const { place, label } = splitFactKey(key);
      const fact = { place, label, present: undefined, earlier: [], last: 0 };
      found.set(name, fact);
      return fact;
    };
    for (const { key, value } of this.#entriesInside("facts", inside)) {
      if (isPlaceKey(key)) continue;
      const fact = at(key);
      fact.present = unpackFact(fact.place, fact.label, value, false);
      fact.last = fact.present.ordinal;
    }
    for (const { key, value } of this.#entriesInside("history", inside)) {
      if (dayOfAnswer(key) !== undefined) continue;
      const { fact: factPart, ordinal } = splitHistoryKey(key);
      const fact = at(factPart);
      if (ordinal === HEAD) fact.last = unpackNumber(value);
      else fact.earlier.push(unpackEarlier(fact.place, fact.label, ordinal, value));
    }
    this.#whole = found;
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, fact]) => fact);
  }

  #entriesInside(table: "facts" | "history", inside: readonly Place[]): Entry[] {
    return inside
      .flatMap((place) =>
        place === "" ? [rangeBelow(this.#key)] : rangesOfPlace(placeKey(this.#account, this.#userId, place)),
      )
      .flatMap((range) => this.#writer.entries(table, range));
  }

  #put(difference: FactDifference, historyMax: number): void {
    const { place, before, present, lastBefore, last, dropBelow, added } = difference;
    const key = this.#keyOf(difference);
    const record = this.#place(place);
    if (before !== undefined && before.expiresAtMs !== null) {
      this.#writer.remove("ends", endKey(before.expiresAtMs, key));
      record.ending -= 1;
    }
    if (present !== undefined) this.#writer.put("facts", key, packFact(present));
    else if (before !== undefined) this.#writer.remove("facts", key);
    record.facts += Number(present !== undefined) - Number(before !== undefined);
    if (present !== undefined && present.expiresAtMs !== null) {
      this.#writer.put("ends", endKey(present.expiresAtMs, key), LISTED);
      record.ending += 1;
    }
    this.#dropHistory(key, lastBefore, dropBelow, historyMax);
    for (const fact of added) this.#writer.put("history", historyKey(key, fact.ordinal), packEarlier(fact));
    const [hadHead, hasHead] = [before === undefined && lastBefore > 0, present === undefined && last > 0];
    if (hasHead) this.#writer.put("history", historyKey(key, HEAD), packNumber(last));
    else if (hadHead) this.#writer.remove("history", historyKey(key, HEAD));
  }

  /** What a higher limit has left is removed by histories.ts. */
  #dropHistory(key: Buffer, last: number, dropBelow: number, historyMax: number): void {
    if (last === 0 || dropBelow === 0) return;
    if (dropBelow === Number.POSITIVE_INFINITY) {
      for (const entry of this.#historyKeys(key)) this.#writer.remove("history", entry);
      return;
    }
    for (let ordinal = Math.max(1, last - historyMax); ordinal < Math.min(dropBelow, last + 1); ordinal++)
      this.#writer.remove("history", historyKey(key, ordinal));
  }

  #historyKeys(key: Buffer): Buffer[] {
    if (this.#whole === undefined)
      return this.#writer.keys("history", { start: historyKey(key, 1), end: historyKey(key, HEAD) });
    const found = this.#whole.get(key.toString("latin1"));
    return (found?.earlier ?? []).map(({ ordinal }) => historyKey(key, ordinal));
  }

  #keyOf(name: FactName): Buffer {
    return factKey(this.#account, this.#userId, name);
  }

  #stored(name: FactName): FactRecord | undefined {
    const bytes = this.#writer.get("facts", this.#keyOf(name));
    return bytes && unpackFact(name.place, name.label, bytes, false);
  }

  /** The ordinal of the last value of a label that has no fact any more, or 0. */
  #head(key: Buffer): number {
    return unpackNumber(this.#writer.get("history", historyKey(key, HEAD)));
  }

  #place(place: Place): PlaceRecord {
    if (place === "") return this.#user.own;
    let known = this.#places.get(place);
    if (known === undefined) {
      const bytes = this.#writer.get("facts", placeKey(this.#account, this.#userId, place));
      const before = bytes === undefined ? { facts: 0, ending: 0 } : unpackPlace(bytes);
      known = { record: { ...before }, before };
      this.#places.set(place, known);
    }
    return known.record;
  }
}

interface WholeFact extends FactName {
  present: FactRecord | undefined;
  last: number;
  readonly earlier: EarlierFact[];
}

/** The record of a place: there is no third zero. */
export function isPlaceKey(key: Buffer): boolean {
  return key.indexOf(0, key.indexOf(0, key.indexOf(0) + 1) + 1) < 0;
}

export function addToCounter(writer: Writer, counter: string, change: number): void {
  if (change !== 0) writer.setCount(counter, writer.count(counter) + change);
}

/** Whoever is new goes on after it. */
export function noteRevision(writer: Writer, revision: number): void {
  if (revision > writer.count(REVISIONS)) writer.setCount(REVISIONS, revision);
}

/** Always written: a copy in progress learns from it that something was forgotten. */
export function noteForgetting(writer: Writer, nowMs: number): void {
  writer.put("meta", FORGOTTEN, writer.get("meta", FORGOTTEN) ?? packNumber(nowMs));
}
