/**
 * Words of a text as parts of a label: small letters and digits of ASCII, joined by "_". What has no such letters
 * (Japanese, Greek) cannot be in a label; `isWhole` tells whether all of a text is in its slug, so that nothing is lost
 * by keeping the label and not the words.
 */

import { plainLetters } from "../base/letters.ts";

/** Characters of a label's name. */
export const NAME_LENGTH_MAX = 48;
/** Characters of a label's group. */
export const GROUP_LENGTH_MAX = 16;
/** Words of a sentence that name its label, and their characters. */
const SENTENCE_WORDS_MAX = 6;
const SENTENCE_LENGTH_MAX = 40;
/** Characters of a name that what stands above may take. */
const ABOVE_LENGTH_MAX = 24;

/** They say little about what a sentence is about. */
const STOP_WORDS = new Set(
  "a an the is are was were be been am to of in on at for and or with my our i im ive me we that this it its as by from has have had will".split(
    " ",
  ),
);

/** A number with its unit: of a sentence it is what changes, and "88 µg" is no 88 g. */
const AMOUNT =
  /(?<![\w.,])[+−–-]?\d+(?:[.,]\d+)?\s?(?:[mkµμ]?g|[mcd]?l|[mck]?m|° ?[cf]|[%€£$])(?![\p{L}\p{N}])/giu;

/** "Wi-Fi (upstairs)" → ["wi", "fi", "upstairs"]; µ is written as u. */
export function slugWords(text: string): string[] {
  return (
    plainLetters(text)
      .replace(/['’`]/g, "")
      .replace(/μ(?=[a-z])/g, "u")
      .match(/[a-z0-9]+/g) ?? []
  );
}

/** Whether the slug has every letter and sign of the text that means something. */
export function isWhole(text: string): boolean {
  const signs = plainLetters(text).replace(/\p{Extended_Pictographic}|\u200d|\ufe0f/gu, "");
  return !/[^a-z0-9\s'’"“”()/&,._-]/.test(signs);
}

/** As many words as fit. */
export function joinedWords(words: readonly string[], lengthMax: number): string {
  let name = "";
  for (const word of words) {
    const longer = name === "" ? word : `${name}_${word}`;
    if (longer.length > lengthMax) break;
    name = longer;
  }
  return name === "" ? (words[0] ?? "").slice(0, lengthMax) : name;
}

export function withoutStopWords(words: readonly string[]): string[] {
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return telling.length > 0 ? telling : [...words];
}

/** A name for what is said in a text, by its first words that tell something. @param above what it is about */
export function sentenceName(above: readonly string[], text: string): string {
  const start = joinedWords(withoutStopWords(slugWords(above.join(" "))), ABOVE_LENGTH_MAX);
  const told = slugWords(text.replace(AMOUNT, " "));
  const words = withoutStopWords(told.length > 0 ? told : slugWords(text)).slice(0, SENTENCE_WORDS_MAX);
  const end = joinedWords(words, Math.min(SENTENCE_LENGTH_MAX, NAME_LENGTH_MAX - start.length - 1));
  return [start, end === "" ? `text_${fingerprint(text)}` : end].filter((part) => part !== "").join("_");
}

/** FNV-1a, 32 bits: the same text gets the same name the next time. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
