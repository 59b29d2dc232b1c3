/**
 * How alike a word of a query and a word of a fact are: the same, another form of it, its beginning, a part of it, or the
 * word with a slip (one edit; two in a long word).
 */

import { editDistance } from "../base/edit-distance.ts";
import { isPaired, saysLittle, stemOf, weightOf, wordsOf } from "./words.ts";

/** A word of a query, or two neighbours as one: "time zone" finds "timezone". */
interface Asked {
  readonly text: string;
  readonly stem: string;
  /** Which words of the query it stands for. */
  readonly words: readonly number[];
}

/** What a text is for a word of the query. */
export interface WordMatch {
  readonly word: number;
  /** More than 0, at most 1. */
  readonly likeness: number;
  /** Whether it has that word only with a slip. */
  readonly isSlip: boolean;
}

/** Words of a query that count. */
const QUERY_WORDS_MAX = 16;

const SAME = 1;
const SAME_STEM = 0.95;
const BEGINNING = 0.85;
const OTHER_FORM = 0.75;
const PART = 0.72;
/** This much and less is a slip. */
const SLIP = 0.7;
const SLIP_IN_STEM = 0.65;
const SLIP_IN_SHORT_WORD = 0.6;
const TWO_SLIPS = 0.55;

/** Letters that it takes, since a short word is near to many others. */
const BEGINNING_LENGTH_MIN = 3;
const PART_LENGTH_MIN = 4;
const SLIP_LENGTH_MIN = 4;
const LONG_LENGTH_MIN = 5;
const TWO_SLIPS_LENGTH_MIN = 8;
/** Letters that two forms of a word have behind what they share. */
const ENDING_LENGTH_MAX = 3;

/** The words of a query, and where they are in texts. */
export class QueryWords {
  /** How much each of them says. */
  readonly weights: readonly number[];
  /** How many of them have a meaning: those come first. All where none has. */
  readonly meaningCount: number;
  readonly #asked: readonly Asked[];
  /** By the last byte of a character: 1 where a word of the query begins, or ends, with one that has it. */
  readonly #beginnings = new Uint8Array(256);
  readonly #endings = new Uint8Array(256);

  constructor(query: string) {
    const texts = wordsOf(query);
    const [meaning, little] = [false, true].map((isLittle) =>
      [...new Set(texts)].filter((text) => saysLittle(text) === isLittle),
    );
    const words = [...meaning, ...little].slice(0, QUERY_WORDS_MAX);
    this.weights = words.map(weightOf);
    this.meaningCount = Math.min(meaning.length || words.length, words.length);
    const single = words.map((text, i) => ({ text, stem: stemOf(text), words: [i] }));
    const joined = texts.slice(1).map((text, i) => {
      const both = [texts[i], text].map((word) => words.indexOf(word)).filter((word) => word >= 0);
      return { text: texts[i] + text, stem: stemOf(texts[i] + text), words: both };
    });
    this.#asked = [...single, ...joined.filter(({ words }) => words.length > 0).slice(0, QUERY_WORDS_MAX)];
    for (const { text } of this.#asked) {
      this.#beginnings[text.charCodeAt(0) & 0xff] = 1;
      this.#endings[text.charCodeAt(text.length - 1) & 0xff] = 1;
    }
  }

  /** The words of the query in a text, which has been made ready by `comparable`, and how many words the text has. */
  matchesIn(text: string): { readonly matches: readonly WordMatch[]; readonly wordCount: number } {
    const matches: WordMatch[] = [];
    let wordCount = 0;
    for (let start = 0, end = 0; start < text.length; start = end + 1) {
      end = start;
      while (end < text.length && isWordCharacter(text.charCodeAt(end))) end += 1;
      if (end === start) continue;
      wordCount += 1;
      const [first, last] = [text.charCodeAt(start) & 0xff, text.charCodeAt(end - 1) & 0xff];
      if (this.#beginnings[first] === 0 && this.#endings[last] === 0) continue;
      for (const asked of this.#asked) {
        if (!mayBeLike(asked.text, text, start, end)) continue;
        const likeness = likenessOf(asked, text.slice(start, end));
        const isSlip = likeness <= SLIP;
        if (likeness > 0) for (const word of asked.words) matches.push({ word, likeness, isSlip });
      }
    }
    return { matches, wordCount };
  }
}

/** Small letters and digits of ASCII, and everything beyond: `comparable` leaves no other signs there. */
function isWordCharacter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code >= 0x80;
}

