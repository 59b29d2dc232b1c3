/**
 * Values of the tables as bytes. Numbers are big-endian; 48 bits hold any revision and any time in milliseconds. The
 * environment has checked the checksums before records get here.
 */

import { assert, assertInteger, elementAt } from "../../base/assert.ts";
import { CRC32_BYTES } from "../../base/bytes.ts";
import { FACT_ORIGINS, type FactOrigin } from "../../base/fact-origins.ts";
import { TIME_MS_MAX } from "../../base/limits.ts";
import type { EarlierFact, FactRecord } from "../../memory/ports.ts";
import type { FreeLabel, Place } from "../../memory/records.ts";
import { HEAD } from "./entry-keys.ts";
import type { TableName } from "./environment.ts";

/** In `meta`: when something was first forgotten since the last compaction. */
export const FORGOTTEN = Buffer.from("forgotten");

/** In `meta`: the limit that no history is longer than. */
export const HISTORY_LIMIT = Buffer.from("history limit");

/** In `meta`: the limit under which the store was opened last. */
export const HISTORY_IN_FORCE = Buffer.from("history in force");

/** In `meta`: what the clock of the store knew (SteadyClock). */
export const CLOCK = Buffer.from("clock");

export function isForgetting(table: TableName, key: Buffer): boolean {
  return table === "meta" && key.equals(FORGOTTEN);
}

const FACT_HEADER_BYTES = 35;
/** In the length of a writer: that a fact has a vector. */
const VECTOR = 2 ** 15;
const VECTOR_LENGTH_BYTES = 2;
/** In the same length: that the author of a shared fact stands before the writer, behind two bytes with its length. */
const AUTHORED = 2 ** 14;
const AUTHOR_LENGTH_BYTES = 2;
/** In the length of a session, which has ten bits at most: its pin, where a value comes from, and that a fact has the number of its label. */
const PINNED = 2 ** 12;
const ORIGIN = 2 ** 13;
const NUMBERED = 2 ** 15;
const NUMBER_BYTES = 4;
/** The same of an earlier value whose label was another one, or of which it is known who ended it. */
const ENDING = NUMBERED;
const EARLIER_HEADER_BYTES = 35;
/** Of six bytes. */
const NUMBER_MAX = 2 ** 48 - 1;
const PLACE_BYTES = 4;
const USER_BYTES = 26 + PLACE_BYTES;

/**
 * revision 6 · time of writing 6 · time since when it has the value 6 · time of expiry 6 (0: it does not expire) ·
 * ordinal 4 · codebook version 1 (0: no code) · code length in bits 2 · lengths of writer and session 2 + 2 (0: none),
 * the latter with pin and origin ·
 * where the person has made the label: its number 4 · with a code: its checksum 4, its bits · with a vector: its
 * length 2, its bytes · of a shared fact: the length of its author 2, the author · writer · session · value
 */
