/**
 * What a host and a model read of a tool's call: the fields and the line of a result, and of an error what can be done about
 * it.
 */

import { NOTHING_REMEMBERED } from "../base/channel-labels.ts";
import type { FactsAnswer, HistoryAnswer } from "../contract/answers.ts";
import { escapeJson, escapeText } from "./escaped-text.ts";
import { RefusedValueError } from "./secrets.ts";
import { errorCodeOf } from "./written-line.ts";

export type JsonObject = { readonly [name: string]: unknown };

/** In the text of an unknown label that is a slip away from another. */
const INSISTS = 'new_label: "certain"';

/** A result as the text that a host shows: the line of a write, and else JSON. */
export function toolResultText(result: JsonObject): string {
  return typeof result.result === "string" ? result.result : escapeJson(result);
}

/** The error as one line that a model can act on. @param addsLabels whether the model has add_label */
export function toolErrorText(error: unknown, addsLabels: boolean): string {
  const code = errorCodeOf(error);
  if (typeof code !== "string" || !(error instanceof Error)) return "internal_error: memory failed";
  // The service's text may have the values of a label, which somebody else has written.
  const message = error instanceof RefusedValueError ? error.message : escapeText(error.message);
  return `${code}: ${toolAdvice(code, error, addsLabels) ?? message}`;
}

/** The service names its own calls, where a model has tools. */
function toolAdvice(code: string, error: Error, addsLabels: boolean): string | undefined {
  const { hint, param, items } = { ...(error as { extra?: object }).extra, ...error } as Record<
    string,
    unknown
  >;
  if (code === "unknown_label") {
    // The service's text names the near label, and the field that insists, which the tool has by the same name.
    if (error.message.includes(INSISTS)) return undefined;
    const question = typeof hint === "string" ? `Did you mean ${hint}? ` : "";
    if (error.message.startsWith(NOTHING_REMEMBERED))
      return `${NOTHING_REMEMBERED} that label. ${question}recall without a label lists what is.`;
    const adding = addsLabels ? ", and add_label adds one" : "";
    return `There is no such label. ${question}A label is GROUP.name. The description of remember lists those of the account${adding}; find finds facts by words.`;
  }
  if (code === "fact_exists")
    return "The other label has a fact, too: forget it first, or pass merge=true for a list of both.";
  if (code === "invalid_value" && param === "item" && Array.isArray(items))
    return 'With this item the list would be too long: remember the whole list without some of its items, joined by "; ", and without add.';
  return undefined;
}

type ListedFact = Pick<
  FactsAnswer["facts"][number],
  "label" | "value" | "updated_at" | "user_id" | "written_by" | "expires_at" | "origin"
>;

/** One of many: its time to the minute, since a model reads many of them. */
export function listedFact({ label, value, updated_at, expires_at, ...fact }: ListedFact): JsonObject {
  const toMinute = (time: string) => time.replace(/:\d\d(\.\d+)?Z$/, "Z");
  // Only what a team shares says whose it is.
  const { user_id, written_by, origin } = fact;
  return given({
    label,
    value,
    updated_at: toMinute(updated_at),
    user_id,
    written_by,
    expires_at: expires_at && toMinute(expires_at),
    origin,
  });
}

export function shownRevision(revision: HistoryAnswer["revisions"][number]): JsonObject {
  const { revision: number, value, updated_at, user_id, written_by, ended, origin } = revision;
  return given({ revision: number, value, updated_at, user_id, written_by, ended, origin });
}

export function given(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Of labels and values in an answer with all facts: no model reads more at once. */
const RECALLED_LENGTH_MAX = 256 * 1024;

/** All facts; where they are too long together, those that come first, and the labels of the others. */
export function recalledFacts(facts: readonly ListedFact[]): JsonObject {
  let length = 0;
  const told = facts.filter(({ label, value }) => {
    length += label.length + value.length;
    return length <= RECALLED_LENGTH_MAX;
  });
  const others = facts.slice(told.length).map(({ label }) => label);
  return { facts: told.map(listedFact), ...(others.length === 0 ? {} : { other_labels: others }) };
}
