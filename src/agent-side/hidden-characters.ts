/**
 * Characters that nobody sees: joiners, fillers, marks of direction, variation selectors, tags. A text with them is
 * another one than it looks, to a person and to a filter, and a model reads them all the same.
 */

/** As the inside of a character class, for JavaScript (flag `u`) and for Python: python/sideband/__init__.py has it. */
export const HIDDEN_CHARACTERS =
  "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164" +
  "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}";

const ALL_HIDDEN = new RegExp(`[${HIDDEN_CHARACTERS}]`, "gu");

/** A text as it looks: without what is hidden, and with the usual letters for wide, raised and styled ones. */
export function seenText(text: string): string {
  return text.replace(ALL_HIDDEN, "").normalize("NFKC");
}
