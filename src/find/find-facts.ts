/**
 * Finds facts by the words of their labels, descriptions and values. An index has every word once, with the facts that
 * have it. Every word of a query counts with the word of a fact that is most like it (query-words.ts). Words that few
 * facts have weigh more (the inverse document frequency of BM25, Robertson and Zaragoza 2009), those without a meaning
 * next to nothing.
 *
 * It is pure and works in slices, for the service and for pages.
 */

import type { Sliced } from "../base/slices.ts";
import { isSureMatch, type QueryWord, QueryWords, similarityOf } from "./query-words.ts";
import { spelledOut, stemOf, wordsOf } from "./words.ts";

export interface FindableFact {
  readonly label: string;
  readonly value: string;
  /** What the label is for. */
  readonly description?: string | null | undefined;
  /** Not in the places of the call. */
  readonly isElsewhere?: boolean | undefined;
}

export interface FoundFact<F> {
  readonly fact: F;
  /** More than 0, at most 1: a label that has all words of the query and no others. */
  readonly score: number;
  /** It has no word of the query, but short ones that differ by a letter: "wifi" for "wife". */
  readonly isGuess: boolean;
  /** A guess; or it is found by a far slip alone, or has half of the words or fewer, and none of them in its name. */
  readonly isUnsure: boolean;
}

/** What a match counts by where it is. */
const LABEL_WEIGHT = 1;
const DESCRIPTION_WEIGHT = 0.9;
const VALUE_WEIGHT = 0.85;
/** What a text of very many words loses against one that has only the word. */
const LENGTH_WEIGHT = 0.1;
const ELSEWHERE_WEIGHT = 0.6;
/** What a slip counts where some fact has the word itself. */
const DOUBTED_SLIP_WEIGHT = 0.35;
/** Facts with less of the best score than this are not what was meant. */
const SCORE_SHARE_MIN = 0.2;
/** Of so many facts that have a word, each takes little time: only after all of them others have a turn. */
const LOOKED_AT = 64;

/** A word of facts, and how much it weighs in each of them. */
interface IndexedWord {
  readonly text: string;
  readonly stem: string;
  /** Places in the list of facts, and beside each the weight of the field that has the word. */
  readonly facts: number[];
  readonly weights: number[];
}

/** Facts that are found by words, prepared for many queries. */
export class FactIndex<F extends FindableFact> {
  readonly facts: F[] = [];
  readonly #words = new Map<string, IndexedWord>();
  /** By their first and their last character: a word that is like another has one of them in common with it. */
  readonly #beginnings = new Map<number, IndexedWord[]>();
  readonly #endings = new Map<number, IndexedWord[]>();

  static *of<F extends FindableFact>(facts: Iterable<F>): Sliced<FactIndex<F>> {
    const index = new FactIndex<F>();
    for (const fact of facts) {
      yield;
      index.#add(fact);
    }
    return index;
  }

  /** The facts that have words of a query, the best first; those with the same score by label, else as they came. */
  *find(query: string, limit: number): Sliced<FoundFact<F>[]> {
    const words = new QueryWords(query);
    const matches = yield* this.#matchesOf(words.asked);
    const sums = new Map<number, { sum: number; isGuess: boolean; sureCount: number }>();
    let weightOfAll = 0;
    for (const [word, ownWeight] of words.weights.entries()) {
      yield;
      const { best, count } = yield* bestByFact(matches.filter(({ asked }) => asked.words.includes(word)));
      const weight = ownWeight * Math.log(1 + (this.facts.length - count + 0.5) / (count + 0.5));
      weightOfAll += weight;
      for (const [fact, { similarity, isGuess, isSure }] of best) {
        if (fact % LOOKED_AT === 0) yield;
        const known = sums.get(fact);
        // A word without a meaning finds nothing.
        if (known === undefined && word >= words.meaningCount) continue;
        const sum = (known?.sum ?? 0) + weight * similarity;
        const sureCount = (known?.sureCount ?? 0) + Number(isSure && word < words.meaningCount);
        sums.set(fact, { sum, isGuess: isGuess && (known?.isGuess ?? true), sureCount });
      }
    }
    const isSure = [...sums.values()].some(({ isGuess }) => !isGuess);
    const best: FoundFact<F>[] = [];
    for (const [at, { sum, isGuess, sureCount }] of sums) {
      yield;
      if (isSure && isGuess) continue;
      const fact = this.facts[at];
      const score = (sum / weightOfAll) * (fact.isElsewhere ? ELSEWHERE_WEIGHT : 1);
      const isHalf = words.meaningCount > 1 && 2 * sureCount <= words.meaningCount;
      const found = { fact, score, isGuess, isUnsure: sureCount === 0 || isHalf };
      if (best.length === limit && byScore(best[limit - 1], found) <= 0) continue;
      best.push(found);
      best.sort(byScore);
      best.splice(limit);
    }
    return best
      .filter(({ score }) => score >= best[0].score * SCORE_SHARE_MIN)
      .map((found) => (found.isUnsure && isNamed(found.fact, words) ? { ...found, isUnsure: false } : found));
  }

