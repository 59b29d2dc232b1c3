/** find: facts by words of labels, descriptions and values, in the places of a call or in all places of a person. */

import { invalidRequest } from "../base/errors.ts";
import { QUERY_LENGTH_MAX } from "../base/limits.ts";
import { inSlices } from "../base/slices.ts";
import { type FindableFact, findFacts } from "../find/find-facts.ts";
import { allFreeLabels } from "./free-labels.ts";
import { type Person, viewOf } from "./places.ts";
import type { FactRecord } from "./ports.ts";
import type { Place } from "./records.ts";
import type { MemoryServices } from "./services.ts";

/** Facts that are found where a call does not say how many. */
export const FOUND_DEFAULT = 10;

export interface FindInput extends Person {
  readonly query: string;
  readonly limit: number;
  /** Looks in all projects; what counts in the places of the call is preferred. */
  readonly everywhere?: boolean | undefined;
}

export interface FoundRecord {
  readonly record: FactRecord;
  readonly score: number;
}

/** The best first. */
export async function findUserFacts(
  services: MemoryServices,
  account: string,
  { query, limit, everywhere = false, ...person }: FindInput,
): Promise<readonly FoundRecord[]> {
  if (query === "" || [...query.slice(0, 2 * QUERY_LENGTH_MAX + 1)].length > QUERY_LENGTH_MAX)
    throw invalidRequest("q", `What is looked for has 1 to ${QUERY_LENGTH_MAX} characters.`);
  const { store, clock } = services;
  const view = viewOf(account, person, clock.now());
  const turn = () => services.turns.next(account);
  const asked = { nowMs: view.nowMs, isPresent: true };
  const state = await (everywhere ? store.readLife(account, view.userId, asked) : store.readUser(view));
  const facts = state?.facts ?? [];
  const known = await services.labels.of(account);
  const hasFree = facts.some(({ label }) => known.find(label) === undefined);
  const free = hasFree ? await allFreeLabels(store, view, turn) : undefined;
  const counting = everywhere ? countingPlaces(facts, view.places) : undefined;
  const findable = function* (): Generator<FindableFact & { readonly record: FactRecord }> {
    for (const record of facts) {
      const { label, value, place } = record;
      const { description } = known.find(label) ?? free?.get(label) ?? {};
      const isElsewhere = counting !== undefined && counting.get(label) !== place;
      yield { label, value, description, isElsewhere, record };
    }
  };
  const found = await inSlices(findFacts(findable(), query, limit), turn);
  return found.map(({ fact: { record }, score }) => ({ record, score }));
}

/** Where the fact that counts in some places is, by label. The facts come by place, and outer places before inner ones. */
function countingPlaces(facts: readonly FactRecord[], places: readonly Place[]): Map<string, Place> {
  const counting = new Map<string, Place>();
  for (const { label, place } of facts) if (places.includes(place)) counting.set(label, place);
  return counting;
}
