/**
 * One user's memory inside a group's transaction: what a write names is read, the law decides (memory/law), and the
 * difference is put. The records of the user and of places count, so that a user without facts and history is gone.
 */

import { assert } from "../../base/assert.ts";
import { findChannel } from "../../base/channels.ts";
import type { Sliced } from "../../base/slices.ts";
import type { FactDifference, FactName, FoundFact } from "../../memory/law/found-user.ts";
import { type Reading, readingOf } from "../../memory/law/law.ts";
import { isLive, UserMemory } from "../../memory/law/user-memory.ts";
import type { EarlierFact, FactRecord, WriteRequest } from "../../memory/ports.ts";
import type { FreeLabel, Place } from "../../memory/records.ts";
import { projectOfUser } from "../../memory/shared-places.ts";
import {
  dayOfAnswer,
  endKey,
  factKey,
  freeLabelKey,
  HEAD,
  historyKey,
  isPlaceKey,
  labelOfKey,
  PLACES,
  PROJECT_REVISIONS,
  placeKey,
  placeOfKey,
  REVISIONS,
  rangeBelow,
  rangesOfPlace,
  splitFactKey,
  splitHistoryKey,
  USERS,
  userKey,
} from "./entry-keys.ts";
import type { TableName } from "./environment.ts";
import { removeEndsOf } from "./orphaned-ends.ts";
import {
  newUser,
  type PlaceRecord,
  packEarlier,
  packFact,
  packFreeLabel,
  packNumber,
  packPlace,
  packUser,
  type UserRecord,
  unpackEarlier,
  unpackFact,
  unpackFreeLabel,
  unpackNumber,
  unpackPlace,
  unpackUser,
} from "./records.ts";
import { addToCounter, noteForgetting, noteRevision, type Writer } from "./writer.ts";

/** The first revision of what is shared: none of it is one of a member's own, since they are shown together. */
const PROJECT_REVISION = 2 ** 47;

/** An entry whose key says all. */
const LISTED = Buffer.of(1);

export class UserWrites {
  readonly #writer: Writer;
  readonly #account: string;
  readonly #userId: string;
  readonly #key: Buffer;
  readonly #isOfProject: boolean;
  readonly #wasKnown: boolean;
  readonly #user: UserRecord;
  /** Where all of a place was read. */
  #whole: ReadonlyMap<string, WholeFact> | undefined;
  /** Whatever is found goes, damaged or not: a damaged record is a name without a value. */
  readonly #isErasing: boolean;
  /** What was read does not belong together. */
  #isDamaged = false;
  /** Further places, as they are now and were before. */
  readonly #places = new Map<Place, { record: PlaceRecord; before: Readonly<PlaceRecord> }>();

