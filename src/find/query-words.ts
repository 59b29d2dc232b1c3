/**
 * How alike a word of a query and a word of a fact are: the same, another form of it, its beginning, a part of it, or the
 * word with a slip (one edit; two in a long word).
 */

import { editDistance } from "../base/edit-distance.ts";
import { isPaired, isStopWord, singularOf, spelledOut, stemOf, weightOf, wordsOf } from "./words.ts";

/** A word of a query, or two neighbours as one: "time zone" finds "timezone". */
export interface QueryWord {
  readonly text: string;
  readonly stem: string;
  /** Which words of the query it stands for. */
  readonly words: readonly number[];
}

/** What a word of a fact is for a word of the query. */
interface Similarity {
  /** More than 0, at most 1. */
  readonly similarity: number;
  /**
   * `word`: the word itself, a form of it or its beginning. `part`: one of them is part of the other. `slip`: the word as
   * it may have been mistyped. `guess`: a slip that is as likely another word.
   */
  readonly kind: "word" | "part" | "slip" | "guess";
}

/** A slip that is further away may be another word: "medicine" and "Médecins". */
export function isSureMatch(like: Similarity | undefined): boolean {
  return like !== undefined && (like.kind === "word" || like.kind === "part" || like === SLIP);
}

/** Words of a query that count. */
const QUERY_WORDS_MAX = 16;

const SAME: Similarity = { kind: "word", similarity: 1 };
const SAME_STEM: Similarity = { kind: "word", similarity: 0.95 };
const BEGINNING: Similarity = { kind: "word", similarity: 0.85 };
const OTHER_FORM: Similarity = { kind: "word", similarity: 0.75 };
const PART: Similarity = { kind: "part", similarity: 0.72 };
const SLIP: Similarity = { kind: "slip", similarity: 0.85 };
const SLIP_IN_STEM: Similarity = { kind: "slip", similarity: 0.75 };
const TWO_SLIPS: Similarity = { kind: "slip", similarity: 0.65 };
const GUESS: Similarity = { kind: "guess", similarity: 0.5 };

/** Letters that it takes, since a short word is near to many others. */
const BEGINNING_LENGTH_MIN = 3;
const PART_LENGTH_MIN = 4;
const SLIP_LENGTH_MIN = 4;
const LONG_LENGTH_MIN = 5;
const TWO_SLIPS_LENGTH_MIN = 8;
/** Letters that two forms of a word have behind what they share. */
const ENDING_LENGTH_MAX = 3;

/** The words of a query. */
export class QueryWords {
  /** How much each of them says. */
  readonly weights: readonly number[];
  /** How many of them have a meaning: those come first. All where none has. */
  readonly meaningCount: number;
  readonly asked: readonly QueryWord[];

  constructor(query: string) {
    const texts = wordsOf(query);
    const [meaning, little] = [false, true].map((isLittle) =>
      [...new Set(texts)].filter((text) => isStopWord(text) === isLittle),
    );
    const words = [...meaning, ...little].slice(0, QUERY_WORDS_MAX);
    this.weights = words.map(weightOf);
    this.meaningCount = Math.min(meaning.length || words.length, words.length);
    const single = words.map((text, i) => ({ text, stem: stemOf(text), words: [i] }));
    const joined = texts.slice(1).map((text, i) => {
      const both = [texts[i], text].map((word) => words.indexOf(word)).filter((word) => word >= 0);
      return { text: texts[i] + text, stem: stemOf(texts[i] + text), words: both };
    });
    // "TUEV" is found by "TÜV".
    const spelled = wordsOf(spelledOut(query)).flatMap((text, i) => {
      const at = text === texts[i] ? -1 : words.indexOf(texts[i]);
      return at < 0 ? [] : [{ text, stem: stemOf(text), words: [at] }];
    });
    this.asked = [
      ...single,
      ...spelled.slice(0, QUERY_WORDS_MAX),
      ...joined.filter(({ words }) => words.length > 0).slice(0, QUERY_WORDS_MAX),
    ];
  }
}

