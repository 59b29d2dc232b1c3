/**
 * Keys of entries, far below lmdb's 1,978 bytes. Neither accounts, user ids, places (identifiers.ts) nor labels hold
 * U+0000, so a zero byte between the parts makes every prefix stand for exactly one account, user, place or label.
 *
 *   facts    account 0 user                              the user's record, also for the person's own place
 *            account 0 user 0 place                      the record of another place
 *            account 0 user 0 place 0 label              a fact; the person's own place is the empty text
 *   history  account 0 user 0 place 0 label 0 ordinal    an earlier value; the highest ordinal is the head (records.ts)
 *            account 0 user 0 FF idempotency key         what a request was answered
 *   ends     moment account 0 user 0 place 0 label       a fact that expires
 *   labels   account 0 label                             a label, and with a zero behind it one that was removed
 *            account 1                                   that the account is strict
 *   projects account 0 project                          that it is shared, and by whom
 *   free-labels  account 0 user 0 label                  a label that the person has made
 */

import { assert, assertInteger } from "../../base/assert.ts";
import type { FactName } from "../../memory/law/found-user.ts";
import type { Place } from "../../memory/records.ts";

export function userKey(account: string, userId: string): Buffer {
  assert(account.length > 0 && userId.length > 0, "account and user have names");
  assert(!account.includes("\0") && !userId.includes("\0"), "no zero in a name");
  return Buffer.from(`${account}\0${userId}`);
}

/** What the keys of a place's facts begin with; for a place of its own it is the key of the place's record. */
export function placeKey(account: string, userId: string, place: Place): Buffer {
  assert(!account.includes("\0") && !userId.includes("\0") && !place.includes("\0"), "no zero in a name");
  return Buffer.from(`${account}\0${userId}\0${place}`);
}

/** A place's facts lie behind its record, in the order of their labels. */
export function factKey(account: string, userId: string, { place, label }: FactName): Buffer {
  assert(!account.includes("\0") && !userId.includes("\0") && !place.includes("\0"), "no zero in a name");
  assert(label.length > 0 && !label.includes("\0"), "a label is a text without a zero");
  return Buffer.from(`${account}\0${userId}\0${place}\0${label}`);
}

/** The parts of a fact's key, or of a history key, whose ordinal is left alone. */
export function splitFactKey(key: Buffer): FactName & { readonly account: string; readonly userId: string } {
  const first = key.indexOf(0);
  const second = key.indexOf(0, first + 1);
  const third = key.indexOf(0, second + 1);
  assert(first > 0 && second > first && third > second && key.length > third + 1, "the key of a fact");
  const fourth = key.indexOf(0, third + 1);
  return {
    account: key.toString("utf8", 0, first),
    userId: key.toString("utf8", first + 1, second),
    place: key.toString("utf8", second + 1, third),
    label: key.toString("utf8", third + 1, fourth < 0 ? key.length : fourth),
  };
}

/** The place that an entry of a user belongs to, whose key begins with `user`; undefined for the user's own record. */
export function placeOfKey(user: Buffer, key: Buffer): Place | undefined {
  if (key.length === user.length) return undefined;
  const end = key.indexOf(0, user.length + 1);
  return key.toString("utf8", user.length + 1, end < 0 ? key.length : end);
}

/** The label of a fact in the place whose key is given. */
export function labelOfKey(place: Buffer, key: Buffer): string {
  return key.toString("utf8", place.length + 1);
}

/** A zero, so that no label begins like another, and the ordinal. */
const ORDINAL_BYTES = 5;
/** Stands in place of an ordinal in the key of a head (records.ts). */
export const HEAD = 2 ** 32 - 1;

export function historyKey(fact: Buffer, ordinal: number): Buffer {
  assert(ordinal > 0 && ordinal <= HEAD, "an ordinal");
  const key = Buffer.allocUnsafe(fact.length + ORDINAL_BYTES);
  key.set(fact);
  key[fact.length] = 0;
  key.writeUInt32BE(ordinal, fact.length + 1);
  return key;
}

export function splitHistoryKey(key: Buffer): { fact: Buffer; ordinal: number } {
  const end = key.length - ORDINAL_BYTES;
  return { fact: key.subarray(0, end), ordinal: key.readUInt32BE(end + 1) };
}

const MOMENT_BYTES = 6;

/** Entries of facts that expire, in the order in which they do. */
export function endKey(expiresAtMs: number, fact: Buffer): Buffer {
  return Buffer.concat([momentPrefix(expiresAtMs), fact]);
}

export function momentOfEndKey(key: Buffer): number {
  return key.readUIntBE(0, MOMENT_BYTES);
}

export function factOfEndKey(key: Buffer): Buffer {
  return key.subarray(MOMENT_BYTES);
}

export function momentPrefix(ms: number): Buffer {
  const prefix = Buffer.alloc(MOMENT_BYTES);
  prefix.writeUIntBE(ms, 0, MOMENT_BYTES);
  return prefix;
}

