/**
 * A project under another name: what a user has at a place and inside it goes to another, with its history, times and
 * writers. Where both have a label, the value that was written last counts, and the others are in its history.
 */

import type { Sliced } from "../../base/slices.ts";
import { isInside } from "../places.ts";
import type { EarlierFact, FactRecord, MoveChange } from "../ports.ts";
import { pastOf } from "./imports.ts";
import type { FactName, Step, Steps, UserMemory } from "./user-memory.ts";

export function* moveSteps(memory: UserMemory, { from, to }: MoveChange, nowMs: number): Sliced<Steps> {
  const moved = memory.names.filter(({ place }) => isInside(place, from));
  let facts = 0;
  for (const name of moved) {
    yield;
    if (memory.live(name, nowMs) !== undefined) facts += 1;
  }
  // Each is made when it is its turn: what moves, and where to, are apart.
  function* steps(): Generator<Step> {
    for (const { place, label } of moved)
      yield* movedSteps(memory, { place, label }, { place: to + place.slice(from.length), label }, nowMs);
  }
  return { steps: steps(), report: { moved: facts } };
}

/** The values of one name become those of another. The last step forgets them where they were. */
function movedSteps(
  memory: UserMemory,
  { place, label }: FactName,
  target: FactName,
  nowMs: number,
): readonly Step[] {
  const name = { place, label };
  const valuesOf = (at: FactName) => ({
    present: memory.live(at, nowMs),
    earlier: memory.earlier(at, nowMs),
  });
  const forgetting: Step = { change: { ...name, value: null }, author: NOBODY, nowMs };
  const { present, earlier } = valuesOf(name);
  const atTarget = valuesOf(target);
  const there = [...atTarget.earlier, ...given(atTarget.present)];
  if (there.length === 0) {
    const past = pastOf(target, [...earlier, ...given(present)]);
    return [...past.map(({ step }) => step), forgetting];
  }
  // Both places have values: those that the new place does not have are added to its history.
  const winner = laterOf(present, atTarget.present);
  const missing = [...earlier, ...given(present)].filter(
    (fact) => fact !== winner && !there.some(({ value }) => value === fact.value),
  );
  const step = (
    value: string | null,
    { writtenBy, sessionId, origin, pinned }: Value,
    terms: object,
  ): Step => ({
    change: { ...target, value, ...terms, origin: origin ?? null, pinned: pinned === true },
    author: { writtenBy, sessionId },
    nowMs,
  });
  const steps = missing.map((fact) => step(fact.value, fact, {}));
  const last = missing.at(-1);
  if (winner === undefined && last !== undefined) steps.push(step(null, last, { keepHistory: true }));
  if (winner !== undefined && (steps.length > 0 || winner !== atTarget.present))
    steps.push(step(winner.value, winner, { expiresAtMs: winner.expiresAtMs }));
  return [...steps, forgetting];
}

type Value = FactRecord | EarlierFact;

const NOBODY = { writtenBy: null, sessionId: null };

function laterOf(moved: FactRecord | undefined, staying: FactRecord | undefined): FactRecord | undefined {
  if (moved === undefined || staying === undefined) return moved ?? staying;
  return moved.updatedAtMs > staying.updatedAtMs ? moved : staying;
}

function given<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
