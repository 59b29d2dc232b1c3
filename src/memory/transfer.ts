/**
 * Export and import: one JSON object a line, a line for each key and each user. A user's facts have the form
 * of GET /facts; keys travel as their hashes, so that they go on working where they are imported.
 */

import { momentOf } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { CHANNEL_COUNT, TIME_MS_MAX } from "../base/limits.ts";
import type { AtStep } from "../base/steps.ts";
import { TIERS } from "../base/tiers.ts";
import { DEMO_ACCOUNT } from "./demo.ts";
import { checkAccount, checkIdentifier, checkValue } from "./identifiers.ts";
import { channelOf, labelOf } from "./labels.ts";
import type { KeyRecord, Store } from "./ports.ts";

export interface ExportedFact {
  readonly label: string;
  readonly value: string;
  readonly channel: number;
  readonly revision: number;
  readonly updated_at: string;
}

export type ExportLine =
  | { readonly kind: "key"; readonly key: KeyRecord }
  | {
      readonly kind: "user";
      readonly account: string;
      readonly user_id: string;
      readonly facts: readonly ExportedFact[];
    };

/** Everything, or one account. What changes meanwhile is in it or not; each user is whole. */
export async function* exportLines(store: Store, account?: string): AsyncGenerator<ExportLine> {
  for (const key of await store.listKeys(account)) yield { kind: "key", key };
  for await (const user of store.walkUsers(account)) {
    // The demo's account cannot be imported, and is nobody's.
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
}

/**
 * Writes one line into the store. A key that is known already stays as it is; one whose id another key has is left out.
 * @returns how many facts were written, and what was left out
 */
export async function importLine(
  store: Store,
  text: string,
  nowMs: number,
): Promise<{ facts: number; leftOut?: string }> {
  const line = parse(text);
  if (line.kind === "key") {
    const { id, hash, account } = line.key;
    const outcome = await store.addKey(line.key);
    if (outcome === "added" || (await store.findKey(hash)) !== undefined) return { facts: 0 };
    return { facts: 0, leftOut: `the key ${id} of account ${account}: another key has this id` };
  }
  if (line.facts.length === 0) return { facts: 0 };
  // In the order in which they were written: what does not fit a block later is still the oldest.
  const facts = [...line.facts].sort((a, b) => a.revision - b.revision);
  await store.write({
    account: line.account,
    userId: line.user_id,
    nowMs,
    facts: facts.map(({ label, value, updated_at }) => ({
      channel: channelOf(label),
      value,
      updatedAtMs: Date.parse(updated_at),
    })),
  });
  return { facts: facts.length };
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
  const numbered = async function* () {
    for await (const text of lines) {
      count += 1;
      if (text.trim() !== "") yield { text, number: count };
    }
  };
  const importOne = async ({ text, number }: { text: string; number: number }) => {
    try {
      const imported = await importLine(store, text, options.nowMs);
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
  if (line?.kind === "key") {
    const { id, hash, account, tier, prefix, note } = line.key ?? {};
    if (typeof account !== "string") throw wrong("the account must be a text");
    checkAccount(account);
    if (!/^[0-9a-f]{64}$/.test(String(hash)) || !/^[\w-]{1,64}$/.test(String(id)))
      throw wrong("the key has no hash or id");
    if (!TIERS.includes(tier) || typeof prefix !== "string") throw wrong("the key has no tier or prefix");
    const { createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs } = line.key;
    const times = [expiresAtMs, revokedAtMs, lastUsedAtMs].filter((time) => time !== null);
    if (typeof note !== "string" || ![createdAtMs, ...times].every(Number.isInteger))
      throw wrong("the key has no note or times");
    if ([createdAtMs, ...times].some((time) => time < 0 || time > TIME_MS_MAX))
      throw wrong(`the key has a time that is not from 0 to ${TIME_MS_MAX}`);
    return line;
  }
  if (line?.kind !== "user") throw wrong("it is neither a key nor a user");
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
  return line;
}

function wrong(reason: string): Failure {
  return new Failure("invalid_request", `This line cannot be imported: ${reason}.`);
}
