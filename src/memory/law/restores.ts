/** An earlier value written again, and a user put back to a moment. */

import { Failure } from "../../base/errors.ts";
import type { Sliced } from "../../base/slices.ts";
import type {
  EarlierFact,
  FactChange,
  FactRecord,
  RestoreChange,
  RollbackChange,
  RollbackReport,
} from "../ports.ts";
import { type FactName, isLive, type Step, type Steps, type UserMemory } from "./user-memory.ts";

/** Writes the value that a revision had again, at the place where it was, with its origin, and with its end unless that has come. */
export function restoreSteps(memory: UserMemory, change: RestoreChange, nowMs: number): FactChange[] {
  const { label, places, revision, terms, free, ifRevision } = change;
  const found = places
    .flatMap((place) => valuesOf(memory, { place, label }, nowMs))
    .find((fact) => fact.revision === revision);
  if (found === undefined)
    throw new Failure("not_found", `There is no revision ${revision} of ${terms.label}.`, {
      param: "revision",
    });
  const { place, value, origin } = found;
  const expiresAtMs = isLive(found, nowMs) ? found.expiresAtMs : change.expiresAtMs;
  const condition = ifRevision === undefined ? {} : { ifRevision };
  return [{ place, label, value, terms, free, expiresAtMs, ...condition, origin }];
}

/** What comes back has the origin and the end that it had. What would have ended since the moment stays away. */
export function* rollbackSteps(
  memory: UserMemory,
  { toMs, partial, dryRun }: RollbackChange,
  by: Pick<Step, "author" | "nowMs">,
): Sliced<Steps> {
  const { nowMs } = by;
  const changes: RollbackReport["changes"][number][] = [];
  const unreached: FactName[] = [];
  const steps: Step[] = [];
  for (const { place, label } of memory.names) {
    yield;
    const values = valuesOf(memory, { place, label }, nowMs);
    const [first] = values;
    if (first === undefined) continue;
    const present = memory.live({ place, label }, nowMs);
    const last = values.filter(({ sinceMs }) => sinceMs <= toMs).at(-1);
    if (last === undefined && first.ordinal > 1) {
      unreached.push({ place, label });
      continue;
    }
    const isOver = last === undefined || !isLive(last, nowMs) || ("ended" in last && last.endedAtMs <= toMs);
    const [from, to] = [present?.value ?? null, isOver ? null : last.value];
    if (from === to) continue;
    changes.push({ place, label, from, to });
    if (dryRun) continue;
    const terms = isOver ? { keepHistory: true } : { expiresAtMs: last.expiresAtMs, origin: last.origin };
    steps.push({ change: { place, label, value: to, ...terms }, ...by });
  }
  const isDone = !dryRun && (partial || unreached.length === 0);
  return { steps: isDone ? steps : [], report: { rollback: { changes, unreached, isDone } } };
}

/** The oldest first. */
function valuesOf(memory: UserMemory, name: FactName, nowMs: number): (FactRecord | EarlierFact)[] {
  const present = memory.live(name, nowMs);
  return [...memory.earlier(name, nowMs), ...(present === undefined ? [] : [present])];
}
