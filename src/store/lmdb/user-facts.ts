/**
 * One user's facts inside a group's transaction: what a change does to the fact, its history, the records that count and
 * the list of what expires (docs/decisions/0050). Nothing is stored before `save`.
 */

import { assert } from "../../base/assert.ts";
import { HISTORY_MAX } from "../../base/limits.ts";
import type { EarlierFact, FactChange, FactRecord, Place } from "../../memory/ports.ts";
import { endKey, factKey, HEAD, historyKey, PLACES, placeKey, USERS, userKey } from "./entry-keys.ts";
import type { Writer } from "./group-commit.ts";
import {
  channelCount,
  FORGOTTEN,
  hasChannel,
  type LifeSource,
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
  unpackFact,
  unpackNumber,
  unpackPlace,
  unpackUser,
} from "./records.ts";

export interface UserFactsOptions {
  readonly nowMs: number;
  /** How many earlier values of each fact are kept. */
  readonly historyMax: number;
}

interface WriteAuthor {
  readonly writtenBy: string | null;
  readonly sessionId: string | null;
}

/** An entry whose key says all. */
const LISTED = Buffer.of(1);

export class UserWrites {
  readonly #writer: Writer;
  readonly #account: string;
  readonly #userId: string;
  readonly #options: UserFactsOptions;
  readonly #key: Buffer;
  readonly #wasKnown: boolean;
  #user: UserRecord | undefined;
  readonly #places = new Map<Place, { record: PlaceRecord; wasKnown: boolean }>();
  #changed = false;

