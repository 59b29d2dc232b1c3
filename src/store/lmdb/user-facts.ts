/**
 * One user's memory inside a group's transaction: what a write names is read, the law decides (memory/law), and the
 * difference is put. The records of the user and of places count, so that a user without facts and history is gone.
 */

import { assert } from "../../base/assert.ts";
import { type Reading, readingOf } from "../../memory/law/law.ts";
import {
  type FactDifference,
  type FactName,
  type FoundFact,
  isLive,
  nameOf,
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
import type { Writer } from "./group-commit.ts";
import {
  channelCount,
  FORGOTTEN,
  hasChannel,
  markChannel,
  newPlace,
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
  readonly #places = new Map<Place, { record: PlaceRecord; wasKnown: boolean }>();

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
    const reading = readingOf(request);
    const { revision, facts, heads } = this.#user;
    const isWhole = reading.inside.length > 0;
    const names = isWhole ? this.#namesInside(reading) : reading.names;
    const named = names.map((name) => this.#find(name, reading.history));
    return new UserMemory({ revision, facts, heads, named, isWhole }, historyMax);
  }

  /** Channels with a live fact in the places, but for those that a request names. */
  countOthers({ places, changes, nowMs }: Pick<WriteRequest, "changes" | "places" | "nowMs">): number {
    if (places.length === 0 || !this.#wasKnown) return 0;
    const live = places.map((place) => {
      const record = this.#place(place);
      return record.ending === 0 ? record : this.#liveChannels(place, record, nowMs);
    });
    const named = new Set(readingOf({ changes, places }).names.map(({ channel }) => channel));
    const isNamed = [...named].filter((channel) => live.some((record) => hasChannel(record, channel)));
    return channelCount(live) - isNamed.length;
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
    for (const [place, { record, wasKnown }] of this.#places) {
      const key = placeKey(this.#account, this.#userId, place);
      const isUsed = channelCount([record]) > 0;
      if (isUsed) this.#writer.put("facts", key, packPlace(record));
      else if (wasKnown) this.#writer.remove("facts", key);
      addToCounter(this.#writer, PLACES, Number(isUsed) - Number(wasKnown));
    }
    const isUsed = counts.facts + counts.heads > 0;
    // A user without facts and history is removed: nothing shows that the user ever existed.
    if (isUsed) this.#writer.put("facts", this.#key, packUser({ ...this.#user, ...counts }));
    else if (this.#wasKnown) this.#writer.remove("facts", this.#key);
    if (!isUsed) noteRevision(this.#writer, counts.revision);
    addToCounter(this.#writer, USERS, Number(isUsed) - Number(this.#wasKnown));
  }

  /** Removes those of a fact's entries in the history that are beyond its limit. */
  shorten(
    { place, channel }: FactName,
    ordinals: readonly number[],
    historyMax: number,
    nowMs: number,
  ): void {
    if (!this.#wasKnown) return;
    const key = this.#keyOf(place, channel);
    const present = this.#stored(place, channel);
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

  #find({ place, channel }: FactName, withHistory: boolean): FoundFact {
    if (!this.#wasKnown) return { place, channel, present: undefined, earlier: [], last: 0 };
    const present = this.#stored(place, channel);
    const key = this.#keyOf(place, channel);
    const last = present?.ordinal ?? this.#head(key);
    return {
      place,
      channel,
      present,
      earlier: withHistory && last > 0 ? this.#history(place, channel, key) : [],
      last,
    };
  }

  #history(place: Place, channel: number, key: Buffer): EarlierFact[] {
    return this.#writer
      .keys("history", { start: historyKey(key, 1), end: historyKey(key, HEAD) })
      .map((entry) => {
        const bytes = this.#writer.get("history", entry);
        assert(bytes !== undefined, "an entry of a history is there");
        return unpackEarlier(place, channel, splitHistoryKey(entry).ordinal, bytes);
      })
      .sort((a, b) => a.ordinal - b.ordinal);
  }

  /** Everything at the places and inside them that has a fact or a history, by place and channel. */
  #namesInside({ inside }: Reading): FactName[] {
    if (!this.#wasKnown) return [];
    const ranges = inside.flatMap((place) =>
      place === "" ? [rangeBelow(this.#key)] : rangesOfPlace(placeKey(this.#account, this.#userId, place)),
    );
    const names = new Map<string, FactName>();
    for (const range of ranges) {
      const facts = this.#writer.keys("facts", range).filter((key) => !isPlaceKey(key));
      const history = this.#writer.keys("history", range).filter((key) => !isAnswerKey(key));
      for (const key of [...facts, ...history]) {
        const { place, channel } = splitFactKey(key);
        names.set(nameOf({ place, channel }), { place, channel });
      }
    }
    return [...names.values()].sort(
      (a, b) => Buffer.compare(Buffer.from(a.place), Buffer.from(b.place)) || a.channel - b.channel,
    );
  }

  #put(
    { place, channel, before, present, lastBefore, last, dropBelow, added }: FactDifference,
    historyMax: number,
  ): void {
    const key = this.#keyOf(place, channel);
    const record = this.#place(place);
    if (before !== undefined && before.expiresAtMs !== null) {
      this.#writer.remove("ends", endKey(before.expiresAtMs, key));
      assert(record.ending > 0, "facts that expire are counted");
      record.ending -= 1;
    }
    if (present === undefined) {
      if (before !== undefined) this.#writer.remove("facts", key);
    } else this.#writer.put("facts", key, packFact(present));
    markChannel(record, channel, present !== undefined);
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
      const range = { start: historyKey(key, 1), end: historyKey(key, HEAD) };
      for (const entry of this.#writer.keys("history", range)) this.#writer.remove("history", entry);
      return;
    }
    for (let ordinal = Math.max(1, last - historyMax); ordinal < Math.min(dropBelow, last + 1); ordinal++)
      this.#writer.remove("history", historyKey(key, ordinal));
  }

  #keyOf(place: Place, channel: number): Buffer {
    return factKey(this.#account, this.#userId, place, channel);
  }

  #stored(place: Place, channel: number): FactRecord | undefined {
    const bytes = this.#writer.get("facts", this.#keyOf(place, channel));
    return bytes && unpackFact(place, channel, bytes, false);
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
      known = {
        record: bytes === undefined ? newPlace() : unpackPlace(bytes),
        wasKnown: bytes !== undefined,
      };
      this.#places.set(place, known);
    }
    return known.record;
  }

  #liveChannels(place: Place, record: PlaceRecord, nowMs: number): PlaceRecord {
    const live = newPlace();
    for (let channel = 0; channel < record.channels.length * 8; channel++) {
      if (!hasChannel(record, channel)) continue;
      const fact = this.#stored(place, channel);
      if (fact !== undefined && isLive(fact, nowMs)) markChannel(live, channel, true);
    }
    return live;
  }
}

/** The record of a place: there is no third zero. */
export function isPlaceKey(key: Buffer): boolean {
  return key.indexOf(0, key.indexOf(0, key.indexOf(0) + 1) + 1) < 0;
}

function isAnswerKey(key: Buffer): boolean {
  return dayOfAnswer(key) !== undefined;
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