  constructor(writer: Writer, account: string, userId: string, isErasing = false) {
    this.#writer = writer;
    this.#account = account;
    this.#userId = userId;
    this.#isErasing = isErasing;
    this.#key = userKey(account, userId);
    // A new user goes on after the last revision of any user who is gone: no revision is ever used twice.
    this.#isOfProject = projectOfUser(userId) !== undefined;
    const last = writer.count(this.#isOfProject ? PROJECT_REVISIONS : REVISIONS);
    const unknown = () => newUser(this.#isOfProject ? Math.max(PROJECT_REVISION, last) : last);
    const known = this.#read("facts", this.#key, unpackUser, unknown);
    this.#wasKnown = known !== undefined;
    this.#user = known ?? unknown();
  }

  /** What a request names. */
  *read({ names, inside, history }: Reading, historyMax: number): Sliced<UserMemory> {
    const { revision, facts, heads, places, numbers } = this.#user;
    const isWhole = inside.length > 0;
    const found = isWhole ? yield* this.#findInside(inside) : [];
    const labels = isWhole ? yield* this.#allFreeLabels() : this.#freeLabels(names);
    const counts = { places, factsAt: (place: Place) => this.#place(place).facts };
    // An erased user has what is found: its record may tell something else.
    const isAll = this.#isErasing && inside.includes("");
    const known = isAll ? found.filter(({ present }) => present !== undefined).length : facts;
    const past = isAll ? found.length - known : heads;
    this.#isDamaged ||= isAll && known !== facts;
    const user = { revision, facts: known, heads: past, numbers, labels, named: [], isWhole, counts };
    const memory = new UserMemory({ ...user, isOfProject: this.#isOfProject }, historyMax);
    for (const fact of found) {
      yield;
      memory.add(fact);
    }
    if (isWhole) return memory;
    for (const name of names) {
      yield;
      memory.add(this.#find(name, history));
    }
    return memory;
  }

  /** Labels with a live fact in the places, but for those that a request names, which are in the memory. */
  countOthers({ places, changes, nowMs, groups }: WriteRequest, memory: UserMemory): number {
    if (!this.#wasKnown) return 0;
    const used = places.filter((place) => this.#place(place).facts > 0);
    if (groups === undefined && used.every((place) => this.#place(place).ending === 0))
      return this.#countLabels(used) - memory.countLive(used, nowMs);
    const labels = this.liveLabels(used, nowMs, groups);
    for (const { label } of readingOf({ changes, places }).names) labels.delete(label);
    return labels.size;
  }

  /** Labels with a live fact in the places. */
  liveLabels(places: readonly Place[], nowMs: number, groups: WriteRequest["groups"]): Set<string> {
    const facts = this.#wasKnown ? places.flatMap((place) => this.#factsAt(place)) : [];
    const counted = facts.filter((fact) => isLive(fact, nowMs) && (groups?.has(fact.label) ?? true));
    return new Set(counted.map(({ label }) => label));
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
  *save(memory: UserMemory, nowMs: number): Sliced<void> {
    let [isChanged, isWiped] = [false, false];
    for (const difference of memory.differences()) {
      yield;
      this.#put(difference, memory.historyMax);
      isChanged = true;
      isWiped ||= difference.dropBelow === Number.POSITIVE_INFINITY;
    }
    for (const { label, present } of memory.labelDifferences()) {
      yield;
      this.#putFreeLabel(label, present);
    }
    if (isWiped) noteForgetting(this.#writer, nowMs);
    const { revision, facts, heads, numbers } = memory;
    if (isChanged || this.#isErasing) this.#saveCounts({ revision, facts, heads, numbers });
    if (this.#isErasing && facts + heads === 0 && this.#mayHaveEnds())
      yield* removeEndsOf(this.#writer, this.#key);
  }

  /** Whether ends may be left of facts that were lost, or could not be read. */
  #mayHaveEnds(): boolean {
    const places = [this.#user.own, ...[...this.#places.values()].map(({ record }) => record)];
    return this.#isDamaged || places.some(({ ending }) => ending !== 0);
  }

  #putFreeLabel(label: string, present: FreeLabel | undefined): void {
    const key = freeLabelKey(this.#account, this.#userId, label);
    if (present !== undefined) this.#writer.put("free-labels", key, packFreeLabel(present));
    else if (this.#writer.has("free-labels", key)) this.#writer.remove("free-labels", key);
  }

  /** Puts the records that count. */
  #saveCounts(counts: Pick<UserRecord, "revision" | "facts" | "heads" | "numbers">): void {
    assert(counts.revision >= this.#user.revision, "a revision is not used twice");
    let { places } = this.#user;
    for (const [place, { record, before }] of this.#places) {
      if (this.#isErasing) record.facts = 0;
      else if (record.facts === before.facts && record.ending === before.ending) continue;
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
    if (!isUsed)
      noteRevision(this.#writer, counts.revision, this.#isOfProject ? PROJECT_REVISIONS : REVISIONS);
    // A project is no person.
    addToCounter(this.#writer, this.#isOfProject ? PLACES : USERS, Number(isUsed) - Number(this.#wasKnown));
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
    const [used] = this.#freeLabels([name]);
    if (used !== undefined)
      this.#putFreeLabel(used.label, used.uses > 1 ? { ...used, uses: used.uses - 1 } : undefined);
    const { revision, facts, heads, numbers } = this.#user;
    this.#saveCounts({ revision, facts, heads: heads - 1, numbers });
  }

  /** Those that the person has made. */
  #freeLabels(names: readonly FactName[]): FreeLabel[] {
    if (this.#user.numbers === 0) return [];
    return [...new Set(names.map(({ label }) => label))].flatMap((label) => {
      if (findChannel(label) !== undefined) return [];
      return this.#freeLabel(freeLabelKey(this.#account, this.#userId, label), label) ?? [];
    });
  }

  *#allFreeLabels(): Sliced<FreeLabel[]> {
    if (this.#user.numbers === 0 && !this.#isErasing) return [];
    const labels: FreeLabel[] = [];
    for (const page of this.#writer.keyPages("free-labels", rangeBelow(this.#key))) {
      for (const key of page) {
        yield;
        labels.push(this.#freeLabel(key, labelOfKey(this.#key, key))!);
      }
    }
    return labels;
  }

  #freeLabel(key: Buffer, label: string): FreeLabel | undefined {
    const unpack = (bytes: Buffer) => unpackFreeLabel(label, bytes);
    return this.#read("free-labels", key, unpack, () => ({ label, number: 1, uses: 0, description: null }));
  }

  #find({ place, label }: FactName, withHistory: boolean): FoundFact {
    if (!this.#wasKnown) return { place, label, present: undefined, earlier: [], last: 0 };
    const key = this.#keyOf({ place, label });
    const present = this.#stored({ place, label }, key);
    const last = present?.ordinal ?? this.#head(key);
    const range = { start: historyKey(key, 1), end: historyKey(key, HEAD) };
    const entries = withHistory && last > 0 ? this.#writer.entries("history", range) : [];
    const earlier = entries.map((entry) =>
      unpackEarlier(place, label, splitHistoryKey(entry.key).ordinal, entry.value),
    );
    return { place, label, present, earlier, last };
  }

  /** Everything at the places and inside them, by place and label. */
  *#findInside(inside: readonly Place[]): Sliced<WholeFact[]> {
    if (!this.#wasKnown && !this.#isErasing) return [];
    const facts = new Map<string, WholeFact>();
    const heads = new Map<string, WholeFact>();
    const read = (name: FactName, ordinal: number) => this.#earlier(name, ordinal);
    const made = (fact: Buffer) => new WholeFact(splitFactKey(fact), read);
    yield* this.#eachInside("facts", inside, (key) => {
      if (isPlaceKey(key)) {
        if (this.#isErasing) this.#place(placeOfKey(this.#key, key)!);
        return;
      }
      const fact = made(key);
      fact.present = this.#stored(fact);
      fact.last = fact.present?.ordinal ?? 1;
      facts.set(key.toString("latin1"), fact);
    });
    yield* this.#eachInside("history", inside, (key) => {
      if (dayOfAnswer(key) !== undefined) return;
      const { fact: factPart, ordinal } = splitHistoryKey(key);
      const name = factPart.toString("latin1");
      const fact = facts.get(name) ?? heads.get(name) ?? made(factPart);
      if (!facts.has(name)) heads.set(name, fact);
      if (ordinal === HEAD) fact.last = this.#read("history", key, unpackNumber, () => 1) ?? 0;
      else fact.ordinals.push(ordinal);
    });
    const found = heads.size === 0 ? facts : new Map([...facts, ...heads]);
    this.#whole = found;
    // In the order of their keys, in which both already are.
    if (heads.size === 0) return [...facts.values()];
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, fact]) => fact);
  }

  /** The keys at the places and inside them, one by one: of a large user they are not kept. */
  *#eachInside(
    table: "facts" | "history",
    inside: readonly Place[],
    take: (key: Buffer) => void,
  ): Sliced<void> {
    for (const place of inside) {
      const key = placeKey(this.#account, this.#userId, place);
      for (const range of place === "" ? [rangeBelow(this.#key)] : rangesOfPlace(key)) {
        for (const page of this.#writer.keyPages(table, range)) {
          for (const key of page) {
            yield;
            take(key);
          }
        }
      }
    }
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
    return (found?.ordinals ?? []).map((ordinal) => historyKey(key, ordinal));
  }

  #earlier(name: FactName, ordinal: number): EarlierFact {
    const bytes = this.#writer.get("history", historyKey(this.#keyOf(name), ordinal));
    assert(bytes !== undefined, "an entry of a history is there");
    return unpackEarlier(name.place, name.label, ordinal, bytes);
  }

  #keyOf(name: FactName): Buffer {
    return factKey(this.#account, this.#userId, name);
  }

  #stored({ place, label }: FactName, key = this.#keyOf({ place, label })): FactRecord | undefined {
    const unpack = (bytes: Buffer) => unpackFact(place, label, bytes, false);
    return this.#read("facts", key, unpack, () => ({ ...UNREADABLE, place, label }));
  }

  /** @param damaged what stands for a damaged record that is erased */
  #read<T>(table: TableName, key: Buffer, unpack: (bytes: Buffer) => T, damaged: () => T): T | undefined {
    try {
      const bytes = this.#writer.get(table, key);
      return bytes && unpack(bytes);
    } catch (error) {
      if (!this.#isErasing) throw error;
      this.#isDamaged = true;
      return damaged();
    }
  }

  /** The ordinal of the last value of a label that has no fact any more, or 0. */
  #head(key: Buffer): number {
    return unpackNumber(this.#writer.get("history", historyKey(key, HEAD)));
  }

  #place(place: Place): PlaceRecord {
    if (place === "") return this.#user.own;
    let known = this.#places.get(place);
    if (known === undefined) {
      const key = placeKey(this.#account, this.#userId, place);
      const damaged = () => ({ facts: 1, ending: 0 });
      const before = this.#read("facts", key, unpackPlace, damaged) ?? { facts: 0, ending: 0 };
      known = { record: { ...before }, before };
      this.#places.set(place, known);
    }
    return known.record;
  }
}

/** A fact that is erased and cannot be read. */
const UNREADABLE = {
  value: "",
  revision: 0,
  updatedAtMs: 0,
  sinceMs: 0,
  expiresAtMs: null,
  writtenBy: null,
  sessionId: null,
  ordinal: 1,
};

/** Its history is read when it is asked for: all of it would be ten times as much. */
class WholeFact implements FoundFact {
  readonly place: Place;
  readonly label: string;
  present: FactRecord | undefined;
  last = 0;
  readonly ordinals: number[] = [];
  readonly #read: (name: FactName, ordinal: number) => EarlierFact;

  constructor({ place, label }: FactName, read: (name: FactName, ordinal: number) => EarlierFact) {
    this.place = place;
    this.label = label;
    this.#read = read;
  }

  get kept(): number {
    return this.ordinals.length;
  }

  get earlier(): EarlierFact[] {
    return this.ordinals.map((ordinal) => this.#read(this, ordinal));
  }
}
