/** The reads of users' facts. All reads of one call are of one snapshot: nothing else runs between them. */

import { Failure } from "../../base/errors.ts";
import { asExpired, type FactName, isLive } from "../../memory/law/user-memory.ts";
import type { EarlierFact, FactRecord, UserLife, UserState, View } from "../../memory/ports.ts";
import type { Place } from "../../memory/records.ts";
import {
  answersOf,
  factKey,
  HEAD,
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
import { type Environment, FIRST_KEY } from "./environment.ts";
import { stampOf, unpackEarlier, unpackFact, unpackPlace, unpackUser } from "./records.ts";

/** Users that a walk reads at once. */
const PAGE = 256;

export interface LifeOptions {
  readonly nowMs: number;
  readonly place?: Place;
  readonly label?: string;
}

export interface ListOptions {
  readonly prefix: string;
  readonly after: string;
  readonly limit: number;
}

export function readFact(environment: Environment, view: View, label: string): FactRecord | undefined {
  const { account, userId, places, nowMs } = view;
  for (let i = places.length - 1; i >= 0; i--) {
    const fact = factAt(environment, account, userId, { place: places[i], label });
    if (fact !== undefined && isLive(fact, nowMs)) return fact;
  }
  return undefined;
}

function factAt(
  environment: Environment,
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
function factCount(environment: Environment, account: string, userId: string, place: Place): number {
  const key = place === "" ? userKey(account, userId) : placeKey(account, userId, place);
  const bytes = environment.peek("facts", key);
  if (bytes === undefined) return 0;
  return (place === "" ? unpackUser(bytes).own : unpackPlace(bytes)).facts;
}

export function readStamp(environment: Environment, account: string, userId: string): string | undefined {
  const bytes = environment.peek("facts", userKey(account, userId));
  return bytes && stampOf(bytes);
}

export function readUser(environment: Environment, view: View): UserState | undefined {
  const { account, userId, places, nowMs } = view;
  const counting = new Map<string, FactRecord>();
  let nextEndMs: number | null = null;
  for (const place of places) {
    for (const fact of factsOf(environment, account, userId, place)) {
      if (!isLive(fact, nowMs)) continue;
      counting.set(fact.label, fact);
      if (fact.expiresAtMs !== null) nextEndMs = Math.min(fact.expiresAtMs, nextEndMs ?? fact.expiresAtMs);
    }
  }
  if (counting.size === 0) return undefined;
  const stamp = readStamp(environment, account, userId);
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
  for (let next = start; users.length < limit; next = rangeBelow(users[users.length - 1]).end) {
    const [key] = environment.keys("facts", { ...range, start: next, limit: 1 });
    if (key === undefined) break;
    users.push(userOfKey(key));
  }
  return users;
}

/** When the first fact expires, or has; undefined where none does. */
export function nextEndIn(environment: Environment): number | undefined {
  const [key] = environment.keys("ends", { limit: 1 });
  return key && momentOfEndKey(key);
}

/** The facts of one place, expired ones included. */
function factsOf(environment: Environment, account: string, userId: string, place: Place): FactRecord[] {
  const prefix = placeKey(account, userId, place);
  const facts = environment
    .entries("facts", rangeBelow(prefix))
    .map(({ key, value }) => unpackFact(place, labelOfKey(prefix, key), value));
  if (factCount(environment, account, userId, place) !== facts.length) throw incomplete(account, userId);
  return facts;
}

export function readLife(
  environment: Environment,
  account: string,
  userId: string,
  options: LifeOptions,
): UserLife | undefined {
  const user = userKey(account, userId);
  const stamp = readStamp(environment, account, userId);
  if (stamp === undefined) return undefined;
  const isAsked = ({ place, label }: FactName) =>
    place === (options.place ?? place) && label === (options.label ?? label);
  const places =
    options.place === undefined
      ? ["", ...furtherPlaces(environment, "facts", user, rangeBelow(user))]
      : [options.place];
  const stored = places.flatMap((place) => factsOf(environment, account, userId, place)).filter(isAsked);
  const kept = environment
    .entries(
      "history",
      options.place === undefined
        ? historyRange(account, userId)
        : rangeBelow(placeKey(account, userId, options.place)),
    )
    .map(({ key, value }) => ({ ...splitFactKey(key), ordinal: splitHistoryKey(key).ordinal, value }))
    .filter((entry) => entry.ordinal !== HEAD && isAsked(entry))
    .map(({ place, label, ordinal, value }) => unpackEarlier(place, label, ordinal, value));
  const expired = stored.filter((fact) => !isLive(fact, options.nowMs)).map(asExpired);
  return {
    stamp,
    facts: stored.filter((fact) => isLive(fact, options.nowMs)),
    earlier: expired.length === 0 ? kept : [...kept, ...expired].sort(byFactAndOrdinal),
  };
}

/** The places where a user has facts or a history, in the order of their bytes. */
export function listPlaces(environment: Environment, account: string, userId: string): Place[] {
  const user = userKey(account, userId);
  if (readStamp(environment, account, userId) === undefined) return [];
  const places = new Set([
    ...furtherPlaces(environment, "facts", user, rangeBelow(user)),
    ...furtherPlaces(environment, "history", user, historyRange(account, userId)),
  ]);
  return ["", ...[...places].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))];
}

/** The entries of a user in the history, without the answers to idempotent requests. */
function historyRange(account: string, userId: string): { start: Buffer; end: Buffer } {
  return { ...rangeBelow(userKey(account, userId)), end: answersOf(account, userId).start };
}

/** The user's places in a table other than the person's own, in the order of their bytes. */
function furtherPlaces(
  environment: Environment,
  table: "facts" | "history",
  user: Buffer,
  range: { readonly start: Buffer; readonly end: Buffer },
): Place[] {
  const places: Place[] = [];
  for (let { start } = range; ; ) {
    const [key] = environment.keys(table, { ...range, start, limit: 1 });
    if (key === undefined) return places;
    const place = placeOfKey(user, key) ?? "";
    if (place !== "") places.push(place);
    start = Buffer.concat([user, Buffer.from(`\0${place}\u0001`)]);
  }
}

export function listUsers(environment: Environment, account: string, options: ListOptions): string[] {
  const { prefix, after, limit } = options;
  const { end } = rangeBelow(Buffer.from(account));
  const users: string[] = [];
  let start: Buffer = Buffer.from(`${account}\0${prefix}`);
  if (after !== "") {
    const next = rangeBelow(userKey(account, after)).end;
    if (next.compare(start) > 0) start = next;
  }
  while (users.length < limit) {
    const [key] = environment.keys("facts", { start, end, limit: 1 });
    if (key === undefined) break;
    const user = userOfKey(key);
    const { userId } = splitUserKey(user);
    if (!userId.startsWith(prefix)) break;
    users.push(userId);
    start = rangeBelow(user).end;
  }
  return users;
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
    if (users.length < PAGE) return;
    start = rangeBelow(users[PAGE - 1]).end;
  }
}

function byFactAndOrdinal(a: EarlierFact, b: EarlierFact): number {
  return (
    Buffer.compare(Buffer.from(a.place), Buffer.from(b.place)) ||
    Number(a.label > b.label) - Number(a.label < b.label) ||
    a.ordinal - b.ordinal
  );
}

function incomplete(account: string, userId: string): Failure {
  const cause = new Error(
    `the records of user ${JSON.stringify(userId)} of ${account} do not belong together`,
  );
  return new Failure("store_corrupt", "A stored record is missing or damaged.", { cause });
}