/** Whether it is worth looking: most words of a text neither begin nor end as a word of the query. */
function mayBeLike(asked: string, text: string, start: number, end: number): boolean {
  const { length } = asked;
  if (text.charCodeAt(start) === asked.charCodeAt(0)) {
    const isNearLength = Math.abs(end - start - length) <= 1;
    if (isNearLength || text.charCodeAt(start + 1) === asked.charCodeAt(1)) return true;
  }
  if (text.charCodeAt(end - 1) !== asked.charCodeAt(length - 1)) return false;
  return end - start === 1 || length === 1 || text.charCodeAt(end - 2) === asked.charCodeAt(length - 2);
}

function likenessOf({ text, stem, words }: Asked, word: string): number {
  if (word === text) return SAME;
  const wordStem = stemOf(word);
  if (wordStem === stem) return SAME_STEM;
  if (words.length > 1) return 0;
  if (isPaired(word) || /\d/.test(word)) return literalLikeness(text, word);
  return formLikeness(text, word) || slipLikeness(text, stem, word, wordStem);
}

/** Numbers have no forms and no slips. A character of a text without spaces is part of a pair, or the other way round. */
function literalLikeness(asked: string, word: string): number {
  if (isPaired(word)) {
    const isOne = asked.length === 1 || word.length === 1;
    return isOne && (word.includes(asked) || asked.includes(word)) ? PART : 0;
  }
  return asked.length >= BEGINNING_LENGTH_MIN && word.startsWith(asked) ? BEGINNING : 0;
}

/** Other forms of a word, its beginning, and words that are put together: "Arzt" and "Hausarzt". */
function formLikeness(asked: string, word: string): number {
  if (asked.length >= BEGINNING_LENGTH_MIN && word.startsWith(asked)) return BEGINNING;
  const shared = sharedLength(asked, word);
  const ending = Math.max(asked.length, word.length) - shared;
  const isStem = shared >= LONG_LENGTH_MIN || (shared >= PART_LENGTH_MIN && shared === word.length);
  if (isStem && ending <= ENDING_LENGTH_MAX) return OTHER_FORM;
  if (asked.length >= PART_LENGTH_MIN && word.endsWith(asked)) return PART;
  const isInside = word.length >= LONG_LENGTH_MIN && (shared === word.length || asked.endsWith(word));
  return isInside ? PART : 0;
}

function slipLikeness(asked: string, askedStem: string, word: string, stem: string): number {
  if (asked.length < SLIP_LENGTH_MIN || word.length < SLIP_LENGTH_MIN - 1) return 0;
  const isLong = asked.length >= LONG_LENGTH_MIN;
  if (isOneEdit(asked, word)) return isLong ? SLIP : SLIP_IN_SHORT_WORD;
  if (askedStem.length >= LONG_LENGTH_MIN && isOneEdit(askedStem, stem)) return SLIP_IN_STEM;
  const isNear =
    asked.length >= TWO_SLIPS_LENGTH_MIN &&
    asked[0] === word[0] &&
    Math.abs(asked.length - word.length) <= 2 &&
    editDistance(asked, word) <= 2;
  return isNear ? TWO_SLIPS : 0;
}

/** Whether one letter is added, removed or replaced, or two neighbours are swapped. */
function isOneEdit(a: string, b: string): boolean {
  const longer = a.length - b.length;
  if (longer > 1 || longer < -1) return false;
  const start = sharedLength(a, b);
  const rest = (text: string, letters: number) => text.slice(start + letters);
  if (longer !== 0) return rest(a, Number(longer > 0)) === rest(b, Number(longer < 0));
  return (
    rest(a, 1) === rest(b, 1) ||
    (a[start] === b[start + 1] && a[start + 1] === b[start] && rest(a, 2) === rest(b, 2))
  );
}

/** How many letters two words begin with alike. */
function sharedLength(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < length && a.charCodeAt(shared) === b.charCodeAt(shared)) shared += 1;
  return shared;
}
