/**
 * Export and import: one JSON object a line, a line for each key, label, user and request for a key. Keys travel as
 * their hashes, so that they go on working where they are imported, with what they have used. Secrets of the service, and records of Idempotency-Key, do not travel.
 */

import { momentOf } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { CHANNEL_COUNT, TIME_MS_MAX } from "../base/limits.ts";
import type { AtStep } from "../base/steps.ts";
import { TIERS } from "../base/tiers.ts";
import { DEMO_ACCOUNT } from "./demo.ts";
import { checkAccount, checkIdentifier, requestTextsFault } from "./identifiers.ts";
import { checkLabelRecord } from "./label-terms.ts";
import { type AccountLabels, Labels } from "./labels.ts";
import type { EarlierFact, FactRecord, KeyRecord, KeyRequest, LabelRecord, Store } from "./ports.ts";
import {
  checkUserLine,
  checkUserName,
  importUserLine,
  type UserLine,
  userLine,
  wrong,
} from "./user-lines.ts";

export type ExportLine =
  | { readonly kind: "key"; readonly key: KeyRecord; readonly usage?: readonly DayUsage[] }
  | LabelLine
  | UserLine
  | { readonly kind: "request"; readonly request: KeyRequest };

/** A label of an account's own, or what it has changed of a standard one. Channels are given anew where it is imported. */
interface LabelLine {
  readonly kind: "label";
  readonly account: string;
  readonly label: LabelRecord;
}

interface DayUsage {
  readonly day: string;
  readonly count: number;
}

/** What an import of a line has done. */
interface Imported {
  readonly facts: number;
  readonly leftOut?: string;
  /** A label that its account did not have. */
  readonly labelAdded?: string;
}

export const ALL_DAYS = ["0000-01-01", "9999-12-31"] as const;

export interface ExportOptions {
  readonly nowMs: number;
  /** Only this account, which has no requests for keys. */
  readonly account?: string | undefined;
  /** Only this user of the account, without keys. */
  readonly userId?: string | undefined;
}

/** Everything that is asked for. What changes meanwhile is in it or not; each user, or each place of a single one, is whole. */
export async function* exportLines(store: Store, options: ExportOptions): AsyncGenerator<ExportLine> {
  const { nowMs, account, userId } = options;
  if (userId === undefined) {
    for (const key of await store.listKeys(account))
      yield { kind: "key", key, usage: await store.readDailyUsage(key.id, ...ALL_DAYS) };
  }
  const accounts =
    account === undefined ? (await store.listAccounts()).map((record) => record.account) : [account];
  // With a whole account, also those that were removed: all others keep their channels, and blocks their meaning.
  for (const name of accounts)
    for (const label of await store.readLabels(name))
      if (userId === undefined || label.removed !== true) yield { kind: "label", account: name, label };
  const labels = new Labels(store);
  if (account !== undefined && userId !== undefined) {
    yield* userLines(store, account, userId, { nowMs, labels: await labels.of(account) });
    return;
  }
  for await (const user of store.walkUsers(account)) {
    // The demo's account cannot be imported, and is nobody's.
    if (user.account === DEMO_ACCOUNT) continue;
    const life = await store.readLife(user.account, user.userId, { nowMs });
    if (life !== undefined && life.facts.length + life.earlier.length > 0)
      yield userLine(user.account, user.userId, life, await labels.of(user.account));
  }
  // Last: a release that does not know them has everything else by then.
  if (account === undefined)
    for (const request of await store.listKeyRequests()) yield { kind: "request", request };
}

/** About the length of a user's line from which on there is a further one. */
const LINE_LENGTH = 512 * 1024;
/** What a value takes in a line beside its text. */
const VALUE_EXTRA_LENGTH = 200;

/**
 * One user, place by place, so that a large one is never in memory as a whole: in one line, or in several of half a
 * megabyte. Each place is whole. The export fails where one was moved or forgotten meanwhile: what was moved might be
 * missing.
 */
async function* userLines(
  store: Store,
  account: string,
  userId: string,
  { nowMs, labels }: { readonly nowMs: number; readonly labels: AccountLabels },
): AsyncGenerator<UserLine> {
  const places = await store.listPlaces(account, userId);
  let facts: FactRecord[] = [];
  let earlier: EarlierFact[] = [];
  let length = 0;
  const line = () => userLine(account, userId, { facts, earlier }, labels);
  for (const place of places) {
    const life = await store.readLife(account, userId, { nowMs, place });
    for (const fact of life?.facts ?? []) facts.push(fact);
    for (const fact of life?.earlier ?? []) earlier.push(fact);
    for (const { value } of [...(life?.facts ?? []), ...(life?.earlier ?? [])])
      length += value.length + VALUE_EXTRA_LENGTH;
    if (length < LINE_LENGTH) continue;
    yield line();
    [facts, earlier, length] = [[], [], 0];
  }
  const present = new Set(places.length > 1 ? await store.listPlaces(account, userId) : places);
  if (!places.every((place) => present.has(place)))
    throw new Failure("overloaded", "A project of this user was moved or forgotten meanwhile.", {
      retryAfterS: 1,
    });
  if (facts.length + earlier.length > 0) yield line();
}

