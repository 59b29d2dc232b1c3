/** The reads of users' facts. All reads of one call are of one state: nothing else runs between them, or a Reader sees to it. */

import { elementAt } from "../../base/assert.ts";
import { Failure } from "../../base/errors.ts";
import type { Sliced } from "../../base/slices.ts";
import { asExpired } from "../../memory/law/earlier-values.ts";
import type { FactName } from "../../memory/law/found-user.ts";
import { isLive } from "../../memory/law/user-memory.ts";
import type {
  EarlierFact,
  FactRecord,
  FreeLabelsQuery,
  LifeQuery,
  PlacedVector,
  UserDescription,
  UserLife,
  UserState,
  View,
} from "../../memory/ports.ts";
import type { FreeLabel, Place } from "../../memory/records.ts";
import {
  answersOf,
  factKey,
  freeLabelKey,
  HEAD,
  historyKey,
  isPlaceKey,
  labelOfKey,
  momentOfEndKey,
  placeKey,
  placeOfKey,
  rangeBelow,
  splitFactKey,
  splitHistoryKey,
  splitUserKey,
  userKey,
  userOfKey,
} from "./entry-keys.ts";
import {
  describeKey,
  type Entry,
  type Environment,
  FIRST_KEY,
  isSound,
  pagesFrom,
  type Reader,
  TABLES,
} from "./environment.ts";
import {
  stampOf,
  unpackEarlier,
  unpackFact,
  unpackFreeLabel,
  unpackPlace,
  unpackUser,
  unpackVector,
} from "./records.ts";

/** Users that a walk reads at once. */
const PAGE = 256;
/** No text has this byte. */
const ABOVE_TEXT = Buffer.of(0xff);

interface ListOptions {
  readonly prefix: string;
  readonly after: string;
  readonly limit: number;
}

export function readFact(environment: Environment, view: View, label: string): FactRecord | undefined {
  const { account, userId, places, nowMs } = view;
  for (let i = places.length - 1; i >= 0; i--) {
    const fact = factAt(environment, account, userId, { place: elementAt(places, i), label });
    if (fact !== undefined && isLive(fact, nowMs)) return fact;
  }
  return undefined;
}

function factAt(
  environment: Reader,
  account: string,
  userId: string,
  { place, label }: FactName,
): FactRecord | undefined {
  const bytes = environment.peek("facts", factKey(account, userId, { place, label }));
  if (bytes !== undefined) return unpackFact(place, label, bytes, false);
  // Not there, or lost: then the place has fewer facts than its record says.
  const range = rangeBelow(placeKey(account, userId, place));
  if (environment.count("facts", range) !== factCount(environment, account, userId, place))
    throw incomplete(account, userId);
  return undefined;
}

/** The facts of a place, as its record counts them. A missing one is damage as well: its key may have been changed. */
function factCount(environment: Reader, account: string, userId: string, place: Place): number {
  const key = place === "" ? userKey(account, userId) : placeKey(account, userId, place);
  const bytes = environment.peek("facts", key);
  if (bytes === undefined) return 0;
  return (place === "" ? unpackUser(bytes).own : unpackPlace(bytes)).facts;
}

export function readStamp(environment: Reader, account: string, userId: string): string | undefined {
  const bytes = environment.peek("facts", userKey(account, userId));
  return bytes && stampOf(bytes);
}

/** How many facts a view has at most. */
export function countFacts(reader: Reader, { account, userId, places }: View): number {
  return places.reduce((count, place) => count + factCount(reader, account, userId, place), 0);
}

export function* readUser(reader: Reader, view: View): Sliced<UserState | undefined> {
  const { account, userId, places, nowMs } = view;
  const counting = new Map<string, FactRecord>();
  let nextEndMs: number | null = null;
  for (const place of places) {
    for (const fact of yield* factsOf(reader, account, userId, place)) {
      if (!isLive(fact, nowMs)) continue;
      counting.set(fact.label, fact);
      if (fact.expiresAtMs !== null) nextEndMs = Math.min(fact.expiresAtMs, nextEndMs ?? fact.expiresAtMs);
    }
  }
  if (counting.size === 0) return undefined;
  const stamp = readStamp(reader, account, userId);
  if (stamp === undefined) throw incomplete(account, userId);
  const facts = [...counting.values()];
  if (places.length > 1) facts.sort((a, b) => (a.label < b.label ? -1 : 1));
  return { stamp, facts, nextEndMs };
}

