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
import type { FactName, UserMemory } from "./user-memory.ts";

/** Writes the value that a revision had again, at the place where it was. */
export function restoreSteps(memory: UserMemory, change: RestoreChange, nowMs: number): FactChange[] {
  const { label, places, revision, terms, expiresAtMs, ifRevision } = change;
  const found = places
    .flatMap((place) => valuesOf(memory, { place, label }, nowMs))
    .find((fact) => fact.revision === revision);
  if (found === undefined)
    throw new Failure("not_found", `There is no revision ${revision} of ${terms.label}.`, {
      param: "revision",
    });
  const { place, value } = found;
  return [{ place, label, value, terms, expiresAtMs, ...(ifRevision === undefined ? {} : { ifRevision }) }];
}

/**
 * What has expired since the moment stays away: its end has come. When another value would have ended is not known: like
 * any write without an end, it lasts, or has the life of its label.
 */
export function* rollbackSteps(
  memory: UserMemory,
  { toMs, partial, dryRun, ttls }: RollbackChange,
  nowMs: number,
): Sliced<{
  readonly writes: readonly FactChange[];
  readonly report: { readonly rollback: RollbackReport };
}> {
  const changes: RollbackReport["changes"][number][] = [];
  const unreached: FactName[] = [];
  const writes: FactChange[] = [];
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
    const isOver =
      last === undefined || ("ended" in last && (last.ended === "expired" || last.endedAtMs <= toMs));
    const [from, to] = [present?.value ?? null, isOver ? null : last.value];
    if (from === to) continue;
    changes.push({ place, label, from, to });
    const ttlS = ttls.get(label);
    const expiresAtMs = ttlS === undefined ? null : nowMs + ttlS * 1000;
    writes.push({ place, label, value: to, ...(to === null ? { keepHistory: true } : { expiresAtMs }) });
  }
  const isDone = !dryRun && (partial || unreached.length === 0);
  return { writes: isDone ? writes : [], report: { rollback: { changes, unreached, isDone } } };
}

/** The oldest first. */
function valuesOf(memory: UserMemory, name: FactName, nowMs: number): (FactRecord | EarlierFact)[] {
  const present = memory.live(name, nowMs);
  return [...memory.earlier(name, nowMs), ...(present === undefined ? [] : [present])];
}