/**
 * Writes lines into the store, one at a call. A key or a request that is known already stays as it is; a key whose id
 * another key has, and a request that breaks today's rules, are left out.
 */
export function lineImport(store: Store, nowMs: number): (text: string) => Promise<Imported> {
  let requestIds: Promise<Set<string>> | undefined;
  const labels = new Labels(store);
  /** Labels are added one after the other, and before the users that come after them. */
  let labelled: Promise<Imported> = Promise.resolve({ facts: 0 });
  return async (text) => {
    const line = parse(text);
    if (line.kind === "key") return importKey(store, line.key, line.usage ?? []);
    if (line.kind === "label") {
      labelled = labelled.then(async () => importLabel(store, line, await labels.of(line.account)));
      return labelled;
    }
    if (line.kind === "user") {
      await labelled;
      const known = await labels.of(line.account);
      checkUserLine(line, known);
      return { facts: await importUserLine(store, line, known, nowMs) };
    }
    requestIds ??= store.listKeyRequests().then((requests) => new Set(requests.map(({ id }) => id)));
    return importRequest(store, line.request, await requestIds);
  };
}

async function importKey(store: Store, line: KeyRecord, usage: readonly DayUsage[]): Promise<Imported> {
  // An older release had no bound keys.
  const key = { ...line, user: line.user ?? null, access: line.access ?? "write" };
  const { id, hash, account } = key;
  const outcome = await store.addKey(key);
  const known = outcome === "added" ? key : await store.findKey(hash);
  if (known === undefined)
    return { facts: 0, leftOut: `the key ${id} of account ${account}: another key has this id` };
  // Only what is missing: an import may be repeated.
  const counts = new Map(
    (await store.readDailyUsage(known.id, ...ALL_DAYS)).map(({ day, count }) => [day, count]),
  );
  const missing = usage.map(({ day, count }) => ({ day, count: count - (counts.get(day) ?? 0) }));
  const added = missing.filter(({ count }) => count > 0);
  if (added.length > 0) await store.addUsage(known, added);
  return { facts: 0 };
}

/** A label that the account has already stays as it is. */
async function importLabel(
  store: Store,
  { account, label }: LabelLine,
  known: AccountLabels,
): Promise<Imported> {
  const found = known.find(label.label);
  if (label.channel < CHANNEL_COUNT) {
    if (found?.channel === label.channel) await store.changeLabel(account, label, { hidden: label.hidden });
    return { facts: 0 };
  }
  if (found !== undefined) return { facts: 0 };
  const { channel: _, ...terms } = label;
  const { outcome } = await store.addLabel(account, terms);
  const refusal = {
    full: "the account has no free one",
    text_full: "the account's labels would be too long",
  };
  if (outcome === "full" || outcome === "text_full")
    return { facts: 0, leftOut: `the label ${label.label} of account ${account}: ${refusal[outcome]}` };
  const isAdded = outcome === "added" && label.removed !== true;
  return isAdded ? { facts: 0, labelAdded: label.label } : { facts: 0 };
}

/** An older release took texts into requests that PostgreSQL cannot hold, or that mislead the operator. */
async function importRequest(store: Store, request: KeyRequest, known: Set<string>): Promise<Imported> {
  const found = requestTextsFault(request);
  if (found !== undefined)
    return { facts: 0, leftOut: `the request ${request.id} for a key: ${found.param} ${found.fault}` };
  const isNew = !known.has(request.id);
  known.add(request.id);
  if (isNew) await store.addKeyRequest(request);
  return { facts: 0 };
}

