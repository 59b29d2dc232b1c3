/**
 * The labels that a key, a token or an adapter may write: exact ones (`PREF.tone`) and whole groups (`LANG.*`). Reading is
 * not limited by them; that is what groups are for (groups.ts).
 */

import { groupOf, LABEL_FORM } from "./channel-labels.ts";
import { invalidRequest, OperatorError } from "./errors.ts";

const GROUP_PATTERN = /^([A-Z][A-Z0-9_]{0,15})\.\*$/;
export const PATTERNS_MAX = 32;
/** Of a key that may write nothing: what two lists have in common may be nothing. */
const NONE = "none";

export class LabelPatterns {
  /** In order, joined by commas; "none" for none. */
  readonly text: string;
  readonly list: readonly string[];
  readonly #patterns: ReadonlySet<string>;

  constructor(patterns: Iterable<string>) {
    this.#patterns = new Set(patterns);
    this.list = [...this.#patterns].sort();
    this.text = this.list.join(",") || NONE;
  }

  has(label: string): boolean {
    return this.#patterns.has(label) || this.#patterns.has(`${groupOf(label)}.*`);
  }

  /** What both have. */
  and(other: LabelPatterns): LabelPatterns {
    const within = (patterns: LabelPatterns) => (pattern: string) =>
      patterns.#patterns.has(pattern) || (!pattern.endsWith(".*") && patterns.has(pattern));
    return new LabelPatterns([...this.list.filter(within(other)), ...other.list.filter(within(this))]);
  }
}

/** Throws where one of the texts is no pattern. */
export function labelPatterns(texts: readonly string[], param = "write"): LabelPatterns {
  const isPattern = (text: unknown) =>
    typeof text === "string" && (LABEL_FORM.test(text) || GROUP_PATTERN.test(text));
  if (texts.length === 0 || texts.length > PATTERNS_MAX || !texts.every(isPattern))
    throw invalidRequest(
      param,
      `${param} must be 1 to ${PATTERNS_MAX} labels, or groups of labels, as in "PREF.tone" and "LANG.*".`,
    );
  return new LabelPatterns(texts);
}

/** Those of a command's option, separated by commas. Throws a text without the name of the option. */
export function labelList(text: string): LabelPatterns {
  try {
    return labelPatterns(
      text.split(",").map((one) => one.trim()),
      "",
    );
  } catch (error) {
    throw new OperatorError((error as Error).message.trim().replace(/\.$/, ""));
  }
}

/** Those that a record or a token holds as one text; undefined: all labels. */
export function patternsOf(text: string | null | undefined): LabelPatterns | undefined {
  if (text == null) return undefined;
  return text === NONE ? new LabelPatterns([]) : labelPatterns(text.split(","));
}
