/**
 * The lines of an import that are no user's: keys, labels, shared projects, and requests for keys. What is there already stays, and an
 * import may be repeated: the store decides it in the write, since others may change the same meanwhile.
 */

import { CHANNEL_COUNT } from "../base/limits.ts";
import type { AccountLine, DayUsage, ExportLine, LabelLine, ProjectLine } from "./export-lines.ts";
import { requestTextsFault } from "./identifiers.ts";
import type { AccountLabels } from "./labels.ts";
import type { Store } from "./ports.ts";
import { quotaWindow } from "./quota.ts";
import type { KeyRecord, KeyRequest } from "./records.ts";

export const ALL_DAYS = ["0000-01-01", "9999-12-31"] as const;

/** How many lines of each kind were left for `withKeys`. */
export interface NotTaken {
  keys: number;
  requests: number;
  /** What an account has changed of a standard label, that it is strict, its limit, and labels of accounts that are not there. */
  settings: number;
  /** Of accounts that are not there. */
  users: number;
}

/** What an import of a line has written. */
export interface Imported {
  readonly facts?: number;
  readonly keys?: number;
  readonly requests?: number;
  readonly leftOut?: string;
  /** What comes in only with `withKeys`. */
  readonly notTaken?: keyof NotTaken;
  /** A label that its account did not have. */
  readonly labelAdded?: string;
}

/** What an account has changed of a standard label, that it is strict, its limit, and which projects it shares, with what is shared. */
export function isSetting(line: ExportLine): boolean {
  return (
    ["account", "project", "shared"].includes(line.kind) ||
    (line.kind === "label" && line.label.channel < CHANNEL_COUNT)
  );
}

export async function importKey(
  store: Store,
  line: KeyRecord,
  usage: readonly DayUsage[],
): Promise<Imported> {
  const { id, account, tier, hash, prefix, note, createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs } = line;
  const times = { createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs };
  // A line may leave them out: then the key is bound to nobody.
  const { user = null, access = "write", groups, write, grant } = line;
  const key = {
    ...{ id, account, tier, hash, prefix, note, user, access, ...times },
    ...(groups === undefined ? {} : { groups }),
    ...(write === undefined ? {} : { write }),
    ...(grant === undefined ? {} : { grant }),
  };
  const outcome = await store.addKey(key);
  const known = outcome === "added" ? key : await store.findKey(hash);
  if (known === undefined) return { leftOut: `the key ${id} of account ${account}: another key has this id` };
  if (usage.length > 0) await store.raiseUsage(known, usage);
  return { keys: outcome === "added" ? 1 : 0 };
}

/** A limit that the account has already stays as it is. */
export async function importAccount(
  store: Store,
  { account, strict, monthlyLimit }: AccountLine,
  nowMs: number,
): Promise<Imported> {
  if (strict) await store.changeStrict(account, true);
  if (monthlyLimit === undefined) return {};
  const { month } = quotaWindow(nowMs);
  const record = await store.changeAccount(account, monthlyLimit, month, undefined, true);
  return record === undefined ? { leftOut: `the limit of account ${account}: it has no key` } : {};
}

/** A label that the account has already stays as it is. */
export async function importLabel(
  store: Store,
  { account, label }: LabelLine,
  known: AccountLabels,
): Promise<Imported> {
  const found = known.find(label.label);
  if (label.channel < CHANNEL_COUNT) {
    if (found?.channel === label.channel) await store.changeLabel(account, label, { hidden: label.hidden });
    return {};
  }
  if (found !== undefined) return {};
  const { channel: _, ...terms } = label;
  const { outcome } = await store.addLabel(account, terms);
  const refusal = {
    full: "the account has no free one",
    text_full: "the account's labels would be too long",
  };
  if (outcome === "full" || outcome === "text_full")
    return { leftOut: `the label ${label.label} of account ${account}: ${refusal[outcome]}` };
  const isAdded = outcome === "added" && label.removed !== true;
  return isAdded ? { labelAdded: label.label } : {};
}

/** One that the account shares already stays as it is. */
export async function importProject(store: Store, { account, project }: ProjectLine): Promise<Imported> {
  const { project: name, members, access, createdAtMs } = project;
  const change = { project: name, members, access, createdAtMs, onlyNew: true } as const;
  const record = await store.changeProject(account, change);
  return record === undefined
    ? { leftOut: `the shared project ${name} of account ${account}: there is no room` }
    : {};
}

/** One that is known stays as it is. Texts that PostgreSQL cannot hold, or that mislead the operator, are left out. */
export async function importRequest(store: Store, line: KeyRequest): Promise<Imported> {
  const found = requestTextsFault(line);
  if (found !== undefined)
    return { leftOut: `the request ${line.id} for a key: ${found.param} ${found.fault}` };
  const { id, name, email, purpose, tier, createdAtMs, status, decidedAtMs, keyId } = line;
  const request = { id, name, email, purpose, tier, createdAtMs, status, decidedAtMs, keyId };
  return { requests: (await store.addKeyRequest(request)) ? 1 : 0 };
}