  constructor(writer: Writer, account: string, userId: string, options: UserFactsOptions) {
    this.#writer = writer;
    this.#account = account;
    this.#userId = userId;
    this.#options = options;
    this.#key = userKey(account, userId);
    const bytes = writer.get("facts", this.#key);
    this.#wasKnown = bytes !== undefined;
    this.#user = bytes && unpackUser(bytes);
  }

  get isKnown(): boolean {
    return this.#user !== undefined;
  }

  get revision(): number {
    return this.#user?.revision ?? 0;
  }

  /** The fact of a place and channel, unless it has expired. */
  live(place: Place, channel: number): FactRecord | undefined {
    const fact = this.#stored(place, channel);
    return fact !== undefined && isLive(fact, this.#options.nowMs) ? fact : undefined;
  }

  /** Writes a value; the fact that was there before. */
  set(
    change: FactChange & { value: string },
    author: WriteAuthor,
    lives: LifeSource,
  ): FactRecord | undefined {
    const { place, channel, value } = change;
    this.#user ??= newUser(lives.next());
    const key = this.#keyOf(place, channel);
    const before = this.#stored(place, channel);
    const updatedAtMs = change.updatedAtMs ?? this.#options.nowMs;
    const isSame = before?.value === value;
    const last = before === undefined ? this.#takeHead(key) : before.ordinal;
    const ordinal = isSame ? last : Math.max(last + 1, change.ordinal ?? 1);
    if (before !== undefined) {
      if (!isSame) this.#keep(key, before, "replaced", updatedAtMs);
      this.#unlist(key, before);
    } else {
      markChannel(this.#place(place), channel, true);
      this.#user.facts += 1;
    }
    if (!isSame) this.#dropOldest(key, last, ordinal);
    const expiresAtMs = change.expiresAtMs ?? null;
    this.#user.revision += 1;
    const fact = {
      value,
      revision: this.#user.revision,
      updatedAtMs,
      // A clock may have been set back meanwhile.
      sinceMs: isSame ? Math.min(before.sinceMs, updatedAtMs) : updatedAtMs,
      expiresAtMs,
      ordinal,
      ...(isSame ? { writtenBy: before.writtenBy, sessionId: before.sessionId } : author),
    };
    this.#writer.put("facts", key, packFact(fact));
    if (expiresAtMs !== null) {
      this.#writer.put("ends", endKey(expiresAtMs, key), LISTED);
      this.#place(place).ending += 1;
    }
    this.#changed = true;
    return before;
  }

  /** Forgets a fact, and its history unless it is kept. `found`: there was something to forget. */
  forget({ place, channel, keepHistory = false }: FactChange): { before?: FactRecord; found: boolean } {
    if (this.#user === undefined) return { found: false };
    const key = this.#keyOf(place, channel);
    const before = this.#stored(place, channel);
    if (keepHistory) {
      if (before === undefined) return { found: false };
      this.#end(key, before, "forgotten", this.#options.nowMs);
      return { before, found: true };
    }
    const last = before?.ordinal ?? this.#takeHead(key);
    if (last === 0) return { found: false };
    if (before !== undefined) this.#removeFact(key, before);
    this.#dropHistory(key, last);
    this.#user.revision += 1;
    this.#changed = true;
    noteForgetting(this.#writer, this.#options.nowMs);
    return before === undefined ? { found: true } : { before, found: true };
  }

  /** Moves a fact that has expired to the history, and returns it. Call it before the fact is changed. */
  endExpired(place: Place, channel: number): FactRecord | undefined {
    if (this.#user === undefined || this.#place(place).ending === 0) return undefined;
    const fact = this.#stored(place, channel);
    if (fact === undefined || isLive(fact, this.#options.nowMs)) return undefined;
    assert(fact.expiresAtMs !== null, "an expired fact has a moment");
    this.#end(this.#keyOf(place, channel), fact, "expired", fact.expiresAtMs);
    return fact;
  }

  /** Removes those of a fact's entries in the history that are beyond its limit. */
  shorten(place: Place, channel: number, ordinals: readonly number[]): void {
    if (this.#user === undefined) return;
    const key = this.#keyOf(place, channel);
    const { historyMax, nowMs } = this.#options;
    const present = this.#stored(place, channel);
    const last = present === undefined ? this.#head(key) : present.ordinal - 1;
    const old = ordinals.filter((ordinal) => ordinal !== HEAD && ordinal <= last - historyMax);
    for (const ordinal of old) this.#writer.remove("history", historyKey(key, ordinal));
    // Where nothing is kept, nothing is left of a label without a fact.
    const isOver = present === undefined && historyMax === 0 && ordinals.includes(HEAD);
    if (isOver) this.#takeHead(key);
    if (old.length === 0 && !isOver) return;
    this.#changed = true;
    noteForgetting(this.#writer, nowMs);
  }

  /** How many channels have a fact in one of the places. */
  countChannels(places: readonly Place[]): number {
    if (this.#user === undefined) return 0;
    return channelCount(
      places.map((place) => {
        const record = this.#place(place);
        return record.ending === 0 ? record : this.#liveChannels(place, record);
      }),
    );
  }

  save(): void {
    const user = this.#user;
    if (!this.#changed || user === undefined) return;
    for (const [place, { record, wasKnown }] of this.#places) {
      const key = placeKey(this.#account, this.#userId, place);
      const isUsed = channelCount([record]) > 0;
      if (isUsed) this.#writer.put("facts", key, packPlace(record));
      else if (wasKnown) this.#writer.remove("facts", key);
      addToCounter(this.#writer, PLACES, Number(isUsed) - Number(wasKnown));
    }
    const isUsed = user.facts + user.heads > 0;
    // A user without facts and history is removed: nothing shows that the user ever existed.
    if (isUsed) this.#writer.put("facts", this.#key, packUser(user));
    else if (this.#wasKnown) this.#writer.remove("facts", this.#key);
    addToCounter(this.#writer, USERS, Number(isUsed) - Number(this.#wasKnown));
  }

  #keyOf(place: Place, channel: number): Buffer {
    return factKey(this.#account, this.#userId, place, channel);
  }

  #stored(place: Place, channel: number): FactRecord | undefined {
    const bytes = this.#user && this.#writer.get("facts", this.#keyOf(place, channel));
    return bytes && unpackFact(place, channel, bytes, false);
  }

  #place(place: Place): PlaceRecord {
    assert(this.#user !== undefined, "a place belongs to a user");
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

  #liveChannels(place: Place, record: PlaceRecord): PlaceRecord {
    const live = newPlace();
    for (let channel = 0; channel < record.channels.length * 8; channel++) {
      if (hasChannel(record, channel) && this.live(place, channel) !== undefined)
        markChannel(live, channel, true);
    }
    return live;
  }

  /** The fact becomes the last entry of its history. */
  #end(key: Buffer, fact: FactRecord, ended: EarlierFact["ended"], endedAtMs: number): void {
    assert(this.#user !== undefined, "a fact belongs to a user");
    this.#removeFact(key, fact);
    if (this.#options.historyMax === 0) {
      this.#dropHistory(key, fact.ordinal);
      noteForgetting(this.#writer, this.#options.nowMs);
    } else {
      this.#keep(key, fact, ended, endedAtMs);
      this.#dropOldest(key, fact.ordinal, fact.ordinal + 1);
      this.#putHead(key, fact.ordinal);
    }
    this.#user.revision += 1;
    this.#changed = true;
  }

  #removeFact(key: Buffer, fact: FactRecord): void {
    assert(this.#user !== undefined && this.#user.facts > 0, "the user's facts are counted");
    this.#unlist(key, fact);
    this.#writer.remove("facts", key);
    markChannel(this.#place(fact.place), fact.channel, false);
    this.#user.facts -= 1;
  }

  /** Takes the fact from the list of those that expire. */
  #unlist(key: Buffer, { place, expiresAtMs }: FactRecord): void {
    if (expiresAtMs === null) return;
    this.#writer.remove("ends", endKey(expiresAtMs, key));
    const record = this.#place(place);
    assert(record.ending > 0, "facts that expire are counted");
    record.ending -= 1;
  }

  #keep(key: Buffer, fact: FactRecord, ended: EarlierFact["ended"], endedAtMs: number): void {
    if (this.#options.historyMax > 0)
      this.#writer.put("history", historyKey(key, fact.ordinal), packEarlier(fact, ended, endedAtMs));
  }

  /**
   * Removes what is beyond the limit once a history ends with `last` and the next value has the ordinal `next`: one entry,
   * or more where an import leaves ordinals out. What a higher limit has left is removed by histories.ts.
   */
  #dropOldest(key: Buffer, last: number, next: number): void {
    const { historyMax } = this.#options;
    if (historyMax === 0) return;
    const end = Math.min(last, next - historyMax - 1);
    for (let ordinal = Math.max(1, last - historyMax); ordinal <= end; ordinal++)
      this.#writer.remove("history", historyKey(key, ordinal));
  }

  /** Removes the whole history whose last entry has this ordinal, with entries from the time of a higher limit. */
  #dropHistory(key: Buffer, last: number): void {
    const range = { start: historyKey(key, 1), end: historyKey(key, last + 1) };
    for (const entry of this.#writer.environment.keys("history", range))
      this.#writer.remove("history", entry);
    // Entries that this group has added are not in the environment yet.
    for (let ordinal = Math.max(1, last - HISTORY_MAX); ordinal <= last; ordinal++) {
      const entry = historyKey(key, ordinal);
      if (this.#writer.has("history", entry)) this.#writer.remove("history", entry);
    }
  }

  /** The ordinal of the last value of a label that has no fact any more, or 0. */
  #head(key: Buffer): number {
    return unpackNumber(this.#writer.get("history", historyKey(key, HEAD)));
  }

  /** Returns the head and removes it: the label gets a fact again, or loses its history. */
  #takeHead(key: Buffer): number {
    assert(this.#user !== undefined, "a history belongs to a user");
    const last = this.#head(key);
    if (last === 0) return 0;
    assert(this.#user.heads > 0, "labels with a history and no fact are counted");
    this.#writer.remove("history", historyKey(key, HEAD));
    this.#user.heads -= 1;
    return last;
  }

  #putHead(key: Buffer, ordinal: number): void {
    assert(this.#user !== undefined, "a history belongs to a user");
    this.#writer.put("history", historyKey(key, HEAD), packNumber(ordinal));
    this.#user.heads += 1;
  }
}

export function isLive({ expiresAtMs }: Pick<FactRecord, "expiresAtMs">, nowMs: number): boolean {
  return expiresAtMs === null || expiresAtMs > nowMs;
}

export function addToCounter(writer: Writer, counter: string, change: number): void {
  if (change !== 0) writer.setCount(counter, writer.count(counter) + change);
}

/** Always written: a copy in progress learns from it that something was forgotten. */
export function noteForgetting(writer: Writer, nowMs: number): void {
  writer.put("meta", FORGOTTEN, writer.get("meta", FORGOTTEN) ?? packNumber(nowMs));
}
