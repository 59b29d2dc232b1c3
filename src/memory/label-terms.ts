/** Labels of an account's own: the rules for their form and terms, adding one, and changing its terms. */

import { isDeepStrictEqual } from "node:util";
import { LABEL_FORM } from "../base/channel-labels.ts";
import { findChannel } from "../base/channels.ts";
import { Failure } from "../base/errors.ts";
import { hiddenIn } from "../base/hidden-characters.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX, TTL_S_MAX, VALUE_BYTES_MAX } from "../base/limits.ts";
import { valueFault } from "./identifiers.ts";
import type { LabelTerms } from "./labels.ts";
import type { LabelRecord } from "./ports.ts";
import type { MemoryServices } from "./services.ts";

const LABEL_TEXT_LENGTH_MAX = 200;
const ONE_OF_MIN = 2;
const ONE_OF_MAX = 32;
const SCOPES: readonly unknown[] = ["person", "project", "worktree"];

export type NewLabel = Omit<LabelRecord, "channel" | "createdAtMs">;
export type LabelChange = Partial<Omit<NewLabel, "label" | "scope">>;

/** Adds a label. One that is there already with the same terms is answered as it is. */
export async function addLabel(
  { store, clock, labels }: MemoryServices,
  account: string,
  wanted: NewLabel,
): Promise<{ isNew: boolean; terms: LabelTerms }> {
  checkTerms(wanted);
  const standard = findChannel(wanted.label);
  if (standard !== undefined) throw labelExists(wanted.label, "is one of the 40 that every account has");
  const outcome = await store.addLabel(account, { ...wanted, createdAtMs: clock.now() });
  if (outcome.outcome === "full") {
    throw new Failure(
      "labels_full",
      "The account has 216 labels of its own, which is all that there can be.",
    );
  }
  const { createdAtMs: _, channel, ...terms } = outcome.label;
  const isNew = outcome.outcome === "added";
  if (!isNew && !isDeepStrictEqual(withScope(terms), withScope(wanted)))
    throw labelExists(wanted.label, "is there with other terms. PATCH /channels/{label} changes them");
  return { isNew, terms: await labels.find(account, wanted.label) };
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
  change: LabelChange,
): Promise<LabelTerms> {
  const terms = (await labels.of(account)).find(label) ?? (await labels.find(account, label));
  const isStandard = terms.channel < CHANNEL_COUNT;
  if (isStandard && Object.keys(change).some((name) => name !== "hidden")) {
    throw new Failure("invalid_request", `Of the standard label ${label} only "hidden" can be changed.`, {
      param: "label",
    });
  }
  const known = (await store.readLabels(account)).find(({ channel }) => channel === terms.channel);
  const record: LabelRecord = { createdAtMs: clock.now(), ...terms, ...known, ...change };
  checkTerms(record);
  await store.changeLabel(account, record);
  return (await labels.of(account)).find(label) ?? terms;
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
  checkText("description", description);
  if (example !== "") checkText("example", example);
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
}

/** Throws unless a record that comes from an export is one. */
export function checkLabelRecord(record: LabelRecord): void {
  const { channel, label, description, example, hidden, createdAtMs } = record ?? {};
  const texts = [label, description, example];
  if (!texts.every((text) => typeof text === "string") || typeof hidden !== "boolean")
    throw refuse("label", "has no label, description, example or hidden");
  if (!isIn(channel, 0, CHANNEL_COUNT_MAX - 1) || !Number.isInteger(createdAtMs))
    throw refuse("label", "has no channel or time");
  checkTerms({
    ...record,
    oneOf: record.oneOf ?? null,
    maxBytes: record.maxBytes ?? null,
    ttlS: record.ttlS ?? null,
  });
}

function checkText(param: "description" | "example", text: string): void {
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
  const hidden = hiddenIn(text);
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
