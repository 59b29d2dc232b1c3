/**
 * The lines of an export: what kinds there are, and the rules that everything in a line must keep before it is
 * imported. A file may be anybody's. What is wrong with a line is said with its number.
 */

import { TIERS } from "../base/accounts.ts";
import { momentOf } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { parseGroups } from "../base/groups.ts";
import { patternsOf } from "../base/label-patterns.ts";
import { TIME_MS_MAX } from "../base/limits.ts";
import { ACCESS_TOKEN_PREFIX, NOT_BEGUN, RECENT_REFRESHES_MAX } from "./grant-tokens.ts";
import { checkAccount, checkIdentifier, checkNote } from "./identifiers.ts";
import { KEY_PREFIX } from "./key-format.ts";
import { checkLabelRecord } from "./label-terms.ts";
import { checkMembers, checkProjectName } from "./project-records.ts";
import { isMonthlyLimit } from "./quota.ts";
import type { KeyGrant, KeyRecord, KeyRequest, LabelRecord, ProjectRecord } from "./records.ts";
import { checkSharedName, checkUserName, invalidLine, type SharedLine, type UserLine } from "./user-lines.ts";

export type ExportLine =
  | { readonly kind: "key"; readonly key: KeyRecord; readonly usage?: readonly DayUsage[] }
  | LabelLine
  | AccountLine
  | ProjectLine
  | UserLine
  | SharedLine
  | { readonly kind: "request"; readonly request: KeyRequest };

/** A label of an account's own, or what it has changed of a standard one. Channels are given anew where it is imported. */
export interface LabelLine {
  readonly kind: "label";
  readonly account: string;
  readonly label: LabelRecord;
}

/** That an account is strict, and what all its keys together may write in a month. */
export interface AccountLine {
  readonly kind: "account";
  readonly account: string;
  readonly strict?: true;
  readonly monthlyLimit?: number;
}

/** That a project is shared, and by whom. */
export interface ProjectLine {
  readonly kind: "project";
  readonly account: string;
  readonly project: ProjectRecord;
}

export interface DayUsage {
  readonly day: string;
  readonly count: number;
}

export interface NumberedLine {
  readonly text: string;
  readonly number: number;
}

/** Those with something in them. */
export async function* numberedLines(
  lines: AsyncIterable<string>,
  counted: (count: number) => void = () => {},
): AsyncGenerator<NumberedLine> {
  let number = 0;
  for await (const text of lines) {
    number += 1;
    counted(number);
    if (text.trim() !== "") yield { text, number };
  }
}

/** Does something with a line; what is wrong with it is said with its number. */
export async function atLine({ number }: NumberedLine, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.code, `line ${number}: ${error.message}`, error.extra);
  }
}

/** A line of a known kind. */
export function parseLine(text: string): ExportLine {
  let line: ExportLine;
  try {
    line = JSON.parse(text);
  } catch {
    throw invalidLine("it is not JSON");
  }
  if (!["key", "label", "account", "project", "user", "shared", "request"].includes(line?.kind))
    throw invalidLine(
      "it is neither a key, a label, an account, a project, a user, what is shared in a project, nor a request for a key",
    );
  return line;
}

/** Throws unless everything in a line keeps the rules of its field; of a user, what can be said without its labels. */
export function checkLine(line: ExportLine): void {
  if (line.kind === "key") checkKeyLine(line);
  else if (line.kind === "label") checkLabelLine(line);
  else if (line.kind === "account") checkAccountLine(line);
  else if (line.kind === "project") checkProjectLine(line);
  else if (line.kind === "user") checkUserName(line);
  else if (line.kind === "shared") checkSharedName(line);
  else checkRequestLine(line);
}