export function packFact(fact: Omit<FactRecord, "label" | "place">, vector?: Uint8Array): Buffer {
  const codeBytes = fact.code === undefined ? 0 : CRC32_BYTES + Math.ceil(fact.code.bits.length / 8);
  const texts = packTexts(fact);
  assert(fact.value !== "", "a value has a byte");
  assertInteger(fact.revision, 1, NUMBER_MAX, "the revision of a fact");
  assertInteger(fact.updatedAtMs, 0, TIME_MS_MAX, "the time of a fact");
  assertInteger(fact.ordinal, 1, HEAD - 1, "the ordinal of a fact");
  const codeStart = FACT_HEADER_BYTES + (fact.number === undefined ? 0 : NUMBER_BYTES);
  const vectorBytes = vector === undefined ? 0 : VECTOR_LENGTH_BYTES + vector.length;
  const out = Buffer.allocUnsafe(codeStart + codeBytes + vectorBytes + texts.length);
  out.writeUIntBE(fact.revision, 0, 6);
  out.writeUIntBE(fact.updatedAtMs, 6, 6);
  out.writeUIntBE(fact.sinceMs, 12, 6);
  out.writeUIntBE(fact.expiresAtMs ?? 0, 18, 6);
  out.writeUInt32BE(fact.ordinal, 24);
  out[28] = fact.code?.version ?? 0;
  out.writeUInt16BE(fact.code?.bits.length ?? 0, 29);
  out.writeUInt16BE(texts.writer + (vector === undefined ? 0 : VECTOR), 31);
  out.writeUInt16BE(texts.session + (fact.number === undefined ? 0 : NUMBERED), 33);
  if (fact.number !== undefined) out.writeUInt32BE(fact.number, FACT_HEADER_BYTES);
  if (fact.code !== undefined) {
    assert(fact.code.version > 0 && fact.code.version < 256, "a codebook version fits a byte");
    assert(fact.code.bits.length < 2 ** 16, "the length of a code fits two bytes");
    assert(fact.code.bits.bytes.length >= codeBytes - CRC32_BYTES, "a code has the bytes of its bits");
    out.writeUInt32BE(fact.code.checksum, codeStart);
    out.set(fact.code.bits.bytes.subarray(0, codeBytes - CRC32_BYTES), codeStart + CRC32_BYTES);
  }
  if (vector !== undefined) {
    out.writeUInt16BE(vector.length, codeStart + codeBytes);
    out.set(vector, codeStart + codeBytes + VECTOR_LENGTH_BYTES);
  }
  writeTexts(out, texts, codeStart + codeBytes + vectorBytes);
  return out;
}

/** Where the parts of a fact's record are. */
function partsOf(bytes: Buffer) {
  const version = bytes.readUInt8(28);
  const headerEnd = FACT_HEADER_BYTES + (bytes.readUInt16BE(33) >= NUMBERED ? NUMBER_BYTES : 0);
  const codeStart = headerEnd + (version === 0 ? 0 : CRC32_BYTES);
  const codeEnd = codeStart + Math.ceil(bytes.readUInt16BE(29) / 8);
  const hasVector = bytes.readUInt16BE(31) >= VECTOR;
  const vectorStart = codeEnd + (hasVector ? VECTOR_LENGTH_BYTES : 0);
  const textStart = vectorStart + (hasVector ? bytes.readUInt16BE(codeEnd) : 0);
  return { version, headerEnd, codeStart, codeEnd, hasVector, vectorStart, textStart };
}

/** Of a fact's record. It is read apart: what a write makes of a fact has none. */
export function unpackVector(bytes: Buffer): Uint8Array | undefined {
  const { hasVector, vectorStart, textStart } = partsOf(bytes);
  return hasVector ? Uint8Array.from(bytes.subarray(vectorStart, textStart)) : undefined;
}

/** @param withCode false if only the value is needed */
export function unpackFact(place: Place, label: string, bytes: Buffer, withCode = true): FactRecord {
  const { version, headerEnd, codeStart, codeEnd, textStart } = partsOf(bytes);
  const bitsLength = bytes.readUInt16BE(29);
  const session = bytes.readUInt16BE(33);
  const isNumbered = session >= NUMBERED;
  // Named one by one: a spread among the other names takes longer than all else here.
  const { value, writtenBy, sessionId, origin, pinned, author } = unpackTexts(
    bytes,
    textStart,
    bytes.readUInt16BE(31) % VECTOR,
    isNumbered ? session - NUMBERED : session,
  );
  const fact: FactRecord = {
    place,
    label,
    value,
    writtenBy,
    sessionId,
    revision: bytes.readUIntBE(0, 6),
    updatedAtMs: bytes.readUIntBE(6, 6),
    sinceMs: bytes.readUIntBE(12, 6),
    expiresAtMs: bytes.readUIntBE(18, 6) || null,
    ordinal: bytes.readUInt32BE(24),
  };
  const known = withTerms(fact, { origin, pinned, author });
  const numbered = isNumbered ? { ...known, number: bytes.readUInt32BE(FACT_HEADER_BYTES) } : known;
  if (version === 0 || !withCode) return numbered;
  const bits = { length: bitsLength, bytes: Uint8Array.from(bytes.subarray(codeStart, codeEnd)) };
  return { ...numbered, code: { version, bits, checksum: bytes.readUInt32BE(headerEnd) } };
}

