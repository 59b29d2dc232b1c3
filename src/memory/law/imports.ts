/**
 * A past that is written again: the values of labels with their times and writers, one after the other, so that the law
 * itself makes the history. Where a label is known already, only its present value is written, and an import may be
 * repeated.
 */

import type { Sliced } from "../../base/slices.ts";
import type { FactChange, FreeTerms, ImportChange, PastValue } from "../ports.ts";
import type { FactName, Step, Steps } from "./found-user.ts";
import type { Memory } from "./user-memory.ts";

/** A step, and the revision that it had, by which the steps of several labels are put in order. */
interface PastStep {
  readonly step: Step;
  readonly revision: number;
}

export function* importSteps(memory: Memory, { lives }: ImportChange, nowMs: number): Sliced<Steps> {
  let facts = 0;
  const steps: PastStep[] = [];
  for (const { place, label, values, free } of lives) {
    yield;
    const name = { place, label };
    // What has expired on the way is not written any more.
    const sound = values.filter(({ ended, expiresAtMs = null }) => {
      return ended !== undefined || expiresAtMs === null || expiresAtMs > nowMs;
    });
    const wanted = memory.isKnown(name) ? sound.filter(({ ended }) => ended === undefined) : sound;
    facts += wanted.filter(({ ended }) => ended === undefined).length;
    steps.push(...pastOf(name, wanted, free));
  }
  // In the order in which they were written: what does not fit a block later is still the oldest. Not by their times,
  // since a clock may have been set back.
  const ordered = steps.sort((a, b) => a.revision - b.revision).map(({ step }) => step);
  return { steps: ordered, report: { imported: facts } };
}

/** The steps that make the values of one label at one place, the oldest first. */
export function pastOf(name: FactName, values: readonly PastValue[], free?: FreeTerms): PastStep[] {
  const { place, label } = name;
  const steps: PastStep[] = [];
  let before: PastValue | undefined;
  for (const fact of values) {
    const { value, revision, ordinal, updatedAtMs, sinceMs, ended, endedAtMs = 0, origin } = fact;
    const author = { writtenBy: fact.writtenBy, sessionId: fact.sessionId, userId: fact.author };
    const beforeMs = before?.endedAtMs ?? 0;
    let ending = endingOf(before);
    // What was renamed was written before it had its label.
    const times = updatedAtMs < sinceMs ? [sinceMs] : [sinceMs, updatedAtMs];
    if (ending !== undefined) times.unshift(beforeMs);
    const expiresAtMs = ended === "expired" ? endedAtMs : (fact.expiresAtMs ?? null);
    for (const [i, atMs] of times.entries()) {
      const isLast = i === times.length - 1;
      if (!isLast && atMs === times[i + 1]) continue;
      const moments = { updatedAtMs: isLast ? updatedAtMs : atMs, sinceMs: atMs, expiresAtMs };
      const terms = { free, ...(ending && { ending }), origin: origin ?? null, pinned: fact.pinned === true };
      const change = { place, label, value, ordinal, ...moments, ...terms };
      const nowMs = before?.ended === "expired" ? Math.max(atMs, beforeMs) : atMs;
      steps.push({ step: { change, author, nowMs }, revision });
      ending = undefined;
    }
    // Its end is over, also by a clock that was set back since.
    if (ended === "forgotten" || ended === "expired") {
      const change = { place, label, value: null, keepHistory: true };
      steps.push({
        step: { change, author: { ...NOBODY, userId: fact.endedBy }, nowMs: endedAtMs },
        revision,
      });
    }
    before = fact;
  }
  return steps;
}

/** Of a value that the next one followed at once. */
function endingOf(before: PastValue | undefined): FactChange["ending"] {
  const { ended, former, endedBy } = before ?? {};
  if (ended !== "replaced" && ended !== "renamed") return undefined;
  return { ended, ...(former && { former }), endedBy };
}

const NOBODY = { writtenBy: null, sessionId: null };
