/**
 * Letters without accents, for comparing words and for making labels of them; and characters that nobody sees: controls,
 * joiners, fillers, marks of direction, variation selectors, tags. A text with those is another one than it looks, to a
 * person and to a filter, and a model reads them all the same. Some of them do their work in the writing: between emoji,
 * and in scripts that are written from the right or that join.
 */

/** Letters that have no accent to take away. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  ø: "o",
  œ: "oe",
  ł: "l",
  đ: "d",
  ı: "i",
};

/** Each accent is a character behind its letter. */
export function withAccentsApart(text: string): string {
  return text
    .toLowerCase()
    .replace(/[ßæøœłđı]/g, (letter) => PLAIN[letter] ?? letter)
    .normalize("NFKD");
}

/** Small letters without accents. */
export function plainLetters(text: string): string {
  return withAccentsApart(text).replace(/\p{M}+/gu, "");
}

/** As the inside of a character class, for JavaScript (flag `u`) and for Python: python/sideband/__init__.py has it. */
export const HIDDEN_CHARACTERS =
  "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164" +
  "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}";

const ALL_HIDDEN = new RegExp(`[${HIDDEN_CHARACTERS}]`, "gu");
export const HIDDEN_CHARACTER = new RegExp(`[${HIDDEN_CHARACTERS}]`, "u");
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/u;
const PICTURE =
  /[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\u{1f000}-\u{1faff}]/u;
/** Letters of scripts that are written from the right, or that join. */
const JOINING = /[\u0590-\u109f\u1780-\u18af\ua840-\ua8ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const HAN = /[\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]/u;

/** A text as it looks: without what is hidden, and with the usual letters for wide, raised and styled ones. */
export function visibleText(text: string): string {
  return text.replace(ALL_HIDDEN, "").normalize("NFKC");
}

/** The text with an escape for each character that cannot be seen, except where it does its work in the writing. */
export function escapeHidden(text: string, spelled: (character: string) => string): string {
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

/** The first character that escapeHidden would escape. */
export function firstHidden(text: string): string | undefined {
  let found: string | undefined;
  escapeHidden(text, (character) => {
    found ??= character;
    return "";
  });
  return found;
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
