/**
 * A project under another name: what a user has at a place and inside it goes to another, with its history, times and
 * writers. Where both have a label, the value that was written last counts, and the others are in its history. Facts go
 * the same way from a person to a project that is shared, and back.
 */

import { Failure } from "../../base/errors.ts";
import type { Sliced } from "../../base/slices.ts";
import { isInside } from "../places.ts";
import type { EarlierFact, FactRecord, FreeTerms, MoveChange } from "../ports.ts";
import { isShared } from "../shared-places.ts";
import type { FactName, Step, Steps } from "./found-user.ts";
import { pastOf } from "./imports.ts";
import type { Memory } from "./user-memory.ts";

/** @param owner whose the facts are that do not say who wrote them */
export function* moveSteps(
  memory: Memory,
  { from, to, only }: MoveChange,
  { nowMs, owner }: { readonly nowMs: number; readonly owner: string },
): Sliced<Steps> {
  const moved = memory.names.filter(({ place, label }) =>
    only === undefined ? isInside(place, from) : place === from && only.isMeant(label),
  );
  const movedFacts: { label: string; value: string }[] = [];
  for (const name of moved) {
    yield;
    const fact = memory.live(name, nowMs);
    if (fact !== undefined) movedFacts.push({ label: name.label, value: fact.value });
  }
  const there = new Set(movedFacts.map(({ label }) => label));
  const missing = only?.named.find((label) => !there.has(label));
  if (missing !== undefined)
    throw new Failure(
      "fact_not_found",
      `The user has no fact on ${missing} in the project. Nothing was moved.`,
      {
        param: "take.labels",
      },
    );
  // Each is made when it is its turn: what moves, and where to, are apart.
  function* steps(): Generator<Step> {
    for (const { place, label } of moved)
      yield* movedSteps(
        memory,
        { place, label },
        { place: to + place.slice(from.length), label },
        { nowMs, owner },
      );
  }
  return { steps: steps(), report: { moved: movedFacts.length, ...(only && { movedFacts }) } };
}

/** The values of one name become those of another. The last step forgets them where they were. */
function movedSteps(
  memory: Memory,
  { place, label }: FactName,
  target: FactName,
  { nowMs, owner }: { readonly nowMs: number; readonly owner: string },
): readonly Step[] {
  const name = { place, label };
  const ofOwner = <V extends Value>(value: V): V => ({
    ...value,
    author: value.author ?? owner,
    ...("ended" in value && value.ended !== "replaced" && value.ended !== "expired" && { endedBy: owner }),
  });
  const valuesOf = (at: FactName) => {
    const [present, earlier] = [memory.live(at, nowMs), memory.earlier(at, nowMs)];
    if (isShared(at.place)) return { present, earlier };
    return { present: present && ofOwner(present), earlier: earlier.map(ofOwner) };
  };
  const free = termsAt(memory, name, target);
  const forgetting: Step = { change: { ...name, value: null }, author: NOBODY, nowMs };
  const { present, earlier } = valuesOf(name);
  const atTarget = valuesOf(target);
  const there = [...atTarget.earlier, ...given(atTarget.present)];
  const isOneMemory = isShared(place) === isShared(target.place);
  if (there.length === 0) {
    const past = pastOf(target, [...earlier, ...given(present)], free).map(({ step, revision }, i, all) => {
      // What was printed before, to restore an earlier value, still names it. Another memory counts on its own.
      const isNew = i === all.length - 1 || !isOneMemory;
      return isNew ? step : { ...step, change: { ...step.change, revision } };
    });
    return [...past, forgetting];
  }
  // Both places have values: those that the new place does not have are added to its history.
  const winner = laterOf(present, atTarget.present, isOneMemory);
  const missing = [...earlier, ...given(present)].filter(
    (fact) => fact !== winner && !there.some(({ value }) => value === fact.value),
  );
  const step = (
    value: string | null,
    { writtenBy, sessionId, author, origin, pinned }: Value,
    terms: object,
  ): Step => ({
    change: { ...target, value, free, ...terms, origin: origin ?? null, pinned: pinned === true },
    author: { writtenBy, sessionId, userId: author },
    nowMs,
  });
  const steps = missing.map((fact) => step(fact.value, fact, {}));
  const last = missing.at(-1);
  if (winner === undefined && last !== undefined)
    steps.push(
      step(null, { ...last, author: "endedBy" in last ? last.endedBy : undefined }, { keepHistory: true }),
    );
  if (winner !== undefined && (steps.length > 0 || winner !== atTarget.present))
    steps.push(step(winner.value, winner, { expiresAtMs: winner.expiresAtMs }));
  return [...steps, forgetting];
}

type Value = FactRecord | EarlierFact;

/** Of a label that the memory which gets the fact does not have. */
function termsAt(memory: Memory, from: FactName, to: FactName): FreeTerms | undefined {
  const known = memory.freeLabel(from.label, from.place);
  const isMade = known === undefined || memory.freeLabel(to.label, to.place) !== undefined;
  return isMade ? undefined : { make: true, description: known.description };
}

const NOBODY = { writtenBy: null, sessionId: null };

/**
 * While a clock that was set back stands still, all writes have one moment: in one memory their revisions tell which was last. A person
 * and a project count their revisions apart, so that nothing tells it between them: what is at the target stays.
 */
function laterOf(
  moved: FactRecord | undefined,
  staying: FactRecord | undefined,
  isOneMemory: boolean,
): FactRecord | undefined {
  if (moved === undefined || staying === undefined) return moved ?? staying;
  const laterMs = moved.updatedAtMs - staying.updatedAtMs;
  const order = laterMs === 0 && isOneMemory ? moved.revision - staying.revision : laterMs;
  return order > 0 ? moved : staying;
}

function given<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
