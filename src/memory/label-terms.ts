/** The rules for a label of an account's own: its form, and what it may ask of its values. */

import { Failure } from "../base/errors.ts";
import { CHANNELS_MAX, TTL_S_MAX, VALUE_BYTES_MAX } from "../base/limits.ts";
import { valueFault } from "./identifiers.ts";
import type { LabelRecord } from "./ports.ts";

const LABEL = /^[A-Z][A-Z0-9_]{0,15}\.[a-z0-9_]{1,48}$/;
const LABEL_TEXT_LENGTH_MAX = 200;
const ONE_OF_MIN = 2;
const ONE_OF_MAX = 32;
const SCOPES: readonly unknown[] = ["person", "project", "worktree"];

type Terms = Omit<LabelRecord, "channel" | "createdAtMs">;

/** Throws unless the label has the form and the terms that a label may have. */
export function checkTerms(terms: Terms): void {
  const { label, description, example, oneOf, maxBytes, ttlS, scope } = terms;
  if (!LABEL.test(label)) {
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
      const fault = valueFault(value, maxBytes ?? VALUE_BYTES_MAX);
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
  if (!isIn(channel, 0, CHANNELS_MAX - 1) || !Number.isInteger(createdAtMs))
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
    ([...text].length > LABEL_TEXT_LENGTH_MAX
      ? `must have at most ${LABEL_TEXT_LENGTH_MAX} characters`
      : undefined);
  if (fault !== undefined) throw refuse(param, fault);
}

function isIn(number: number, min: number, max: number): boolean {
  return Number.isInteger(number) && number >= min && number <= max;
}

function refuse(param: string, fault: string): Failure {
  return new Failure("invalid_request", `${param} ${fault}.`, { param });
}
