/** The values that a fact had: what a value becomes when it ends, which of those that are stored count, and whose place another takes. */

import { assert } from "../../base/assert.ts";
import type { EarlierFact, FactRecord } from "../ports.ts";

/** The earlier values that follow one another up to the last: where less was kept for a while, some are missing. */
export function withoutGaps(
  earlier: readonly EarlierFact[],
  present: FactRecord | undefined,
  isExpired: boolean,
): readonly EarlierFact[] {
  let expected = present === undefined || isExpired ? (earlier.at(-1)?.ordinal ?? 0) : present.ordinal - 1;
  const first = earlier.findLastIndex(({ ordinal }) => ordinal !== expected--);
  return earlier.slice(first + 1);
}

export function earlierOf(fact: FactRecord, ended: EarlierFact["ended"], endedAtMs: number): EarlierFact {
  // Written out: to copy all but a few takes a tenth of a write.
  const kept: Required<Omit<EarlierFact, "origin" | "pinned" | "former" | "author" | "endedBy">> = {
    place: fact.place,
    label: fact.label,
    value: fact.value,
    revision: fact.revision,
    updatedAtMs: fact.updatedAtMs,
    sinceMs: fact.sinceMs,
    expiresAtMs: fact.expiresAtMs,
    writtenBy: fact.writtenBy,
    sessionId: fact.sessionId,
    ordinal: fact.ordinal,
    ended,
    endedAtMs,
  };
  const { origin, pinned, author } = fact;
  if (origin === undefined && pinned === undefined && author === undefined) return kept;
  return { ...kept, ...(origin && { origin }), ...(pinned && { pinned }), ...(author && { author }) };
}

/** A fact that has expired, although nobody has ended it yet. */
export function asExpired(fact: FactRecord): EarlierFact {
  assert(fact.expiresAtMs !== null, "an expired fact has a moment");
  return earlierOf(fact, "expired", fact.expiresAtMs);
}

/**
 * Where the value before differs from a fact in its end alone, the fact takes its place in the history: an end that is moved
 * again and again does not push other values out.
 */
export function placeOfMoved(before: EarlierFact | undefined, fact: FactRecord) {
  if (before === undefined) return undefined;
  const { ordinal, sinceMs, expiresAtMs, value, origin, pinned, ended, former } = before;
  const isMoved = ended === "replaced" && former === undefined && value === fact.value;
  const hasEnds = expiresAtMs !== null && fact.expiresAtMs !== null;
  const isAlike = origin === fact.origin && (pinned === true) === (fact.pinned === true);
  const isNext = ordinal === fact.ordinal - 1;
  return isMoved && hasEnds && isAlike && isNext ? { ordinal, sinceMs } : undefined;
}
