/**
 * Finds facts by the words of their labels, descriptions and values. Every word of the query counts with the word of a
 * fact that is most like it (query-words.ts). Words that few facts have weigh more (the inverse document frequency of
 * BM25, Robertson and Zaragoza 2009), those without a meaning next to nothing.
 *
 * It is pure and works in slices, for the service and for pages.
 */

import type { Sliced } from "../base/slices.ts";
import { QueryWords } from "./query-words.ts";
import { comparable } from "./words.ts";

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
}

/** What a match counts by where it is. */
const LABEL_WEIGHT = 1;
const DESCRIPTION_WEIGHT = 0.9;
const VALUE_WEIGHT = 0.85;
/** What a text of very many words loses against one that has only the word. */
const LENGTH_WEIGHT = 0.1;
const ELSEWHERE_WEIGHT = 0.6;
/** What a slip counts where some fact has the word itself. */
const DOUBTED_SLIP_WEIGHT = 0.4;
/** Facts with less of the best score than this are not what was meant. */
const SCORE_SHARE_MIN = 0.2;

/** The facts that have words of a query, the best first; those with the same score by label, else as they came. */
export function* findFacts<F extends FindableFact>(
  facts: Iterable<F>,
  query: string,
  limit: number,
): Sliced<FoundFact<F>[]> {
  const words = new QueryWords(query);
  const matched: { fact: F; match: FactMatch }[] = [];
  const counts = {
    certain: new Float64Array(words.weights.length),
    slips: new Float64Array(words.weights.length),
  };
  let factCount = 0;
  for (const fact of facts) {
    yield;
    factCount += 1;
    const match = matchOf(fact, words);
    if (match === undefined) continue;
    matched.push({ fact, match });
    for (const kind of ["certain", "slips"] as const)
      for (const [i, likeness] of match[kind].entries()) if (likeness > 0) counts[kind][i] += 1;
  }
  const asked = words.weights.map((weight, i) => {
    const count = counts.certain[i] || counts.slips[i];
    const rarity = Math.log(1 + (factCount - count + 0.5) / (count + 0.5));
    const slipWeight = counts.certain[i] > 0 ? DOUBTED_SLIP_WEIGHT : 1;
    return { weight: rarity * weight, slipWeight };
  });
  const weightOfAll = asked.reduce((sum, { weight }) => sum + weight, 0);
  const best: FoundFact<F>[] = [];
  for (const { fact, match } of matched) {
    yield;
    let sum = 0;
    for (const [i, { weight, slipWeight }] of asked.entries())
      sum += weight * Math.max(match.certain[i], match.slips[i] * slipWeight);
    best.push({ fact, score: (sum / weightOfAll) * (fact.isElsewhere ? ELSEWHERE_WEIGHT : 1) });
    best.sort(byScore);
    best.splice(limit);
  }
  return best.filter(({ score }) => score >= best[0].score * SCORE_SHARE_MIN);
}

function byScore(a: FoundFact<FindableFact>, b: FoundFact<FindableFact>): number {
  const [one, other] = [a.fact.label, b.fact.label];
  return b.score - a.score || Number(one > other) - Number(one < other);
}

/** How well a fact matches each word of the query; 0: not at all. */
interface FactMatch {
  readonly certain: Float64Array;
  /** With a slip. */
  readonly slips: Float64Array;
}

/** Undefined where no word with a meaning matches. */
function matchOf({ label, description, value }: FindableFact, query: QueryWords): FactMatch | undefined {
  let match: FactMatch | undefined;
  let hasMeaning = false;
  const look = (text: string, fieldWeight: number, wordsBeside = 0) => {
    const { matches, wordCount } = query.matchesIn(comparable(text));
    if (matches.length === 0) return;
    match ??= {
      certain: new Float64Array(query.weights.length),
      slips: new Float64Array(query.weights.length),
    };
    const length = Math.max(1, wordCount - wordsBeside);
    const weight = fieldWeight * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT / length);
    for (const { word, likeness, isSlip } of matches) {
      const best = isSlip ? match.slips : match.certain;
      best[word] = Math.max(best[word], weight * likeness);
      hasMeaning ||= word < query.meaningCount;
    }
  };
  // FAMILY.wife is about the wife and nothing else.
  look(label, LABEL_WEIGHT, 1);
  // "keybox" is KEY_BOX, and "email" an e-mail.
  look(label.slice(label.indexOf(".") + 1).replaceAll("_", ""), LABEL_WEIGHT);
  if (description) look(description, DESCRIPTION_WEIGHT);
  look(value, VALUE_WEIGHT);
  if (value.includes("-")) look(value.replaceAll("-", ""), VALUE_WEIGHT);
  return hasMeaning ? match : undefined;
}