function checkKeyLine({ key, usage = [] }: Extract<ExportLine, { kind: "key" }>): void {
  const { id, hash, account, tier, prefix, note, user, access, groups, write } = key ?? {};
  if (typeof account !== "string") throw invalidLine("the account must be a text");
  checkAccount(account);
  if (typeof hash !== "string" || !/^[0-9a-f]{64}$/.test(hash) || !isId(id))
    throw invalidLine("the key has no hash or id");
  if (!TIERS.includes(tier) || typeof prefix !== "string") throw invalidLine("the key has no tier or prefix");
  const { grant } = key;
  if (grant !== undefined) checkGrant(grant, key);
  if (grant === undefined ? !KEY_PREFIX.test(prefix) : prefix !== ACCESS_TOKEN_PREFIX)
    throw invalidLine("the key's prefix is not how a key begins");
  const { createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs } = key;
  if (typeof note !== "string") throw invalidLine("the key has no note or times");
  checkNote(note);
  if (user !== null && typeof user !== "string") throw invalidLine("the key's user must be a text");
  if (user !== null) checkIdentifier(user, "user_id");
  if (!["read", "write"].includes(access)) throw invalidLine("the key's access is neither read nor write");
  if (groups !== undefined && (typeof groups !== "string" || parseGroups(groups).text !== groups))
    throw invalidLine("the key's groups are not in their order");
  if (write !== undefined && (typeof write !== "string" || patternsOf(write)?.text !== write))
    throw invalidLine("the key's labels to write are not in their order");
  checkTimes("the key", createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs);
  const isSound = ({ day, count }: Partial<DayUsage>) =>
    typeof day === "string" &&
    /^[\d-]{10}$/.test(day) &&
    momentOf(day) !== undefined &&
    Number.isSafeInteger(count) &&
    // 0 is sound: a rollback that only forgets is counted so.
    count! >= 0;
  if (!Array.isArray(usage) || !usage.every((use) => isSound(use ?? {})))
    throw invalidLine("the usage has no day or count");
}

function checkGrant(grant: KeyGrant, { user }: KeyRecord): void {
  const { keyId, resource, client, returnsTo, refreshes, recentMs } = grant ?? {};
  const areTexts = [resource, returnsTo].every((text) => typeof text === "string" && text.length <= 512);
  const isSound =
    areTexts &&
    user !== null &&
    isId(keyId) &&
    typeof client === "string" &&
    /^[0-9a-f]{64}$/.test(client) &&
    Number.isSafeInteger(refreshes) &&
    refreshes >= NOT_BEGUN &&
    Array.isArray(recentMs) &&
    recentMs.length <= Math.min(Math.max(refreshes, 0), RECENT_REFRESHES_MAX);
  if (!isSound) throw invalidLine("the key's grant has no key, resource or client");
  checkTimes("the key's grant", 0, ...recentMs);
}

function checkLabelLine({ account, label }: LabelLine): void {
  if (typeof account !== "string") throw invalidLine("the account must be a text");
  checkAccount(account);
  const { oneOf = null } = label ?? {};
  if (oneOf !== null && !(Array.isArray(oneOf) && oneOf.every((value) => typeof value === "string")))
    throw invalidLine("one_of must be a list of texts");
  checkLabelRecord(label);
}

function checkAccountLine({ account, strict, monthlyLimit }: AccountLine): void {
  if (typeof account !== "string" || ![true, undefined].includes(strict))
    throw invalidLine("the account has no name, or its strict is not true");
  checkAccount(account);
  if (monthlyLimit !== undefined && !isMonthlyLimit(monthlyLimit))
    throw invalidLine("the account's limit is no whole number from 0 on, or too large");
}

function checkProjectLine({ account, project }: ProjectLine): void {
  if (typeof account !== "string") throw invalidLine("the account must be a text");
  checkAccount(account);
  const { project: name, members, access, createdAtMs } = project ?? {};
  if (typeof name !== "string") throw invalidLine("the project must be a text");
  checkProjectName(name);
  if (members !== null && !(Array.isArray(members) && members.every((one) => typeof one === "string")))
    throw invalidLine("the project's members are neither texts nor null");
  if (members !== null) checkMembers(members);
  if (!["read", "write"].includes(access))
    throw invalidLine("the project's access is neither read nor write");
  checkTimes("the project", createdAtMs);
}

function checkRequestLine({ request }: Extract<ExportLine, { kind: "request" }>): void {
  const { id, name, email, purpose, tier, status, createdAtMs, decidedAtMs, keyId } = request ?? {};
  if (![name, email, purpose].every((text) => typeof text === "string") || !isId(id))
    throw invalidLine("the request has no id, name, email or purpose");
  if (!TIERS.includes(tier) || !["open", "approved", "declined"].includes(status))
    throw invalidLine("the request has no tier or status");
  if (keyId !== null && !isId(keyId)) throw invalidLine("the request has no key_id");
  checkTimes("the request", createdAtMs, decidedAtMs);
}

function checkTimes(what: string, createdAtMs: number, ...others: (number | null)[]): void {
  const times = [createdAtMs, ...others.filter((time) => time !== null)];
  if (!times.every(Number.isInteger)) throw invalidLine(`${what} has no note or times`);
  if (times.some((time) => time < 0 || time > TIME_MS_MAX))
    throw invalidLine(`${what} has a time that is not from 0 to ${TIME_MS_MAX}`);
}

function isId(id: unknown): boolean {
  return typeof id === "string" && /^[\w-]{1,64}$/.test(id);
}
