/**
 * Export and import: one JSON object a line, a line for each key, label, user and request for a key. Keys travel as
 * their hashes, so that they go on working where they are imported, with what they have used. Secrets of the service, and records of Idempotency-Key, do not travel.
 *
 * A file may be anybody's: keys, requests for keys, settings of labels, and accounts that are not there come in
 * only with `withKeys`.
 */

import { setImmediate } from "node:timers/promises";
import { ACCOUNT_DEFAULT } from "../base/accounts.ts";
import { Failure } from "../base/errors.ts";
import { FairTurns } from "../base/fair-turns.ts";
import { inSlices } from "../base/slices.ts";
import type { AtStep } from "../base/steps.ts";
import { DEMO_ACCOUNT } from "./demo.ts";
import {
  type AccountLine,
  atLine,
  checkLine,
  type ExportLine,
  type NumberedLine,
  numberedLines,
  parseLine,
} from "./export-lines.ts";
import {
  ALL_DAYS,
  type Imported,
  importAccount,
  importKey,
  importLabel,
  importProject,
  importRequest,
  isSetting,
  type NotTaken,
} from "./import-settings.ts";
import { Labels } from "./labels.ts";
import type { EarlierFact, FactRecord, Store, UserLife } from "./ports.ts";
import type { FreeLabel, KeyRecord } from "./records.ts";
import { allFreeLabels } from "./shared-reads.ts";
import {
  checkUserLine,
  importUserLine,
  type UserLine,
  userLine,
  userLineOf,
  writtenLine,
} from "./user-lines.ts";

interface ImportReport {
  /** That were read. */
  lines: number;
  facts: number;
  keys: number;
  requests: number;
  readonly leftOut: string[];
  readonly labelsAdded: string[];
  readonly notTaken: NotTaken;
}

interface LineImportOptions {
  readonly nowMs: number;
  /** Takes keys, requests for keys, settings and new accounts, too. */
  readonly withKeys?: boolean | undefined;
}

export interface ExportOptions {
  readonly nowMs: number;
  /** Only this account, which has no requests for keys. */
  readonly account?: string | undefined;
  /** Only this user of the account, without keys. */
  readonly userId?: string | undefined;
  /** Lets others have the event loop. */
  readonly turn?: () => Promise<unknown>;
}

/** Everything that is asked for. What changes meanwhile is in it or not; each user, or each place of a single one, is of one state. */
export async function* exportLines(store: Store, options: ExportOptions): AsyncGenerator<ExportLine> {
  const { nowMs, account, userId, turn = () => setImmediate() } = options;
  if (userId === undefined) {
    for (const key of await store.listKeys(account))
      yield { kind: "key", key, usage: await store.readDailyUsage(key.id, ...ALL_DAYS) };
  }
  const accounts = new Set(account === undefined ? await accountsWithKeys(store) : [account]);
  for (const name of accounts) yield* accountLines(store, name, userId === undefined);
  const labels = new Labels(store);
  if (account !== undefined && userId !== undefined) {
    yield* linesOf(livesAt(store, account, userId, { nowMs, turn }), {
      store,
      account,
      userId,
      labels,
      turn,
    });
    return;
  }
  for await (const user of store.walkUsers(account)) {
    // The demo's account cannot be imported, and is nobody's.
    if (user.account === DEMO_ACCOUNT) continue;
    // Of a data folder that is used without keys.
    if (!accounts.has(user.account)) yield* accountLines(store, user.account, true);
    accounts.add(user.account);
    const life = await store.readLife(user.account, user.userId, { nowMs });
    if (life === undefined) continue;
    const listed = { store, ...user, labels, turn };
    for await (const line of linesOf(partsBy("place", life), listed)) yield writtenLine(line);
  }
  if (account === undefined)
    for (const request of await store.listKeyRequests()) yield { kind: "request", request };
}

/** Those that have, or had, a key, and the one of every data folder. */
export async function accountsWithKeys(store: Store): Promise<Set<string>> {
  const named = (await store.listAccounts()).map((record) => record.account);
  return new Set([...named, ACCOUNT_DEFAULT]);
}

/** Nothing where the account has settled nothing. */
async function* settingsLines(store: Store, account: string): AsyncGenerator<AccountLine> {
  const monthlyLimit = (await store.readAccount(account))?.monthlyLimit;
  const settings = {
    ...((await store.readStrict(account)) ? ({ strict: true } as const) : {}),
    ...(monthlyLimit === undefined ? {} : { monthlyLimit }),
  };
  if (Object.keys(settings).length > 0) yield { kind: "account", account, ...settings };
}

/** What an account has settled: its limit, its labels, and whether there are no others. A user's export has the labels alone. */
async function* accountLines(store: Store, account: string, isWhole: boolean): AsyncGenerator<ExportLine> {
  if (isWhole) yield* settingsLines(store, account);
  if (isWhole)
    for (const project of await store.readProjects(account)) yield { kind: "project", account, project };
  for (const record of await store.readLabels(account)) {
    // Who added a label is the account's affair, not a user's.
    const { createdBy: _by, createdKey: _key, ...terms } = record;
    // With a whole account, also those that were removed: all others keep their channels, and blocks their meaning.
    if (isWhole || record.removed !== true) yield { kind: "label", account, label: isWhole ? record : terms };
  }
}