const ENDINGS = ["replaced", "forgotten", "expired", "renamed"] as const;
type Ending = Pick<EarlierFact, "former" | "endedBy">;

/**
 * revision 6 · time of writing 6 · time since when it had the value 6 · time of its end 6 · time of the end that it would
 * have had 6 (0: none) · how it ended 1 · lengths of writer and session 2 + 2 (0: none), the latter with pin and origin · where
 * its label was another one, or it is known who ended it: length 2, both as JSON · author (as of a fact) · writer ·
 * session · value
 */
export function packEarlier(fact: EarlierFact): Buffer {
  const { ended, endedAtMs, former, endedBy } = fact;
  const texts = packTexts(fact);
  const ending = (former ?? endedBy) === undefined ? Buffer.alloc(0) : packJson({ former, endedBy });
  const endingBytes = ending.length === 0 ? 0 : 2 + ending.length;
  assert(ENDINGS.includes(ended), "an earlier value has ended");
  assertInteger(fact.ordinal, 1, HEAD - 1, "the ordinal of an earlier value");
  const out = Buffer.allocUnsafe(EARLIER_HEADER_BYTES + endingBytes + texts.length);
  out.writeUIntBE(fact.revision, 0, 6);
  out.writeUIntBE(fact.updatedAtMs, 6, 6);
  out.writeUIntBE(fact.sinceMs, 12, 6);
  out.writeUIntBE(endedAtMs, 18, 6);
  out.writeUIntBE(fact.expiresAtMs ?? 0, 24, 6);
  out[30] = ENDINGS.indexOf(ended);
  out.writeUInt16BE(texts.writer, 31);
  out.writeUInt16BE(texts.session + (endingBytes === 0 ? 0 : ENDING), 33);
  if (endingBytes > 0) {
    out.writeUInt16BE(ending.length, EARLIER_HEADER_BYTES);
    out.set(ending, EARLIER_HEADER_BYTES + 2);
  }
  writeTexts(out, texts, EARLIER_HEADER_BYTES + endingBytes);
  return out;
}

export function unpackEarlier(place: Place, label: string, ordinal: number, bytes: Buffer): EarlierFact {
  const session = bytes.readUInt16BE(33);
  const hasEnding = session >= ENDING;
  const endingStart = EARLIER_HEADER_BYTES + 2;
  const endingEnd = hasEnding ? endingStart + bytes.readUInt16BE(EARLIER_HEADER_BYTES) : EARLIER_HEADER_BYTES;
  return {
    place,
    label,
    ...unpackTexts(bytes, endingEnd, bytes.readUInt16BE(31), hasEnding ? session - ENDING : session),
    revision: bytes.readUIntBE(0, 6),
    updatedAtMs: bytes.readUIntBE(6, 6),
    sinceMs: bytes.readUIntBE(12, 6),
    ordinal,
    expiresAtMs: bytes.readUIntBE(24, 6) || null,
    ended: elementAt(ENDINGS, bytes.readUInt8(30)),
    endedAtMs: bytes.readUIntBE(18, 6),
    ...(hasEnding ? unpackJson<Ending>(bytes.subarray(endingStart, endingEnd)) : {}),
  };
}

type Texts = Pick<FactRecord, "value" | "writtenBy" | "sessionId" | "origin" | "pinned" | "author">;