  /** The words of facts that are like a word of the query. */
  *#matchesOf(allAsked: readonly QueryWord[]): Sliced<Match[]> {
    const matches: Match[] = [];
    for (const asked of allAsked) {
      yield;
      const [first, last] = ends(asked.text);
      const look = (word: IndexedWord) => {
        const like = similarityOf(asked, word);
        if (like !== undefined) matches.push({ asked, word, like });
      };
      this.#beginnings.get(first)?.forEach(look);
      for (const word of this.#endings.get(last) ?? []) if (ends(word.text)[0] !== first) look(word);
    }
    return matches;
  }

  #add(fact: F): void {
    const at = this.facts.push(fact) - 1;
    const { label, description, value } = fact;
    // FAMILY.wife is about the wife and nothing else.
    this.#addText(at, label, LABEL_WEIGHT, 1);
    // "keybox" is KEY_BOX, and "email" an e-mail.
    const name = label.slice(label.indexOf(".") + 1);
    if (name.includes("_")) this.#addText(at, name.replaceAll("_", ""), LABEL_WEIGHT);
    if (description) this.#addText(at, description, DESCRIPTION_WEIGHT);
    this.#addText(at, value, VALUE_WEIGHT);
    if (value.includes("-")) this.#addText(at, value.replaceAll("-", ""), VALUE_WEIGHT);
  }

  #addText(fact: number, text: string, fieldWeight: number, wordsBeside = 0): void {
    const words = wordsOf(text);
    const length = Math.max(1, words.length - wordsBeside);
    const weight = fieldWeight * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT / length);
    // "TÜV" is TUEV as well.
    const spelled = spelledOut(text);
    if (spelled !== text) this.#addText(fact, spelled, fieldWeight, wordsBeside);
    for (const text of words) {
      let word = this.#words.get(text);
      if (word === undefined) {
        word = { text, stem: stemOf(text), facts: [], weights: [] };
        this.#words.set(text, word);
        const [first, last] = ends(text);
        addTo(this.#beginnings, first, word);
        addTo(this.#endings, last, word);
      }
      const last = word.facts.length - 1;
      if (word.facts[last] === fact) word.weights[last] = Math.max(word.weights[last], weight);
      else {
        word.facts.push(fact);
        word.weights.push(weight);
      }
    }
  }
}

function ends(text: string): [first: number, last: number] {
  return [text.charCodeAt(0), text.charCodeAt(text.length - 1)];
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function byScore(a: FoundFact<FindableFact>, b: FoundFact<FindableFact>): number {
  const [one, other] = [a.fact.label, b.fact.label];
  return b.score - a.score || Number(one > other) - Number(one < other);
}

/** Whether the name of its label has a word of the query. */
function isNamed({ label }: FindableFact, { asked, meaningCount }: QueryWords): boolean {
  const name = wordsOf(label.slice(label.indexOf(".") + 1));
  return asked.some(
    (word) =>
      word.words.some((at) => at < meaningCount) &&
      name.some((text) => isSureMatch(similarityOf(word, { text, stem: stemOf(text) }))),
  );
}

/** A word of facts that is like a word of the query. */
interface Match {
  readonly like: NonNullable<ReturnType<typeof similarityOf>>;
  readonly asked: QueryWord;
  readonly word: IndexedWord;
}

interface BestByFact {
  readonly best: Map<
    number,
    { readonly similarity: number; readonly isGuess: boolean; readonly isSure: boolean }
  >;
  readonly count: number;
}

/** How well each fact matches a word of the query, and how many facts have it. */
function* bestByFact(matches: readonly Match[]): Sliced<BestByFact> {
  const best: BestByFact["best"] = new Map();
  const isKnown = matches.some(({ like }) => like.kind === "word");
  const having = new Set<number>();
  for (const { like, word } of matches) {
    const { kind, similarity } = like;
    const isSlip = kind === "slip" || kind === "guess";
    const slipWeight = isKnown && isSlip ? DOUBTED_SLIP_WEIGHT : 1;
    for (const [i, fact] of word.facts.entries()) {
      if (i % LOOKED_AT === 0) yield;
      if (!(isKnown && isSlip)) having.add(fact);
      const weighed = word.weights[i] * similarity * slipWeight;
      const found = { similarity: weighed, isGuess: kind === "guess", isSure: isSureMatch(like) };
      const before = best.get(fact);
      if (before === undefined || before.similarity < found.similarity) best.set(fact, found);
    }
  }
  return { best, count: having.size };
}
