/**
 * What is said of a field or parameter that an operation does not know, with the one that was probably meant. What is left
 * out silently does harm: `projet` for `project` erases a whole user. Which operations refuse is in field-checks.ts.
 */

import { isSlip } from "../base/edit-distance.ts";

/** `refused`: every one. `slips`: only one that was probably meant as another. */
export type UnknownFields = "refused" | "slips" | "ignored";

export interface UnknownTerms {
  readonly policy: UnknownFields;
  /** Names that the operation knows at another place, and that place. */
  readonly elsewhere?: ReadonlyMap<string, string>;
}

interface UnknownFault {
  readonly fault: string;
  readonly hint?: string;
}

const SHOWN_LENGTH_MAX = 64;

/** A name as a message shows it. */
export function shownName(name: string): string {
  return name.replace(/[^\w.-]/g, "?").slice(0, SHOWN_LENGTH_MAX);
}

/** What is wrong with a name that is not known; undefined where it is ignored. @param given the names that were sent */
export function unknownFault(
  name: string,
  known: readonly string[],
  given: Readonly<Record<string, unknown>>,
  { policy, elsewhere }: UnknownTerms,
): UnknownFault | undefined {
  if (policy === "ignored") return undefined;
  const place = elsewhere?.get(name);
  if (place !== undefined) return { fault: `belongs ${place}` };
  const missing = known.filter((one) => given[one] === undefined);
  const hint = nearName(name, [...missing, ...(elsewhere?.keys() ?? [])]);
  if (hint !== undefined) return { fault: `is not known here: probably ${hint} was meant`, hint };
  if (policy === "slips") return undefined;
  return { fault: `is not known here${known.length === 0 ? "" : `: known are ${known.join(", ")}`}` };
}

const BEGINNING_LENGTH_MIN = 3;

/** The one name that was probably meant: another case, other separators, a slip, or its beginning. */
export function nearName(typed: string, names: readonly string[]): string | undefined {
  const wanted = plain(typed);
  const same = names.filter((name) => plain(name) === wanted);
  const isNear = (name: string) =>
    isSlip(wanted, plain(name), name.length) ||
    (wanted.length >= BEGINNING_LENGTH_MIN && plain(name).startsWith(wanted));
  const near = same.length > 0 ? same : names.filter(isNear);
  return near.length === 1 ? near[0] : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s._-]/g, "");
}
