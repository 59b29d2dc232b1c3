/** What a store has found of a user for the law, and what the law says has become of each label. */

import type { EarlierFact, FactChange, FactRecord, WriteReport } from "../ports.ts";
import type { FreeLabel, Place } from "../records.ts";

export interface FactName {
  readonly place: Place;
  readonly label: string;
}

/** One label at one place, as a store has found it. */
export interface FoundFact extends FactName {
  readonly present: FactRecord | undefined;
  /** The oldest first; empty where the change did not ask for it. */
  readonly earlier: readonly EarlierFact[];
  /** The ordinal of the last value, of the present or of the last earlier one; 0: there was none. */
  readonly last: number;
  /** How many earlier values are stored, where that is known without reading them. */
  readonly kept?: number;
}

/** How full the places of a user are, as a store has found it. */
export interface PlaceCounts {
  /** Projects and worktrees with facts. */
  readonly places: number;
  /** Facts at a place, expired ones included. */
  readonly factsAt: (place: Place) => number;
}

/** What a store has found of a user. */
export interface FoundUser {
  /** That of the last change; of a user who is new, the last one that any user of this name ever had, or a higher one. */
  readonly revision: number;
  /** Facts at all places, expired ones included. */
  readonly facts: number;
  /** Labels at all places that have a history and no fact. */
  readonly heads: number;
  readonly named: readonly FoundFact[];
  /** The last number that a label which the person has made was given. */
  readonly numbers?: number;
  /** Those that the person has made, of the labels that were asked for. */
  readonly labels?: readonly FreeLabel[];
  /** It is that of a shared project: who has written a value is kept. */
  readonly isOfProject?: boolean;
  /** All of the places that were asked for was found, and what is not there was not. */
  readonly isWhole?: boolean;
  /** Needed only where a user has, or gets, more than UNCHECKED_FACTS_MAX facts. (bounds.ts) */
  readonly counts?: PlaceCounts | undefined;
}

/** What has become of one label at one place. */
export interface FactDifference extends FactName {
  readonly before: FactRecord | undefined;
  readonly present: FactRecord | undefined;
  /** The ordinal of the last value before, and now. */
  readonly lastBefore: number;
  readonly last: number;
  /** What is stored of the history with a lower ordinal goes. Then this is added. */
  readonly dropBelow: number;
  readonly added: readonly EarlierFact[];
}

export interface Author {
  readonly writtenBy: string | null;
  readonly sessionId: string | null;
  /** Kept where the fact is a shared project's. */
  readonly userId?: string | undefined;
}

/** One fact set or forgotten, by whom and when. */
export interface Step {
  readonly change: FactChange;
  readonly author: Author;
  readonly nowMs: number;
}

export interface Steps {
  /** A list, or made while they are taken. */
  readonly steps: Iterable<Step>;
  readonly report?: WriteReport;
}