/** Undefined where a word of a fact has nothing to do with a word of a query. */
export function similarityOf(
  asked: QueryWord,
  { text: word, stem }: { readonly text: string; readonly stem: string },
): Similarity | undefined {
  if (!mayBeLike(asked.text, word)) return undefined;
  if (word === asked.text) return SAME;
  if (stem === asked.stem) return SAME_STEM;
  if (asked.words.length > 1) return undefined;
  if (isPaired(word) || /\d/.test(word)) return literalSimilarity(asked.text, word);
  if (isStopWord(word)) return undefined;
  return formSimilarity(asked.text, word) ?? slipSimilarity(asked, word, stem);
}

/** Whether it is worth looking: most words neither begin nor end as a word of the query. */
function mayBeLike(asked: string, word: string): boolean {
  const { length } = asked;
  if (word.charCodeAt(0) === asked.charCodeAt(0)) {
    const isNearLength = Math.abs(word.length - length) <= 1;
    if (isNearLength || word.charCodeAt(1) === asked.charCodeAt(1)) return true;
  }
  if (word.charCodeAt(word.length - 1) !== asked.charCodeAt(length - 1)) return false;
  return (
    word.length === 1 || length === 1 || word.charCodeAt(word.length - 2) === asked.charCodeAt(length - 2)
  );
}

/** Numbers have no forms and no slips. A character of a text without spaces is part of a pair, or the other way round. */
function literalSimilarity(asked: string, word: string): Similarity | undefined {
  if (isPaired(word)) {
    const isOne = asked.length === 1 || word.length === 1;
    return isOne && (word.includes(asked) || asked.includes(word)) ? PART : undefined;
  }
  return asked.length >= BEGINNING_LENGTH_MIN && word.startsWith(asked) ? BEGINNING : undefined;
}

/** Other forms of a word, its beginning, and words that are put together: "Arzt" and "Hausarzt". */
function formSimilarity(asked: string, word: string): Similarity | undefined {
  if (asked.length >= BEGINNING_LENGTH_MIN && word.startsWith(asked)) return BEGINNING;
  const shared = sharedLength(asked, word);
  const ending = Math.max(asked.length, word.length) - shared;
  const isStem = shared >= LONG_LENGTH_MIN || (shared >= PART_LENGTH_MIN && shared === word.length);
  if (isStem && ending <= ENDING_LENGTH_MAX) return OTHER_FORM;
  if (asked.length >= PART_LENGTH_MIN && word.endsWith(asked)) return PART;
  const isInside = word.length >= LONG_LENGTH_MIN && (shared === word.length || asked.endsWith(word));
  return isInside ? PART : undefined;
}

function slipSimilarity(
  { text: asked, stem: askedStem }: QueryWord,
  word: string,
  stem: string,
): Similarity | undefined {
  if (asked.length < SLIP_LENGTH_MIN || word.length < SLIP_LENGTH_MIN - 1) return undefined;
  if (isOneEdit(asked, word)) return isGuess(asked, word) ? GUESS : SLIP;
  if (askedStem.length >= LONG_LENGTH_MIN && isOneEdit(askedStem, stem)) return SLIP_IN_STEM;
  const [one, other] = [singularOf(asked), singularOf(word)];
  if (one.length >= LONG_LENGTH_MIN && isOneEdit(one, other)) return SLIP_IN_STEM;
  const isNear =
    asked.length >= TWO_SLIPS_LENGTH_MIN &&
    asked[0] === word[0] &&
    Math.abs(asked.length - word.length) <= 2 &&
    editDistance(asked, word) <= 2;
  return isNear ? TWO_SLIPS : undefined;
}

/**
 * Whether one edit more likely makes another word than the one that was meant: in a short word, unless a letter is
 * missing or two are swapped; and where the first letter is another one, which is seldom mistyped.
 */
function isGuess(asked: string, word: string): boolean {
  if (asked[0] !== word[0]) return asked.length < TWO_SLIPS_LENGTH_MIN;
  if (asked.length >= LONG_LENGTH_MIN || word.length > asked.length) return false;
  return [...asked].sort().join() !== [...word].sort().join();
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
