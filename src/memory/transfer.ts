/**
 * Export and import: one JSON object a line, a line for each key, each user and each request for a key. A user's facts
 * have the form of GET /facts; keys travel as their hashes, so that they go on working where they are imported, with
 * what they have used. Secrets of the service, and records of Idempotency-Key, do not travel.
 */

import { assert } from "../base/assert.ts";
import { momentOf } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { CHANNEL_COUNT, TIME_MS_MAX } from "../base/limits.ts";
import type { AtStep } from "../base/steps.ts";
import { TIERS } from "../base/tiers.ts";
import { DEMO_ACCOUNT } from "./demo.ts";
import { checkAccount, checkIdentifier, checkValue, requestTextsFault } from "./identifiers.ts";
import { channelOf, labelOf } from "./labels.ts";
import type { KeyRecord, KeyRequest, Store } from "./ports.ts";

export interface ExportedFact {
  readonly label: string;
  readonly value: string;
  readonly channel: number;
  readonly revision: number;
  readonly updated_at: string;
}

type UserLine = Extract<ExportLine, { kind: "user" }>;

export type ExportLine =
  | { readonly kind: "key"; readonly key: KeyRecord; readonly usage?: readonly DayUsage[] }
  | {
      readonly kind: "user";
      readonly account: string;
      readonly user_id: string;
      readonly facts: readonly ExportedFact[];
    }
  | { readonly kind: "request"; readonly request: KeyRequest };

interface DayUsage {
  readonly day: string;
  readonly count: number;
}

/** What an import of a line has done. */
interface Imported {
  readonly facts: number;
  readonly leftOut?: string;
}

export const ALL_DAYS = ["0000-01-01", "9999-12-31"] as const;

/**
 * Exports everything, or one account. Requests for keys belong to no account. A change during the export may be in it
 * or not, but each user is exported as one state.
 */
export async function* exportLines(store: Store, account?: string): AsyncGenerator<ExportLine> {
  for (const key of await store.listKeys(account))
    yield { kind: "key", key, usage: await store.readDailyUsage(key.id, ...ALL_DAYS) };
  for await (const user of store.walkUsers(account)) {
    // The demo's account cannot be imported, and belongs to nobody.
    if (user.account === DEMO_ACCOUNT) continue;
    const state = await store.readUser(user.account, user.userId);
    if (state === undefined) continue;
    const facts = state.facts.map(({ channel, value, revision, updatedAtMs }) => ({
      label: labelOf(channel),
      value,
      channel,
      revision,
      updated_at: new Date(updatedAtMs).toISOString(),
    }));
    yield { kind: "user", account: user.account, user_id: user.userId, facts };
  }
  // Last: a release that does not know them has everything else by then.
  if (account === undefined)
    for (const request of await store.listKeyRequests()) yield { kind: "request", request };
}

/**
 * Writes lines into the store, one at a call. A key or a request that is known already stays as it is; a key whose id
 * another key has, and a request that breaks today's rules, are left out.
 */
export function lineImport(store: Store, nowMs: number): (text: string) => Promise<Imported> {
  let requestIds: Promise<Set<string>> | undefined;
  return async (text) => {
    const line = parse(text);
    if (line.kind === "key") return importKey(store, line.key, line.usage ?? []);
    if (line.kind === "user") return importUser(store, line, nowMs);
    requestIds ??= store.listKeyRequests().then((requests) => new Set(requests.map(({ id }) => id)));
    return importRequest(store, line.request, await requestIds);
  };
}

async function importKey(store: Store, key: KeyRecord, usage: readonly DayUsage[]): Promise<Imported> {
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

async function importUser(store: Store, line: UserLine, nowMs: number): Promise<Imported> {
  if (line.facts.length === 0) return { facts: 0 };
  // In the order in which they were written: what does not fit a block later is still the oldest.
  const facts = [...line.facts].sort((a, b) => a.revision - b.revision);
  const { outcome } = await store.write({
    account: line.account,
    userId: line.user_id,
    nowMs,
    facts: facts.map(({ label, value, updated_at }) => ({
      channel: channelOf(label),
      value,
      updatedAtMs: Date.parse(updated_at),
    })),
  });
  assert(outcome === "stored", "an import has no limit and no Idempotency-Key");
  return { facts: facts.length };
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
): Promise<{ lines: number; facts: number; leftOut: string[] }> {
  let count = 0;
  let facts = 0;
  const leftOut: string[] = [];
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
      if (imported.leftOut !== undefined) leftOut.push(`line ${number}: ${imported.leftOut}`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure(error.code, `line ${number}: ${error.message}`, error.extra);
    }
  };
  await inGroups(numbered(), importOne, () => options.atStep("import: page written"));
  return { lines: count, facts, leftOut };
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
  else if (line?.kind === "user") checkUserLine(line);
  else if (line?.kind === "request") checkRequestLine(line);
  else throw wrong("it is neither a key, a user nor a request for a key");
  return line;
}

function checkKeyLine({ key, usage = [] }: Extract<ExportLine, { kind: "key" }>): void {
  const { id, hash, account, tier, prefix, note } = key ?? {};
  if (typeof account !== "string") throw wrong("the account must be a text");
  checkAccount(account);
  if (!/^[0-9a-f]{64}$/.test(String(hash)) || !isId(id)) throw wrong("the key has no hash or id");
  if (!TIERS.includes(tier) || typeof prefix !== "string") throw wrong("the key has no tier or prefix");
  const { createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs } = key;
  if (typeof note !== "string") throw wrong("the key has no note or times");
  checkTimes("the key", createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs);
  const isSound = ({ day, count }: Partial<DayUsage>) =>
    /^[\d-]{10}$/.test(String(day)) &&
    momentOf(day!) !== undefined &&
    Number.isSafeInteger(count) &&
    count! > 0;
  if (!Array.isArray(usage) || !usage.every((use) => isSound(use ?? {})))
    throw wrong("the usage has no day or count");
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

function checkUserLine(line: UserLine): void {
  if (!Array.isArray(line.facts)) throw wrong("the facts of a user must be a list");
  if (line.facts.length > CHANNEL_COUNT) throw wrong(`a user has at most ${CHANNEL_COUNT} facts`);
  if (typeof line.account !== "string" || typeof line.user_id !== "string")
    throw wrong("account and user_id must be texts");
  checkAccount(line.account);
  checkIdentifier(line.user_id, "user_id");
  for (const fact of line.facts) {
    const { label, value, revision, updated_at } = fact ?? {};
    if (typeof label !== "string" || typeof value !== "string")
      throw wrong("labels and values must be texts");
    channelOf(label);
    checkValue(value);
    // Stores hold times from 1970 on.
    if (!Number.isInteger(revision) || (momentOf(updated_at) ?? -1) < 0)
      throw wrong("a fact has no revision or time");
  }
  if (new Set(line.facts.map(({ label }) => label)).size < line.facts.length)
    throw wrong("a label is given twice");
}

function isId(id: unknown): boolean {
  return typeof id === "string" && /^[\w-]{1,64}$/.test(id);
}

function wrong(reason: string): Failure {
  return new Failure("invalid_request", `This line cannot be imported: ${reason}.`);
}
