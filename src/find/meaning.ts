/**
 * Facts by meaning: vectors of an embedding model, kept in a byte for each dimension, are compared by their cosine. What
 * was found by words and by meaning is joined by rank (reciprocal rank fusion, Cormack and others 2009); what was found by
 * words counts as much as its words say.
 */

import type { FindableFact, FoundFact } from "./find-facts.ts";

/** Facts of each list that count. */
export const RANKED_MAX = 50;
const RANK_OFFSET = 5;
const WORDS_WEIGHT = 3;
const COMPONENT_MAX = 127;

/** What a model is given of a fact: what it is called, and all of it. */
export function textsOf({ label, description, value }: FindableFact): readonly [name: string, all: string] {
  const name = label.toLowerCase().replace(/[._]/g, " ");
  return [name, `${name}: ${description ? `${description}: ` : ""}${value}`];
}

/** One vector of those of a fact's texts. Questions are more like names than like values, so a name counts as much as all. */
export function meanVector(vectors: readonly (readonly number[])[]): number[] {
  const lengths = vectors.map((vector) => Math.hypot(...vector) || 1);
  return vectors[0].map((_, i) => vectors.reduce((sum, vector, at) => sum + vector[i] / lengths[at], 0));
}

/** A vector with its length left out, which a cosine does not need. */
export function packVector(vector: readonly number[]): Int8Array {
  const largest = vector.reduce((max, component) => Math.max(max, Math.abs(component)), Number.MIN_VALUE);
  return Int8Array.from(vector, (component) => Math.round((component / largest) * COMPONENT_MAX));
}

function cosineOf(a: Int8Array, b: Int8Array): number {
  let [product, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    product += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return aa === 0 || bb === 0 ? 0 : product / Math.sqrt(aa * bb);
}

/** The facts whose vectors are nearest to a query's and stand out among all, the nearest first. */
export function nearestFacts<F>(
  facts: readonly F[],
  vectors: readonly (Int8Array | undefined)[],
  query: Int8Array,
): F[] {
  const compared = facts.flatMap((fact, i) => {
    const vector = vectors[i];
    return vector?.length === query.length ? [{ fact, cosine: cosineOf(vector, query) }] : [];
  });
  const mean = compared.reduce((sum, { cosine }) => sum + cosine, 0) / compared.length;
  return compared
    .filter(({ cosine }) => cosine > 0 && cosine >= mean)
    .sort((a, b) => b.cosine - a.cosine)
    .slice(0, RANKED_MAX)
    .map(({ fact }) => fact);
}

/** Both lists as one, the best first; the score of a fact that is the first of both, and has all words, is 1. */
export function reciprocalRankFusion<F>(
  byWords: readonly FoundFact<F>[],
  byMeaning: readonly F[],
): FoundFact<F>[] {
  const sums = new Map<F, number>();
  const add = (fact: F, rank: number, weight: number) =>
    sums.set(fact, (sums.get(fact) ?? 0) + (weight * RANK_OFFSET) / (RANK_OFFSET + rank));
  for (const [rank, { fact, score, isGuess }] of byWords.entries())
    if (!isGuess) add(fact, rank, WORDS_WEIGHT * score);
  const unsure = new Set(byWords.flatMap(({ fact, isUnsure }) => (isUnsure ? [fact] : [])));
  const near = new Set(byMeaning);
  for (const [rank, fact] of byMeaning.entries()) add(fact, rank, 1);
  return [...sums]
    .map(([fact, sum]) => {
      const isUnsure = !near.has(fact) && unsure.has(fact);
      return { fact, score: sum / (WORDS_WEIGHT + 1), isGuess: false, isUnsure };
    })
    .sort((a, b) => b.score - a.score);
}