/** About the length of a user's line from which on there is a further one: it is made, and read, in one go. */
const LINE_LENGTH = 32 * 1024;
/** What a value takes in a line beside its text. */
const VALUE_EXTRA_LENGTH = 200;

type Life = Pick<UserLife, "facts" | "earlier">;

interface LifePart {
  readonly facts: FactRecord[];
  readonly earlier: EarlierFact[];
}

/** The lines of a user: one, or several, in which each label at a place is whole. */
async function* linesOf(
  lives: AsyncIterable<Life> | Iterable<Life>,
  { store, account, userId, labels, turn }: ListedLines,
): AsyncGenerator<UserLine> {
  let part: LifePart = { facts: [], earlier: [] };
  let length = 0;
  const known = await labels.of(account);
  let free: ReadonlyMap<string, FreeLabel> | undefined;
  const lineOf = async ({ facts, earlier }: Life) => {
    if ([...facts, ...earlier].some(({ label }) => known.find(label) === undefined))
      free ??= await allFreeLabels(store, { account, userId }, turn);
    return userLine(account, userId, { facts, earlier }, labels, free);
  };
  for await (const life of lives) {
    for (const { facts, earlier } of partsBy("label", life)) {
      part.facts.push(...facts);
      part.earlier.push(...earlier);
      for (const { value } of [...facts, ...earlier]) length += value.length + VALUE_EXTRA_LENGTH;
      if (length < LINE_LENGTH) continue;
      await turn();
      yield await lineOf(part);
      [part, length] = [{ facts: [], earlier: [] }, 0];
    }
  }
  if (part.facts.length + part.earlier.length > 0) yield await lineOf(part);
}

interface ListedLines {
  readonly store: Store;
  readonly account: string;
  readonly userId: string;
  readonly labels: Labels;
  readonly turn: () => Promise<unknown>;
}

/**
 * One user, place by place, so that a large one is never in memory as a whole. Fails where a place was moved or forgotten
 * meanwhile: what was moved might be missing.
 */
async function* livesAt(
  store: Store,
  account: string,
  userId: string,
  { nowMs, turn }: { readonly nowMs: number; readonly turn: () => Promise<unknown> },
): AsyncGenerator<Life> {
  const places = await store.listPlaces(account, userId);
  for (const place of places) {
    await turn();
    const life = await store.readLife(account, userId, { nowMs, place });
    if (life !== undefined) yield life;
  }
  const present = new Set(places.length > 1 ? await store.listPlaces(account, userId) : places);
  if (!places.every((place) => present.has(place)))
    throw new Failure("overloaded", "A project of this user was moved or forgotten meanwhile.", {
      retryAfterS: 1,
    });
}

/** A life in parts: each place of it, or each label of a place. */
function partsBy(field: "place" | "label", { facts, earlier }: Life): Iterable<LifePart> {
  const parts = new Map<string, LifePart>();
  const of = (name: string) => {
    const known = parts.get(name) ?? { facts: [], earlier: [] };
    parts.set(name, known);
    return known;
  };
  for (const fact of facts) of(fact[field]).facts.push(fact);
  for (const fact of earlier) of(fact[field]).earlier.push(fact);
  return parts.values();
}

/** A longer line is read when it is its turn: the lines of a group are worked on at the same time. */
const SHORT_LENGTH = 4 * 1024;

/**
 * Writes lines into the store, one at a call. A key or a request that is known already stays as it is; a key whose id
 * another key has, and a request that breaks today's rules, are left out.
 */
export function lineImporter(
  store: Store,
  { nowMs, withKeys = false }: LineImportOptions,
): (text: string) => Promise<Imported> {
  const labels = new Labels(store);
  const isThere = accountsThere(store);
  const turns = new FairTurns();
  const turn = () => turns.next("");
  /** Labels are added one after the other, and before the users that come after them. */
  let labelled: Promise<Imported> = Promise.resolve({});
  /** An account is there when its keys are. */
  let keyed: Promise<unknown> = Promise.resolve();
  return async (text) => {
    if (text.length > SHORT_LENGTH) await turn();
    const line = parseLine(text);
    const notTaken = withKeys ? undefined : await kindNotTaken(line, isThere);
    if (notTaken !== undefined) return { notTaken };
    checkLine(line);
    if (line.kind === "key") {
      const imported = importKey(store, line.key, line.usage ?? []);
      keyed = Promise.allSettled([keyed, imported]);
      return imported;
    }
    if (line.kind === "label") {
      labelled = labelled.then(async () => importLabel(store, line, await labels.of(line.account)));
      return labelled;
    }
    if (line.kind === "account") {
      await keyed;
      return importAccount(store, line, nowMs);
    }
    if (line.kind === "project") return importProject(store, line);
    if (line.kind === "user" || line.kind === "shared") {
      await labelled;
      const known = await labels.of(line.account);
      const ofUser = userLineOf(line);
      await inSlices(checkUserLine(ofUser, known, !withKeys && known.isStrict), turn);
      return { facts: await importUserLine(store, ofUser, { labels: known, nowMs, turn }) };
    }
    return importRequest(store, line.request);
  };
}