/** The keys of the users in a range of the facts, at most `limit`. */
function readUserKeys(
  environment: Environment,
  { start, limit, ...range }: { readonly start: Buffer; readonly end?: Buffer; readonly limit: number },
): Buffer[] {
  const users: Buffer[] = [];
  for (let next = start; users.length < limit; ) {
    const [key] = environment.keys("facts", { ...range, start: next, limit: 1 });
    if (key === undefined) break;
    const user = userOfKey(key);
    users.push(user);
    next = rangeBelow(user).end;
  }
  return users;
}

/** When the first fact expires, or has; undefined where none does. */
export function nextEndIn(environment: Environment): number | undefined {
  const [key] = environment.keys("ends", { limit: 1 });
  return key && momentOfEndKey(key);
}

/** The facts of one place, expired ones included. */
function* factsOf(reader: Reader, account: string, userId: string, place: Place): Sliced<FactRecord[]> {
  const prefix = placeKey(account, userId, place);
  const facts: FactRecord[] = [];
  for (const page of pagesOf(reader, "facts", rangeBelow(prefix))) {
    yield;
    for (const { key, value } of page) facts.push(unpackFact(place, labelOfKey(prefix, key), value));
  }
  if (factCount(reader, account, userId, place) !== facts.length) throw incomplete(account, userId);
  return facts;
}

/** Those of all facts, expired ones included: whoever asks knows the facts. */
export function* readVectors(reader: Reader, account: string, userId: string): Sliced<PlacedVector[]> {
  const user = userKey(account, userId);
  const vectors: PlacedVector[] = [];
  for (const page of pagesOf(reader, "facts", rangeBelow(user))) {
    yield;
    for (const { key, value } of page) {
      const vector = isPlaceKey(key) ? undefined : unpackVector(value);
      if (vector === undefined) continue;
      const { place, label } = splitFactKey(key);
      vectors.push({ place, label, revision: unpackFact(place, label, value, false).revision, vector });
    }
  }
  return vectors;
}

/** By place, label and ordinal. */
export function* readLife(
  reader: Reader,
  account: string,
  userId: string,
  { nowMs, place, label, isPresent = false }: LifeQuery,
): Sliced<UserLife | undefined> {
  const stamp = readStamp(reader, account, userId);
  if (stamp === undefined) return undefined;
  const life: { facts: FactRecord[]; earlier: EarlierFact[] } = { facts: [], earlier: [] };
  for (const at of place === undefined ? yield* listPlaces(reader, account, userId) : [place]) {
    const stored =
      label === undefined
        ? yield* factsOf(reader, account, userId, at)
        : [factAt(reader, account, userId, { place: at, label })].filter((fact) => fact !== undefined);
    for (const fact of stored) if (isLive(fact, nowMs)) life.facts.push(fact);
    if (isPresent) continue;
    const kept = yield* earlierAt(reader, account, userId, { place: at, label });
    const expired = stored.filter((fact) => !isLive(fact, nowMs)).map(asExpired);
    if (expired.length > 0) kept.push(...expired);
    if (expired.length > 0) kept.sort(byLabelAndOrdinal);
    for (const fact of kept) life.earlier.push(fact);
  }
  return { stamp, ...life };
}

function* earlierAt(
  reader: Reader,
  account: string,
  userId: string,
  { place, label }: { readonly place: Place; readonly label: string | undefined },
): Sliced<EarlierFact[]> {
  const prefix = placeKey(account, userId, place);
  const fact = label === undefined ? undefined : factKey(account, userId, { place, label });
  const range =
    fact === undefined ? rangeBelow(prefix) : { start: historyKey(fact, 1), end: historyKey(fact, HEAD) };
  const earlier: EarlierFact[] = [];
  for (const page of pagesOf(reader, "history", range)) {
    yield;
    for (const { key, value } of page) {
      const { fact, ordinal } = splitHistoryKey(key);
      if (ordinal !== HEAD) earlier.push(unpackEarlier(place, labelOfKey(prefix, fact), ordinal, value));
    }
  }
  return earlier;
}

/** What a list of users shows of one. */
export function* describeUser(
  reader: Reader,
  account: string,
  userId: string,
  nowMs: number,
): Sliced<UserDescription | undefined> {
  if (readStamp(reader, account, userId) === undefined) return undefined;
  const user = userKey(account, userId);
  const facts = new Map<Place, number>();
  let updatedAtMs: number | null = null;
  for (const page of pagesOf(reader, "facts", rangeBelow(user))) {
    yield;
    for (const { key, value } of page) {
      if (isPlaceKey(key)) continue;
      const fact = unpackFact("", "", value, false);
      if (!isLive(fact, nowMs)) continue;
      const place = placeOfKey(user, key) ?? "";
      facts.set(place, (facts.get(place) ?? 0) + 1);
      updatedAtMs = Math.max(updatedAtMs ?? 0, fact.updatedAtMs);
    }
  }
  return { facts, updatedAtMs };
}

