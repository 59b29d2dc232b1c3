/**
 * Groups of labels that a key, a token or a request is for: those that are named (`USER,PREF`), or all but those that are
 * named (`-HEALTH,-HOME`).
 */

import { groupOf } from "./channel-labels.ts";
import { invalidRequest, OperatorError } from "./errors.ts";

const GROUP_FORM = /^[A-Z][A-Z0-9_]{0,15}$/;
export const GROUPS_MAX = 32;

export class Groups {
  /** The canonical form; "" for all groups, and "none". */
  readonly text: string;
  readonly #names: ReadonlySet<string>;
  readonly #areLeftOut: boolean;

  constructor(names: Iterable<string>, areLeftOut: boolean) {
    const sorted = [...new Set(names)].sort();
    this.#names = new Set(sorted);
    this.#areLeftOut = areLeftOut;
    const written = areLeftOut ? sorted.map((name) => `-${name}`) : sorted;
    this.text = sorted.length === 0 && !areLeftOut ? "none" : written.join(",");
  }

  has(label: string): boolean {
    return this.#names.has(groupOf(label)) !== this.#areLeftOut;
  }

  /** Those that both have. */
  and(other: Groups): Groups {
    if (this.#areLeftOut && other.#areLeftOut) return new Groups([...this.#names, ...other.#names], true);
    const [named, rest] = this.#areLeftOut ? [other, this] : [this, other];
    const isInRest = (name: string) => rest.#names.has(name) !== rest.#areLeftOut;
    return new Groups([...named.#names].filter(isInRest), false);
  }
}

export const ALL_GROUPS = new Groups([], true);

/** Throws where a text does not name groups. */
export function parseGroups(text: string, param = "groups"): Groups {
  const parts = text.split(",").map((part) => part.trim());
  const areLeftOut = parts.every((part) => part.startsWith("-"));
  const names = areLeftOut ? parts.map((part) => part.slice(1)) : parts;
  if (!areLeftOut && parts.some((part) => part.startsWith("-")))
    throw invalidRequest(param, `${param} names groups, or with a minus all but those: not both.`);
  if (names.length > GROUPS_MAX || !names.every((name) => GROUP_FORM.test(name)))
    throw invalidRequest(
      param,
      `${param} must be 1 to ${GROUPS_MAX} groups of labels, as in "USER,PREF", or all but those: "-HEALTH,-HOME".`,
    );
  return new Groups(names, areLeftOut);
}

/** Those of a key or a token; undefined: all. */
export function groupsOf(text: string | null | undefined): Groups | undefined {
  return text == null ? undefined : parseGroups(text);
}

/** Those of a setting; undefined for `all`. Throws a text without the name of the setting. */
export function promptGroups(text: string): string | undefined {
  if (text === "all") return undefined;
  try {
    return parseGroups(text, "").text;
  } catch (error) {
    throw new OperatorError((error as Error).message.trim().replace(/\.$/, ""));
  }
}
