/** find: facts by words of labels, descriptions and values, and by meaning where that is set, in the places of a call or in all places of a person. */

import { invalidRequest } from "../base/errors.ts";
import { QUERY_LENGTH_MAX } from "../base/limits.ts";
import { inSlices } from "../base/slices.ts";
import { RANKED_MAX, reciprocalRankFusion } from "../find/meaning.ts";
import type { Person } from "./places.ts";
import type { FactRecord } from "./ports.ts";
import type { MemoryServices } from "./services.ts";
import { type OwnMark, ownMark } from "./shared-places.ts";
import { viewFor } from "./shared-projects.ts";

/** Facts that are found where a call does not say how many. */
export const FOUND_DEFAULT = 10;

interface FindInput extends Person {
  readonly query: string;
  readonly limit: number;
  /** Looks in all projects; what counts in the places of the call is preferred. */
  readonly everywhere?: boolean | undefined;
}

interface FoundRecord extends OwnMark {
  readonly record: FactRecord;
  readonly score: number;
  readonly isGuess: boolean;
}

export interface FoundRecords {
  readonly by: "words" | "words+meaning";
  /** The best first. */
  readonly found: readonly FoundRecord[];
}

export async function findUserFacts(
  services: MemoryServices,
  account: string,
  { query, limit, everywhere = false, ...person }: FindInput,
): Promise<FoundRecords> {
  if (query === "" || [...query.slice(0, 2 * QUERY_LENGTH_MAX + 1)].length > QUERY_LENGTH_MAX)
    throw invalidRequest("q", `What is looked for has 1 to ${QUERY_LENGTH_MAX} characters.`);
  const { meaning } = services;
  const view = await viewFor(services, account, person);
  const [vector, index] = await Promise.all([
    meaning?.vectorOf(query),
    services.indexes.of(view, everywhere),
  ]);
  const isRanked = meaning !== undefined && vector !== undefined;
  const near = isRanked ? await meaning.nearest(view, index, vector) : [];
  const countMax = near.length === 0 ? limit : RANKED_MAX;
  const byWords = await inSlices(index.find(query, countMax), () => services.turns.next(account));
  const joined = near.length === 0 ? byWords : reciprocalRankFusion(byWords, near).slice(0, limit);
  return {
    by: near.length === 0 ? "words" : "words+meaning",
    found: joined.map(({ fact: { record }, score, isUnsure }) => ({
      record,
      score,
      isGuess: isUnsure,
      ...ownMark(view, record.place),
    })),
  };
}
