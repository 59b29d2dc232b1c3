/** Labels of an account's own: the rules for their form and terms, adding one, changing its terms, and removing it. */

import { isDeepStrictEqual } from "node:util";
import { LABEL_FORM } from "../base/channel-labels.ts";
import { findChannel } from "../base/channels.ts";
import { Failure } from "../base/errors.ts";
import { LABEL_SETS, type LabelSetName } from "../base/label-sets.ts";
import { firstHidden } from "../base/letters.ts";
import {
  CHANNEL_COUNT,
  CHANNEL_COUNT_MAX,
  LABEL_TEXT_BYTES_MAX,
  TTL_S_MAX,
  VALUE_BYTES_MAX,
} from "../base/limits.ts";
import { checkAuthor, valueFault } from "./identifiers.ts";
import { type LabelTerms, nearLabel, unknownLabel } from "./labels.ts";
import type { LabelChange, LabelRecord } from "./records.ts";
import type { MemoryServices } from "./services.ts";

const LABEL_TEXT_LENGTH_MAX = 200;
const ONE_OF_MIN = 2;
const ONE_OF_MAX = 32;
const SCOPES: readonly unknown[] = ["person", "project", "worktree"];

export type { LabelChange };
export type NewLabel = Omit<LabelRecord, "channel" | "createdAtMs" | "createdBy" | "createdKey" | "removed">;

/** Who adds, changes or removes a label: the key that was called with, and what the writer calls itself. */
interface LabelAuthor {
  readonly keyId?: string | undefined;
  readonly writtenBy?: string | undefined;
}

/** Adds a label. One that is there already with the same terms is answered as it is. */
export async function addLabel(
  { store, clock, labels }: MemoryServices,
  account: string,
  wanted: NewLabel,
  author: LabelAuthor = {},
): Promise<{ isNew: boolean; terms: LabelTerms }> {
  checkTerms(wanted);
  checkAuthor(author);
  const standard = findChannel(wanted.label);
  if (standard !== undefined) throw labelExists(wanted.label, "is one of the 40 that every account has");
  const key = author.keyId === undefined ? undefined : await store.readKey(author.keyId);
  const outcome = await store.addLabel(account, {
    ...wanted,
    createdAtMs: clock.now(),
    ...(author.writtenBy === undefined ? {} : { createdBy: author.writtenBy }),
    ...(key === undefined ? {} : { createdKey: key.prefix }),
  });
  if (!("label" in outcome)) throw outcome.outcome === "full" ? noChannel() : textFull();
  const {
    createdAtMs: _at,
    createdBy: _by,
    createdKey: _key,
    removed: _,
    channel: _channel,
    ...terms
  } = outcome.label;
  const isNew = outcome.outcome === "added";
  if (!isNew && !isDeepStrictEqual(withScope(terms), withScope(wanted)))
    throw labelExists(wanted.label, "is there with other terms. PATCH /channels/{label} changes them");
  if (isNew) labels.onChange(noteOf(account, wanted.label, author), "label added");
  return { isNew, terms: await labels.find(account, wanted.label) };
}

/** Adds the labels of a set that the account does not have: all of them, or none where there is no room. */
export async function addLabelSet(
  services: MemoryServices,
  account: string,
  set: LabelSetName,
  author: LabelAuthor = {},
): Promise<LabelTerms[]> {
  const known = await services.labels.of(account, true);
  const missing = LABEL_SETS.get(set)!.filter(({ label }) => known.find(label) === undefined);
  // A label that was removed still has its channel.
  if (missing.filter(({ label }) => known.channelOf(label) === undefined).length > known.free)
    throw noChannel();
  const added: LabelTerms[] = [];
  for (const { scope = null, ...texts } of missing) {
    const wanted = { ...texts, oneOf: null, maxBytes: null, ttlS: null, scope, hidden: false };
    added.push((await addLabel(services, account, wanted, author)).terms);
  }
  return added;
}

function noteOf(account: string, label: string, { keyId, writtenBy }: LabelAuthor): object {
  return { account, label, key_id: keyId, written_by: writtenBy };
}

/** A scope that was not named is that of the person. */
function withScope(terms: NewLabel): NewLabel {
  return { ...terms, scope: terms.scope ?? "person" };
}

/** Changes the terms of a label, for later writes; of a standard one only whether it is hidden. */
export async function changeLabel(
  { store, clock, labels }: MemoryServices,
  account: string,
  label: string,
  { scope, ...change }: LabelChange & { readonly scope?: unknown },
  author: LabelAuthor = {},
): Promise<LabelTerms> {
  const terms = (await labels.of(account)).find(label) ?? (await labels.find(account, label));
  if (scope !== undefined && scope !== terms.scope)
    throw refuse("scope", `cannot be changed: the facts of ${label} are kept for the ${terms.scope}`);
  const isStandard = terms.channel < CHANNEL_COUNT;
  if (isStandard && Object.keys(change).some((name) => name !== "hidden")) {
    throw new Failure("invalid_request", `Of the standard label ${label} only "hidden" can be changed.`, {
      param: "label",
    });
  }
  const base: LabelRecord = { createdAtMs: clock.now(), ...terms };
  checkTerms({ ...base, ...change });
  const { outcome } = await store.changeLabel(account, base, change);
  const after = await labels.of(account);
  if (outcome === "text_full") throw textFull();
  if (outcome === "missing") throw unknownLabel(nearLabel(label, after));
  labels.onChange(noteOf(account, label, author), "label changed");
  return after.find(label) ?? terms;
}

