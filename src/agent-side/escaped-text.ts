/**
 * Values as a model is shown them. A value is data, and anybody may have written it: in a prompt it must not look like a
 * tag or like another line, and it must hide nothing. What could is escaped; ordinary text stays as it is, with
 * comparisons, arrows, emoji and the joiners of scripts that need them. The escapes can be undone, and what is stored,
 * and what a tool returns, stays exact.
 *
 * The Python client has a copy, which a test compares.
 */

import { escapeHidden } from "../base/letters.ts";

const SPACES = " \u00a0\u2000-\u200a\u202f\u205f\u3000";
/** The start of a tag, with all of its brackets. "a < b", "<=", "<-", "<3" are none. */
export const TAG = new RegExp(
  `(?<![<＜﹤])[<＜﹤]+(?=[^${SPACES}0-9=<＜﹤>-]|[${SPACES}]{0,8}(?:[/!?|]|[A-Za-z0-9][A-Za-z0-9_:.-]{0,40}[${SPACES}]{0,8}>))`,
  "g",
);
/** What looks like an escape of ours, and the marks of a block. */
const OWN_MARKS = /\\(?=u\{)|\[(?=\/?MEM\])/gi;
const OWN_ENTITIES = /&(?=(?:amp;)*lt;)/g;

const SPELLED = /\\u\{([0-9a-f]{1,6})\}|&lt;|&amp;(?=(?:amp;)*lt;)/g;

/** For a reader of texts of which one is escaped. */
export const ESCAPE_NOTE = " In them &lt; stands for <, and \\u{…} for the character with that number.";

/** A value, or a line with one, for the text of a prompt. */
export function escapeText(text: string): string {
  return escapeHidden(text.replace(OWN_MARKS, numbered), numbered)
    .replace(OWN_ENTITIES, "&amp;")
    .replace(TAG, (signs) => Array.from(signs, (sign) => (sign === "<" ? "&lt;" : numbered(sign))).join(""));
}

/** The text that was escaped. */
export function unescapeText(shown: string): string {
  return shown.replace(SPELLED, (spelled, number: string | undefined) => {
    if (number !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(number, 16), 0x10ffff));
    return spelled === "&lt;" ? "<" : "&";
  });
}

/** JSON for a model: the same object when it is parsed, and nothing in its text that is hidden or looks like a tag. */
export function escapeJson(object: unknown): string {
  return escapeHidden(JSON.stringify(object), jsonEscape).replace(TAG, jsonEscape);
}

/**
 * Text for a terminal, which obeys control characters and turns text around: lines and tabs stay, and the rest is escaped.
 * The escapes are those of JSON, so that a printed object stays the same object.
 */
export function terminalText(text: string): string {
  // Not by an expression for what is between: in a line of megabytes it runs out of stack.
  return text
    .split(/([\n\t])/)
    .map((part, i) => (i % 2 === 0 ? escapeHidden(part, jsonEscape) : part))
    .join("");
}

function numbered(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

function jsonEscape(character: string): string {
  return Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
}