/** Writes all lines into the store, group by group. Throws at the first that cannot be imported, with its number. */
export async function importLines(
  store: Store,
  lines: AsyncIterable<string>,
  options: { nowMs: number; atStep: AtStep },
): Promise<{ lines: number; facts: number; leftOut: string[]; labelsAdded: string[] }> {
  let count = 0;
  let facts = 0;
  const leftOut: string[] = [];
  const labelsAdded: string[] = [];
  const importLine = lineImport(store, options.nowMs);
  const numbered = async function* () {
    for await (const text of lines) {
      count += 1;
      if (text.trim() !== "") yield { text, number: count };
    }
  };
  const importOne = async ({ text, number }: { text: string; number: number }) => {
    try {
      const imported = await importLine(text);
      facts += imported.facts;
      if (imported.labelAdded !== undefined) labelsAdded.push(imported.labelAdded);
      if (imported.leftOut !== undefined) leftOut.push(`line ${number}: ${imported.leftOut}`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure(error.code, `line ${number}: ${error.message}`, error.extra);
    }
  };
  await inGroups(numbered(), importOne, () => options.atStep("import: page written"));
  return { lines: count, facts, leftOut, labelsAdded };
}

/** Items that are worked on at the same time, so that they share commits. */
const GROUP_SIZE = 256;

/**
 * Works on all items, group by group. Each group is complete before its work begins: a failure while the next item is
 * waited for would be handled by nobody. Throws the failure of the first item of a group, when the whole group has ended.
 */
export async function inGroups<T>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<void>,
  groupDone = () => {},
): Promise<void> {
  let group: T[] = [];
  const workOnGroup = async () => {
    const results = await Promise.allSettled(group.map(work));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    group = [];
    groupDone();
  };
  for await (const item of items) if (group.push(item) >= GROUP_SIZE) await workOnGroup();
  await workOnGroup();
}

function parse(text: string): ExportLine {
  let line: ExportLine;
  try {
    line = JSON.parse(text);
  } catch {
    throw wrong("it is not JSON");
  }
  if (line?.kind === "key") checkKeyLine(line);
  else if (line?.kind === "label") checkLabelLine(line);
  else if (line?.kind === "user") checkUserName(line);
  else if (line?.kind === "request") checkRequestLine(line);
  else throw wrong("it is neither a key, a label, a user nor a request for a key");
  return line;
}

function checkKeyLine({ key, usage = [] }: Extract<ExportLine, { kind: "key" }>): void {
  const { id, hash, account, tier, prefix, note, user = null, access = "write" } = key ?? {};
  if (typeof account !== "string") throw wrong("the account must be a text");
  checkAccount(account);
  if (!/^[0-9a-f]{64}$/.test(String(hash)) || !isId(id)) throw wrong("the key has no hash or id");
  if (!TIERS.includes(tier) || typeof prefix !== "string") throw wrong("the key has no tier or prefix");
  const { createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs } = key;
  if (typeof note !== "string") throw wrong("the key has no note or times");
  if (user !== null) checkIdentifier(String(user), "user_id");
  if (!["read", "write"].includes(access)) throw wrong("the key's access is neither read nor write");
  checkTimes("the key", createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs);
  const isSound = ({ day, count }: Partial<DayUsage>) =>
    /^[\d-]{10}$/.test(String(day)) &&
    momentOf(day!) !== undefined &&
    Number.isSafeInteger(count) &&
    // 0 is sound: a rollback that only forgets is counted so.
    count! >= 0;
  if (!Array.isArray(usage) || !usage.every((use) => isSound(use ?? {})))
    throw wrong("the usage has no day or count");
}

function checkLabelLine({ account, label }: LabelLine): void {
  if (typeof account !== "string") throw wrong("the account must be a text");
  checkAccount(account);
  checkLabelRecord(label);
}

function checkRequestLine({ request }: Extract<ExportLine, { kind: "request" }>): void {
  const { id, name, email, purpose, tier, status, createdAtMs, decidedAtMs, keyId } = request ?? {};
  if (![name, email, purpose].every((text) => typeof text === "string") || !isId(id))
    throw wrong("the request has no id, name, email or purpose");
  if (!TIERS.includes(tier) || !["open", "approved", "declined"].includes(status))
    throw wrong("the request has no tier or status");
  if (keyId !== null && !isId(keyId)) throw wrong("the request has no key_id");
  checkTimes("the request", createdAtMs, decidedAtMs);
}

function checkTimes(what: string, createdAtMs: number, ...others: (number | null)[]): void {
  const times = [createdAtMs, ...others.filter((time) => time !== null)];
  if (!times.every(Number.isInteger)) throw wrong(`${what} has no note or times`);
  if (times.some((time) => time < 0 || time > TIME_MS_MAX))
    throw wrong(`${what} has a time that is not from 0 to ${TIME_MS_MAX}`);
}

function isId(id: unknown): boolean {
  return typeof id === "string" && /^[\w-]{1,64}$/.test(id);
}
