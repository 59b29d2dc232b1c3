/**
 * Values as a model is shown them. A value is data, and anybody may have written it: in a prompt it must not look like a
 * tag or like another line, and it must hide nothing. What could is escaped; ordinary text stays as it is, with
 * comparisons, arrows, emoji and the joiners of scripts that need them. The escapes can be undone, and what is stored,
 * and what a tool returns, stays exact.
 *
 * The Python client has a copy, which a test compares.
 */

import { HIDDEN_CHARACTERS } from "./hidden-characters.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/u;
export const HIDDEN_CHARACTER = new RegExp(`[${HIDDEN_CHARACTERS}]`, "u");
const PICTURE =
  /[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\u{1f000}-\u{1faff}]/u;
/** Letters of scripts that are written from the right, or that join. */
const JOINING = /[\u0590-\u109f\u1780-\u18af\ua840-\ua8ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const HAN = /[\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]/u;
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

/** A value, or a line with one, for the text of a prompt. */
export function shownText(text: string): string {
  return withVisible(text.replace(OWN_MARKS, numbered), numbered)
    .replace(OWN_ENTITIES, "&amp;")
    .replace(TAG, (signs) => Array.from(signs, (sign) => (sign === "<" ? "&lt;" : numbered(sign))).join(""));
}

/** The text that shownText has shown. */
export function exactText(shown: string): string {
  return shown.replace(SPELLED, (spelled, number: string | undefined) => {
    if (number !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(number, 16), 0x10ffff));
    return spelled === "&lt;" ? "<" : "&";
  });
}

/** JSON for a model: the same object when it is parsed, and nothing in its text that is hidden or looks like a tag. */
export function shownJson(object: unknown): string {
  return withVisible(JSON.stringify(object), jsonEscape).replace(TAG, jsonEscape);
}

/**
 * Text for a terminal, which obeys control characters and turns text around: lines and tabs stay, and the rest is escaped.
 * The escapes are those of JSON, so that a printed object stays the same object.
 */
export function terminalText(text: string): string {
  return text.replace(/[^\n\t]+/g, (part) => withVisible(part, jsonEscape));
}

/** The text with an escape for each character that cannot be seen, except where it does its work in the writing. */
function withVisible(text: string, spelled: (character: string) => string): string {
  if (!CONTROL.test(text) && !HIDDEN_CHARACTER.test(text)) return text;
  const characters = [...text];
  return characters
    .map((character, i) => {
      const isHidden =
        HIDDEN_CHARACTER.test(character) && !isAtWork(characters[i - 1], character, characters[i + 1]);
      return isHidden || CONTROL.test(character) ? spelled(character) : character;
    })
    .join("");
}

function isAtWork(before = "", character: string, after = ""): boolean {
  const joins = (neighbour: string) => JOINING.test(neighbour) && !HIDDEN_CHARACTER.test(neighbour);
  if (character === "\u200d" && PICTURE.test(after)) return PICTURE.test(before) || before === "\ufe0f";
  if ("\u200c\u200d\u180b\u180c\u180d".includes(character)) return joins(before);
  if ("\u200e\u200f\u061c".includes(character)) return joins(before) || joins(after);
  if ("\ufe0e\ufe0f".includes(character)) return PICTURE.test(before) || /[0-9#*]/.test(before);
  return (
    ("\ufe00\ufe01\ufe02".includes(character) || character.codePointAt(0)! >= 0xe0100) && HAN.test(before)
  );
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
