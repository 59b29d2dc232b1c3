/**
 * A fact under another label of its place, with its history, times and writers. Where the other label has a fact, that is
 * refused, or both become a list: then the history of each stays where it is.
 */

import { assert, elementAt } from "../../base/assert.ts";
import { Failure } from "../../base/errors.ts";
import type { FreeTerms, RenameChange } from "../ports.ts";
import { joinedLists, joinedOrigin } from "./lists.ts";
import { movedSteps } from "./moves.ts";
import type { Step, UserMemory } from "./user-memory.ts";

export function renameSteps(
  memory: UserMemory,
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
  const free = targetTerms(memory, change);
  if (target === undefined) {
    const steps = movedSteps(memory, fact, { place, label: to }, { nowMs, free });
    const written = elementAt(steps, steps.length - 2);
    const forgotten = elementAt(steps, steps.length - 1);
    assert(written.change.value === fact.value && forgotten.change.value === null, "the fact moves last");
    return [
      ...steps.slice(0, -2),
      { ...written, change: { ...written.change, terms } },
      { ...forgotten, change: { ...forgotten.change, ...condition } },
    ];
  }
  if (!merge)
    throw new Failure("fact_exists", `${to} has a fact. Forget it first, or send merge: "append".`, {
      param: "to",
    });
  const value = joinedLists(target.value, fact.value);
  const origin = joinedOrigin(target.origin, fact.origin);
  return [
    { change: { place, label: to, value, terms, free, expiresAtMs: target.expiresAtMs, origin }, ...by },
    { change: { place, label, value: null, keepHistory: true, ...condition }, ...by },
  ];
}

/** A label that is made has the description of the other. */
function targetTerms(memory: UserMemory, { label, to, toFree }: RenameChange): FreeTerms | undefined {
  if (toFree === undefined || memory.freeLabel(to) !== undefined) return toFree;
  return { ...toFree, description: memory.freeLabel(label)?.description ?? undefined };
}