/** The labels that a person has made. */
export function readFreeLabels(
  reader: Reader,
  account: string,
  userId: string,
  { prefix, after, limit }: FreeLabelsQuery,
): FreeLabel[] {
  const user = userKey(account, userId);
  const first = freeLabelKey(account, userId, prefix);
  const end = Buffer.concat([first, ABOVE_TEXT]);
  const start = after === undefined ? first : freeLabelKey(account, userId, `${after}\0`);
  return reader
    .entries("free-labels", { start, end, limit })
    .map(({ key, value }) => unpackFreeLabel(labelOfKey(user, key), value));
}

/** Entries that are read in one go. */
const ENTRIES = 64;

function pagesOf(
  reader: Reader,
  table: "facts" | "history",
  { start, end }: { readonly start: Buffer; readonly end: Buffer },
): Generator<Entry[]> {
  return pagesFrom(start, ENTRIES, (page) => reader.entries(table, { ...page, end }));
}

/** The places where a user has facts or a history, in the order of their bytes. */
export function* listPlaces(reader: Reader, account: string, userId: string): Sliced<Place[]> {
  const user = userKey(account, userId);
  if (readStamp(reader, account, userId) === undefined) return [];
  const places = new Set(yield* furtherPlaces(reader, "facts", user, rangeBelow(user)));
  const count = places.size;
  for (const place of yield* furtherPlaces(reader, "history", user, historyRange(account, userId)))
    places.add(place);
  const all = [...places];
  if (places.size > count) all.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return ["", ...all];
}

/** The entries of a user in the history, without the answers to idempotent requests. */
function historyRange(account: string, userId: string): { start: Buffer; end: Buffer } {
  return { ...rangeBelow(userKey(account, userId)), end: answersOf(account, userId).start };
}

/** The user's places in a table other than the person's own, in the order of their bytes. */
function* furtherPlaces(
  reader: Reader,
  table: "facts" | "history",
  user: Buffer,
  range: { readonly start: Buffer; readonly end: Buffer },
): Sliced<Place[]> {
  const places: Place[] = [];
  for (let { start } = range; ; ) {
    yield;
    const [key] = reader.keys(table, { ...range, start, limit: 1 });
    if (key === undefined) return places;
    const place = placeOfKey(user, key) ?? "";
    if (place !== "") places.push(place);
    start = Buffer.concat([user, Buffer.from(`\0${place}\u0001`)]);
  }
}

export function listUsers(environment: Environment, account: string, options: ListOptions): string[] {
  const { prefix, after, limit } = options;
  const first = Buffer.from(`${account}\0${prefix}`);
  const next = after === "" ? first : rangeBelow(userKey(account, after)).end;
  const start = next.compare(first) > 0 ? next : first;
  const end = Buffer.concat([first, ABOVE_TEXT]);
  return readUserKeys(environment, { start, end, limit }).map((key) => splitUserKey(key).userId);
}

/** Each page is read from a fresh snapshot: one long snapshot would keep lmdb from reusing old pages. */
export async function* walkUsers(
  readable: () => Environment,
  account?: string,
): AsyncGenerator<{ account: string; userId: string }> {
  const range = account === undefined ? { start: FIRST_KEY } : rangeBelow(Buffer.from(account));
  for (let start = range.start; ; ) {
    const users = readUserKeys(readable(), { ...range, start, limit: PAGE });
    for (const user of users) yield splitUserKey(user);
    const last = users.at(-1);
    if (last === undefined || users.length < PAGE) return;
    start = rangeBelow(last).end;
  }
}

/** Records that fail their checksum, in all tables. */
export async function* findDamage(readable: () => Environment): AsyncGenerator<string> {
  for (const table of TABLES) {
    for (const page of pagesFrom(FIRST_KEY, PAGE, (range) => readable().records(table, range))) {
      for (const { key, value } of page) {
        if (!isSound(table, key, value)) yield `${table} ${describeKey(key)}`;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

function byLabelAndOrdinal(a: EarlierFact, b: EarlierFact): number {
  return Number(a.label > b.label) - Number(a.label < b.label) || a.ordinal - b.ordinal;
}

function incomplete(account: string, userId: string): Failure {
  const cause = new Error(
    `the records of user ${JSON.stringify(userId)} of ${account} do not belong together`,
  );
  return new Failure("store_corrupt", "A stored record is missing or damaged.", { cause });
}