/** `session`: its length, the pin and the origin; `writer`: its length, and whether there is an author. */
function packTexts({ value, writtenBy, sessionId, origin, pinned, author }: Texts) {
  const text = (author ?? "") + (writtenBy ?? "") + (sessionId ?? "") + value;
  const writerBytes = writtenBy === null ? 0 : Buffer.byteLength(writtenBy);
  const sessionBytes = sessionId === null ? 0 : Buffer.byteLength(sessionId);
  assert(sessionBytes < PINNED, "the length of a session leaves four bits");
  const terms =
    (origin === undefined ? 0 : (FACT_ORIGINS.indexOf(origin) + 1) * ORIGIN) + (pinned ? PINNED : 0);
  const session = sessionBytes + terms;
  const writer = writerBytes + (author === undefined ? 0 : AUTHORED);
  const length = Buffer.byteLength(text) + (author === undefined ? 0 : AUTHOR_LENGTH_BYTES);
  return { text, length, writer, session, author };
}

function writeTexts(out: Buffer, { text, author }: { text: string; author: string | undefined }, at: number) {
  if (author !== undefined) out.writeUInt16BE(Buffer.byteLength(author), at);
  out.write(text, at + (author === undefined ? 0 : AUTHOR_LENGTH_BYTES));
}

function unpackTexts(bytes: Buffer, at: number, writerAndAuthor: number, sessionAndTerms: number): Texts {
  const writerBytes = writerAndAuthor % AUTHORED;
  const authorStart = at + (writerAndAuthor < AUTHORED ? 0 : AUTHOR_LENGTH_BYTES);
  const start = authorStart === at ? at : authorStart + bytes.readUInt16BE(at);
  const author = authorStart === at ? undefined : bytes.toString("utf8", authorStart, start);
  const sessionBytes = sessionAndTerms % PINNED;
  const session = start + writerBytes;
  const value = session + sessionBytes;
  const texts: Texts = {
    value: bytes.toString("utf8", value, bytes.length),
    writtenBy: writerBytes === 0 ? null : bytes.toString("utf8", start, session),
    sessionId: sessionBytes === 0 ? null : bytes.toString("utf8", session, value),
  };
  const origin: FactOrigin | undefined = FACT_ORIGINS[Math.floor(sessionAndTerms / ORIGIN) - 1];
  return withTerms(texts, { origin, pinned: (sessionAndTerms & PINNED) === 0 ? undefined : true, author });
}

type Terms = Pick<Texts, "origin" | "pinned" | "author">;

/** Most have none. */
function withTerms<T extends Terms>(texts: T, { origin, pinned, author }: Terms): T {
  if (origin === undefined && pinned === undefined && author === undefined) return texts;
  return { ...texts, ...(origin && { origin }), ...(pinned && { pinned }), ...(author && { author }) };
}

/** Of a place. Facts that have expired count until they are swept. */
export interface PlaceRecord {
  facts: number;
  /** How many of them expire one day. */
  ending: number;
}

/** The user's own record is that of the person's own place, too. */
export interface UserRecord {
  /** The revision before its first: no two lives of a user have the same. */
  readonly life: number;
  revision: number;
  /** Facts at all places. */
  facts: number;
  /** Labels at all places that have a history and no fact. */
  heads: number;
  /** Further places with facts. */
  places: number;
  /** The last number that a label which the person has made was given. */
  numbers: number;
  readonly own: PlaceRecord;
}

export function newUser(life: number): UserRecord {
  return { life, revision: life, facts: 0, heads: 0, places: 0, numbers: 0, own: { facts: 0, ending: 0 } };
}

/** facts 2 · facts that expire 2 */
export function packPlace({ facts, ending }: PlaceRecord): Buffer {
  assert(ending >= 0 && ending <= facts, "a place has the facts that expire there");
  const out = Buffer.allocUnsafe(PLACE_BYTES);
  out.writeUInt16BE(facts);
  out.writeUInt16BE(ending, 2);
  return out;
}

export function unpackPlace(bytes: Buffer): PlaceRecord {
  assert(bytes.length === PLACE_BYTES, "a place's record");
  return { facts: bytes.readUInt16BE(), ending: bytes.readUInt16BE(2) };
}

