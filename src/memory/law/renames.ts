/**
 * A fact under another label of its place, with its history, times and writers. The value that it had under the old label is the last
 * entry of the history, with that label. Where the other label has a history, that of each stays where it is; where it has
 * a fact, it is refused, or both become a list.
 */

import { elementAt } from "../../base/assert.ts";
import { Failure } from "../../base/errors.ts";
import type { FactRecord, FreeTerms, RenameChange } from "../ports.ts";
import type { Place } from "../records.ts";
import type { Step } from "./found-user.ts";
import { pastOf } from "./imports.ts";
import { joinedLists, joinedOrigin } from "./lists.ts";
import type { Memory } from "./user-memory.ts";

export function renameSteps(
  memory: Memory,
  change: RenameChange,
  by: Pick<Step, "author" | "nowMs">,
): Step[] {
  const { label, to, places, terms, merge, ifRevision } = change;
  const { nowMs } = by;
  const fact = places
    .toReversed()
    .map((place) => memory.live({ place, label }, nowMs))
    .find((found) => found !== undefined);
  if (fact === undefined)
    throw new Failure("fact_not_found", `There is no fact on ${label}.`, { param: "label" });
  const { place } = fact;
  const condition = ifRevision === undefined ? {} : { ifRevision };
  const target = memory.live({ place, label: to }, nowMs);
  const free = targetTerms(memory, change, place);
  if (target !== undefined && !merge)
    throw new Failure("fact_exists", `${to} has a fact. Forget it first, or send merge: "append".`, {
      param: "to",
    });
  if (memory.isEmpty({ place, label: to }, nowMs)) {
    const steps = relabelled(memory, fact, { label: to, free }, by);
    const [written, forgotten] = [elementAt(steps, steps.length - 2), elementAt(steps, steps.length - 1)];
    return [
      // What has expired there is ended first: the steps before the last are of earlier moments.
      { change: { place, label: to, value: null, keepHistory: true }, ...by },
      ...steps.slice(0, -2),
      { ...written, change: { ...written.change, terms } },
      { ...forgotten, change: { ...forgotten.change, ...condition } },
    ];
  }
  const value = target === undefined ? fact.value : joinedLists(target.value, fact.value);
  const origin = target === undefined ? fact.origin : joinedOrigin(target.origin, fact.origin);
  const { expiresAtMs } = target ?? fact;
  const { writtenBy, sessionId, author: userId } = fact;
  const author = target === undefined ? { writtenBy, sessionId, userId } : by.author;
  return [
    {
      change: { place, label: to, value, terms, free, expiresAtMs, origin, pinned: fact.pinned },
      author,
      nowMs,
    },
    { change: { place, label, value: null, keepHistory: true, ...condition }, ...by },
  ];
}

/** The last two steps write the fact under the other label, which has no history, and forget it where it was. */
export function relabelled(
  memory: Memory,
  fact: FactRecord,
  to: { readonly label: string; readonly free: FreeTerms | undefined },
  { author, nowMs }: Pick<Step, "author" | "nowMs">,
): Step[] {
  const { place, label, ordinal } = fact;
  const former = { label, description: memory.freeLabel(label, place)?.description ?? null };
  const values = [
    ...memory.earlier(fact, nowMs),
    { ...fact, ended: "renamed" as const, endedAtMs: nowMs, endedBy: author.userId, former },
    { ...fact, ordinal: ordinal + 1, sinceMs: nowMs },
  ];
  const past = pastOf({ place, label: to.label }, values, to.free).map(({ step, revision }, i, all) => {
    // What was printed before, to restore an earlier value, still names it.
    return i === all.length - 1 ? step : { ...step, change: { ...step.change, revision } };
  });
  const forgetting = (name: string): Step => ({
    change: { place, label: name, value: null },
    author: { writtenBy: null, sessionId: null },
    nowMs,
  });
  // Under the other label there may be something that has ended, or is no longer to be kept.
  return [forgetting(to.label), ...past, forgetting(label)];
}

/** A label that is made has the description of the other. */
function targetTerms(
  memory: Memory,
  { label, to, toFree }: RenameChange,
  place: Place,
): FreeTerms | undefined {
  if (toFree === undefined || memory.freeLabel(to, place) !== undefined) return toFree;
  return { ...toFree, description: memory.freeLabel(label, place)?.description ?? undefined };
}