/** What a line counts as where keys, settings and new accounts are not wanted; undefined where it comes in all the same. */
async function kindNotTaken(
  line: ExportLine,
  isThere: (account: string) => Promise<boolean>,
): Promise<keyof NotTaken | undefined> {
  if (line.kind === "key") return "keys";
  if (line.kind === "request") return "requests";
  checkLine(line);
  if (isSetting(line)) return "settings";
  if (await isThere(line.account)) return undefined;
  return line.kind === "label" ? "settings" : "users";
}

/** Whether an account has, or had, a key, or has facts. The default one is in every data folder. */
function accountsThere(store: Store): (account: string) => Promise<boolean> {
  let withKey: Promise<Set<string>> | undefined;
  const asked = new Map<string, Promise<boolean>>();
  const look = async (account: string) => {
    withKey ??= accountsWithKeys(store);
    if ((await withKey).has(account)) return true;
    for await (const _user of store.walkUsers(account)) return true;
    return false;
  };
  return (account) => {
    const found = asked.get(account) ?? look(account);
    asked.set(account, found);
    return found;
  };
}

/** Writes all lines into the store, group by group. Throws at the first that cannot be imported, with its number. */
export async function importLines(
  store: Store,
  lines: AsyncIterable<string>,
  options: LineImportOptions & { readonly atStep: AtStep },
): Promise<ImportReport> {
  const notTaken: NotTaken = { keys: 0, requests: 0, settings: 0, users: 0 };
  const report: ImportReport = {
    lines: 0,
    facts: 0,
    keys: 0,
    requests: 0,
    leftOut: [],
    labelsAdded: [],
    notTaken,
  };
  const importLine = lineImporter(store, options);
  const importOne = (line: NumberedLine) =>
    atLine(line, async () => {
      const imported = await importLine(line.text);
      for (const kind of ["facts", "keys", "requests"] as const) report[kind] += imported[kind] ?? 0;
      if (imported.labelAdded !== undefined) report.labelsAdded.push(imported.labelAdded);
      if (imported.leftOut !== undefined) report.leftOut.push(`line ${line.number}: ${imported.leftOut}`);
      if (imported.notTaken !== undefined) notTaken[imported.notTaken] += 1;
    });
  const numbered = numberedLines(lines, (count) => {
    report.lines = count;
  });
  await inBatches(numbered, importOne, {
    groupDone: () => options.atStep("import: page written"),
    lengthOf: ({ text }) => text.length,
  });
  return report;
}

/** What a file brings along besides facts. */
export interface ExportedKeys {
  readonly keys: KeyRecord[];
  /** All that its lines name. */
  readonly accounts: Set<string>;
  requests: number;
  settings: number;
}

/** What of an export comes in only with its keys, each by the rules of its fields. Throws at the first that breaks one. */
export async function keysOfExport(lines: AsyncIterable<string>): Promise<ExportedKeys> {
  const found: ExportedKeys = { keys: [], accounts: new Set(), requests: 0, settings: 0 };
  for await (const numbered of numberedLines(lines)) {
    await atLine(numbered, async () => {
      const line = parseLine(numbered.text);
      checkLine(line);
      if (line.kind === "key") found.keys.push(line.key);
      else if (isSetting(line)) found.settings += 1;
      if (line.kind === "request") found.requests += 1;
      else found.accounts.add(line.kind === "key" ? line.key.account : line.account);
    });
  }
  return found;
}

/** Items that are worked on at the same time, so that they share commits, and their length together. */
const GROUP_SIZE = 256;
const GROUP_LENGTH = 512 * 1024;

interface GroupOptions<T> {
  readonly groupDone?: () => void;
  readonly lengthOf?: (item: T) => number;
}

/**
 * Works on all items, group by group. Each group is complete before its work begins: a failure while the next item is
 * waited for would be handled by nobody. Throws the failure of the first item of a group, when the whole group has ended.
 */
export async function inBatches<T>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<void>,
  { groupDone = () => {}, lengthOf = () => 0 }: GroupOptions<T> = {},
): Promise<void> {
  let group: T[] = [];
  let length = 0;
  const workOnGroup = async () => {
    const results = await Promise.allSettled(group.map(work));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    group = [];
    length = 0;
    groupDone();
  };
  for await (const item of items) {
    length += lengthOf(item);
    if (group.push(item) >= GROUP_SIZE || length >= GROUP_LENGTH) await workOnGroup();
  }
  await workOnGroup();
}