/** Removes a label that no fact and no history of the account has. Its channel stays its own. */
export async function removeLabel(
  { store, labels }: MemoryServices,
  account: string,
  label: string,
  author: LabelAuthor = {},
): Promise<void> {
  if (findChannel(label) !== undefined) {
    throw new Failure(
      "invalid_request",
      `The standard label ${label} cannot be removed, only hidden (PATCH /channels/{label}).`,
      { param: "label" },
    );
  }
  const terms = (await labels.of(account, true)).find(label);
  const outcome = terms === undefined ? "missing" : await store.removeLabel(account, label);
  if (outcome === "missing")
    throw new Failure("not_found", `The account has no label ${label}.`, { param: "label" });
  if (outcome === "in_use") {
    throw new Failure(
      "label_in_use",
      `The label ${label} has facts or a history. Forget them with DELETE /facts first, or hide the label.`,
      { param: "label" },
    );
  }
  labels.onChange(noteOf(account, label, author), "label removed");
}

/** In a strict account only its own labels and the standard ones are written: what persons have made before stays readable. */
export async function changeStrict(
  { store, labels }: MemoryServices,
  account: string,
  isStrict: boolean,
  { keyId }: LabelAuthor = {},
): Promise<void> {
  await store.changeStrict(account, isStrict);
  labels.onChange({ account, key_id: keyId }, isStrict ? "labels are strict" : "labels are free");
}

function noChannel(): Failure {
  return new Failure(
    "labels_full",
    "The account has 216 labels of its own, which is all that there can be. Removed ones count, and can be added again.",
  );
}

function textFull(): Failure {
  return new Failure(
    "labels_full",
    `The labels of an account have at most ${LABEL_TEXT_BYTES_MAX / 1024} KiB of names, descriptions, examples and ` +
      "one_of together: shorten some, or remove labels that no fact uses.",
  );
}

function labelExists(label: string, how: string): Failure {
  return new Failure("label_exists", `The label ${label} ${how}.`, { param: "label" });
}

/** Throws unless the label has the form and the terms that a label may have. */
export function checkTerms(terms: NewLabel): void {
  const { label, description, example, oneOf, maxBytes, ttlS, scope } = terms;
  if (!LABEL_FORM.test(label)) {
    throw refuse(
      "label",
      "must be GROUP.name: a group of 1 to 16 of A-Z, 0-9 and _ that begins with a letter, and a name of 1 to 48 of a-z, 0-9 and _",
    );
  }
  checkLabelText("description", description);
  if (example !== "") checkLabelText("example", example);
  if (oneOf !== null) {
    if (oneOf.length < ONE_OF_MIN || oneOf.length > ONE_OF_MAX)
      throw refuse("one_of", `must have ${ONE_OF_MIN} to ${ONE_OF_MAX} values`);
    for (const value of oneOf) {
      const fault = valueFault(value, maxBytes ?? VALUE_BYTES_MAX) ?? hiddenFault(value);
      if (fault !== undefined) throw refuse("one_of", `has a value that ${fault}`);
    }
    if (new Set(oneOf).size < oneOf.length) throw refuse("one_of", "has a value twice");
  }
  if (maxBytes !== null && !isIn(maxBytes, 1, VALUE_BYTES_MAX))
    throw refuse("max_bytes", `must be from 1 to ${VALUE_BYTES_MAX}`);
  if (ttlS !== null && !isIn(ttlS, 1, TTL_S_MAX)) throw refuse("ttl_s", `must be from 1 to ${TTL_S_MAX}`);
  if (scope !== null && !SCOPES.includes(scope)) throw refuse("scope", "must be person, project or worktree");
  if (terms.writers !== undefined && terms.writers !== "account")
    throw refuse("writers", "must be account or everyone");
}

/** Throws unless a record that comes from an export is one. */
export function checkLabelRecord(record: LabelRecord): void {
  const { channel, label, description, example, hidden, createdAtMs } = record ?? {};
  const { createdBy, createdKey = "", removed = true } = record ?? {};
  const texts = [label, description, example];
  if (!texts.every((text) => typeof text === "string") || typeof hidden !== "boolean")
    throw refuse("label", "has no label, description, example or hidden");
  if (!isIn(channel, 0, CHANNEL_COUNT_MAX - 1) || !Number.isInteger(createdAtMs))
    throw refuse("label", "has no channel or time");
  if (!/^\w{0,12}$/.test(createdKey) || removed !== true)
    throw refuse("label", "has a created_key or removed that is not one");
  checkAuthor({ writtenBy: createdBy });
  checkTerms({
    ...record,
    oneOf: record.oneOf ?? null,
    maxBytes: record.maxBytes ?? null,
    ttlS: record.ttlS ?? null,
  });
}

export function checkLabelText(param: "description" | "example", text: string): void {
  const fault =
    valueFault(text, Number.POSITIVE_INFINITY) ??
    hiddenFault(text) ??
    ([...text].length > LABEL_TEXT_LENGTH_MAX
      ? `must have at most ${LABEL_TEXT_LENGTH_MAX} characters`
      : undefined);
  if (fault !== undefined) throw refuse(param, fault);
}

/** The texts of a label stand in the tool list of every user of the account: they must be what they look like. */
function hiddenFault(text: string): string | undefined {
  const hidden = firstHidden(text);
  if (hidden === undefined) return undefined;
  const number = hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  return `must not contain characters that cannot be seen, such as U+${number}`;
}

function isIn(number: number, min: number, max: number): boolean {
  return Number.isInteger(number) && number >= min && number <= max;
}

function refuse(param: string, fault: string): Failure {
  return new Failure("invalid_request", `${param} ${fault}.`, { param });
}