export function labelKey(account: string, label: string): Buffer {
  return Buffer.from(`${account}\0${label}`);
}

export function goneLabelKey(account: string, label: string): Buffer {
  return Buffer.from(`${account}\0${label}\0`);
}

/** Behind all labels of the account. */
export function strictKey(account: string): Buffer {
  return Buffer.from(`${account}\u0001`);
}

export function projectKey(account: string, project: string): Buffer {
  assert(project.length > 0 && !project.includes("\0"), "no zero in a name");
  return Buffer.from(`${account}\0${project}`);
}

export function freeLabelKey(account: string, userId: string, label: string): Buffer {
  return Buffer.concat([userKey(account, userId), Buffer.from(`\0${label}`)]);
}

/** Whether an entry of facts or history has a label; records of users and places, and answers, have none. */
export function isOfLabel(key: Buffer, label: string): boolean {
  const second = key.indexOf(0, key.indexOf(0) + 1);
  const third = second < 0 ? -1 : key.indexOf(0, second + 1);
  return third >= 0 && key[second + 1] !== ANSWER && splitFactKey(key).label === label;
}

/** The range of all keys below a prefix: the facts of a place, all of a user, or the users and facts of an account. */
export function rangeBelow(prefix: Buffer): { start: Buffer; end: Buffer } {
  return { start: Buffer.concat([prefix, Buffer.of(0)]), end: Buffer.concat([prefix, Buffer.of(1)]) };
}

/** The range of a place's own record and of all places inside it, with their facts. */
export function rangesOfPlace(key: Buffer): { start: Buffer; end: Buffer }[] {
  return [
    { start: key, end: Buffer.concat([key, Buffer.of(1)]) },
    { start: Buffer.concat([key, Buffer.from("/")]), end: Buffer.concat([key, Buffer.from("0")]) },
  ];
}

export function splitUserKey(key: Buffer): { account: string; userId: string } {
  const zero = key.indexOf(0);
  return { account: key.toString("utf8", 0, zero), userId: key.toString("utf8", zero + 1) };
}

/** The key of the user that an entry belongs to: its own, or what stands before the second zero. */
export function userOfKey(key: Buffer): Buffer {
  const zero = key.indexOf(0, key.indexOf(0) + 1);
  return zero < 0 ? key : key.subarray(0, zero);
}

/** The counters of users and of further places. Every other entry in the table `facts` is a fact. */
export const USERS = "users";
export const PLACES = "places";
/** The counter of the highest revision that a user had who is gone, and that of the projects that are shared. */
export const REVISIONS = "revisions";
export const PROJECT_REVISIONS = "project revisions";

export const counterName = (keyId: string, period: string) => `${keyId}\0${period}`;

export const counterKey = (keyId: string, period: string) => Buffer.from(counterName(keyId, period));

const DAY_MS = 24 * 3600 * 1000;

/** Idempotency records lie by the day on which they expire: four bytes, big-endian, then the API key and the given key. */
export function idempotencyKey(day: number, keyId: string, key: string): Buffer {
  assert(keyId.length > 0 && key.length > 0, "an idempotency record has the API key and the given key");
  return Buffer.concat([dayPrefix(day), Buffer.from(`${keyId}\0${key}`)]);
}

/**
 * What a request was answered. It lies at the end of its user's history, where its write has changed the page anyway, and
 * goes with it. The byte before the key of the idempotency record is in no text, so no place begins with it.
 */
export function answerKey(account: string, userId: string, record: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${account}\0${userId}\0`), ANSWER_MARK, record]);
}

export function answersOf(account: string, userId: string): { start: Buffer; end: Buffer } {
  const { start, end } = rangeBelow(userKey(account, userId));
  return { start: Buffer.concat([start, ANSWER_MARK]), end };
}

const ANSWER = 0xff;
const ANSWER_MARK = Buffer.of(ANSWER);

/** The day until which an answer in the history is kept; undefined for the key of an earlier value. */
export function dayOfAnswer(key: Buffer): number | undefined {
  const at = key.indexOf(ANSWER);
  // The ordinal of an earlier value may have such a byte, behind the third zero.
  const isAnswer = at >= 0 && key.subarray(0, at).filter((byte) => byte === 0).length === 2;
  return isAnswer ? key.readUInt32BE(at + 1) : undefined;
}

export const expiryDayOf = (ms: number) => Math.floor(ms / DAY_MS);

export function dayPrefix(day: number): Buffer {
  assertInteger(day, 0, 2 ** 32 - 1, "the day of expiry");
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(day);
  return prefix;
}

/** The record of a place: there is no third zero. */
export function isPlaceKey(key: Buffer): boolean {
  return key.indexOf(0, key.indexOf(0, key.indexOf(0) + 1) + 1) < 0;
}