/** life 6 · revision 6 · facts 4 · heads 4 · further places 2 · last number 4 · the person's own place 4 */
export function packUser(user: UserRecord): Buffer {
  assert(user.facts >= 0 && user.heads >= 0 && user.facts + user.heads > 0, "a user has facts or a history");
  const out = Buffer.allocUnsafe(26);
  out.writeUIntBE(user.life, 0, 6);
  out.writeUIntBE(user.revision, 6, 6);
  out.writeUInt32BE(user.facts, 12);
  out.writeUInt32BE(user.heads, 16);
  out.writeUInt16BE(user.places, 20);
  out.writeUInt32BE(user.numbers, 22);
  return Buffer.concat([out, packPlace(user.own)]);
}

export function unpackUser(bytes: Buffer): UserRecord {
  assert(bytes.length === USER_BYTES, "a user's record");
  return {
    life: bytes.readUIntBE(0, 6),
    revision: bytes.readUIntBE(6, 6),
    facts: bytes.readUInt32BE(12),
    heads: bytes.readUInt32BE(16),
    places: bytes.readUInt16BE(20),
    numbers: bytes.readUInt32BE(22),
    own: unpackPlace(bytes.subarray(26)),
  };
}

export function stampOf(bytes: Buffer): string {
  assert(bytes.length === USER_BYTES, "a stamp is made of a user's record");
  return bytes.toString("base64url", 0, 12);
}

/** number 4 · uses 2 · description */
export function packFreeLabel({ number, uses, description }: FreeLabel): Buffer {
  const out = Buffer.alloc(6 + Buffer.byteLength(description ?? ""));
  out.writeUInt32BE(number);
  out.writeUInt16BE(uses, 4);
  out.write(description ?? "", 6);
  return out;
}

export function unpackFreeLabel(label: string, bytes: Buffer): FreeLabel {
  const description = bytes.toString("utf8", 6);
  return {
    label,
    number: bytes.readUInt32BE(),
    uses: bytes.readUInt16BE(4),
    description: description === "" ? null : description,
  };
}

export function packNumber(value: number): Buffer {
  assertInteger(value, 0, NUMBER_MAX, "a stored number");
  const out = Buffer.alloc(6);
  out.writeUIntBE(value, 0, 6);
  return out;
}

export function unpackNumber(bytes: Buffer | undefined): number {
  return bytes === undefined ? 0 : bytes.readUIntBE(0, 6);
}

interface IdempotencyRecord {
  readonly fingerprint: Uint8Array;
  readonly channelCount: number;
  readonly expiresAtMs: number;
  readonly revision: number;
}

/** fingerprint 32 · channel count 2 · expiry 6 · revision 6 */
export function packIdempotency(record: IdempotencyRecord): Buffer {
  assert(record.fingerprint.length === 32, "a fingerprint has 32 bytes");
  const out = Buffer.alloc(46);
  out.set(record.fingerprint);
  out.writeUInt16BE(record.channelCount, 32);
  out.writeUIntBE(record.expiresAtMs, 34, 6);
  out.writeUIntBE(record.revision, 40, 6);
  return out;
}

export function unpackIdempotency(bytes: Buffer): IdempotencyRecord {
  assert(bytes.length === 46, "an idempotency record");
  return {
    fingerprint: bytes.subarray(0, 32),
    channelCount: bytes.readUInt16BE(32),
    expiresAtMs: bytes.readUIntBE(34, 6),
    revision: bytes.readUIntBE(40, 6),
  };
}

/** Keys, accounts, labels and key requests are JSON: there are few, and people can read them in an emergency. */
export function packJson(record: unknown): Buffer {
  return Buffer.from(JSON.stringify(record));
}

export function unpackJson<T>(bytes: Buffer): T {
  return JSON.parse(bytes.toString()) as T;
}
