/**
 * Which groups of facts are folded. A small memory is open; of a large one the first groups are, so that the page is quick.
 * What the person folds or unfolds is kept as long as the page is open, and goes when the key is forgotten or everything is
 * erased.
 */

import { useRef, useState } from "preact/hooks";
import { groupOf } from "../../base/channel-labels.ts";
import type { StoredFact } from "../../contract/answers.ts";
import { STANDARD_GROUPS } from "../parts/format.ts";

/** Groups are unfolded from the top as long as all of them together have no more facts. */
const UNFOLDED_FACTS_MAX = 100;
/** By group, what the person has chosen. It outlives the view of one memory. */
let kept: Readonly<Record<string, boolean>> = {};

export interface Folds {
  readonly isFolded: (group: string) => boolean;
  readonly fold: (groups: readonly string[], isFolded: boolean) => void;
}

/** @param counts how many facts each group has, in the order of the page; undefined until they are read */
export function useFolds(counts: ReadonlyMap<string, number> | undefined): Folds {
  const [chosen, setChosen] = useState(kept);
  /** Decided once: a group is not folded while somebody looks at it. */
  const folded = useRef<ReadonlySet<string>>(undefined);
  if (counts !== undefined) folded.current ??= foldedAtFirst(counts);
  return {
    isFolded: (group) => chosen[group] ?? folded.current?.has(group) ?? false,
    fold: (groups, isFolded) => {
      kept = { ...chosen, ...Object.fromEntries(groups.map((group) => [group, isFolded])) };
      setChosen(kept);
    },
  };
}

function foldedAtFirst(counts: ReadonlyMap<string, number>): ReadonlySet<string> {
  let sum = 0;
  return new Set(
    [...counts].flatMap(([group, count]) => {
      sum += count;
      return sum > UNFOLDED_FACTS_MAX ? [group] : [];
    }),
  );
}

/** By group, the standard ones first. */
export function countByGroup(facts: readonly StoredFact[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { label } of facts) counts.set(groupOf(label), (counts.get(groupOf(label)) ?? 0) + 1);
  return new Map([...counts].sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b)));
}

function rank(group: string): number {
  return STANDARD_GROUPS.indexOf(group) + 1 || STANDARD_GROUPS.length + 1;
}

export function forgetFolds(): void {
  kept = {};
}
