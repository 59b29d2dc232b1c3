/** What is known of a label at a place: the value that it has, those that it had, and what happened to them. */

import type { FactOrigin } from "../../../src/base/fact-origins.ts";

/** A value that a label has at a place. */
export interface Present {
  revision: number;
  /** Which write it was of all: the values of one write may have their revisions in any order. */
  readonly write: number;
  readonly place: string;
  readonly label: string;
  readonly value: string;
  readonly updatedAtMs: number;
  readonly sinceMs: number;
  readonly expiresAtMs: number | null;
  readonly writtenBy: string | null;
  readonly sessionId: string | null;
  readonly ordinal: number;
  readonly origin: FactOrigin | undefined;
}

/** A value that it had, with the end that it would have had. */
export interface Past extends Present {
  readonly ended: "replaced" | "forgotten" | "expired" | "renamed";
  readonly endedAtMs: number;
  /** The label that it had, where it was renamed then. */
  readonly former?: string;
}

/** What is known of one label at one place. A present value may have expired without anybody having noticed. */
export interface Life {
  readonly place: string;
  readonly label: string;
  present: Present | undefined;
  past: Past[];
}

export interface Change {
  readonly label: string;
  readonly place: string;
  /** null: it is forgotten. */
  readonly value: string | null;
  readonly expiresAtMs?: number | null;
  readonly keepHistory?: boolean;
  readonly ifRevision?: number | undefined;
  /** null: none; without it the same value keeps its own. */
  readonly origin?: FactOrigin | null | undefined;
}

export interface Event {
  readonly place: string;
  readonly label: string;
  readonly kind: "written" | "forgotten" | "expired" | "renamed";
  readonly atMs: number;
  readonly revision: number;
  readonly value: string;
  readonly writtenBy: string | null;
  readonly sessionId: string | null;
  readonly renamedFrom: string | undefined;
  readonly origin: FactOrigin | undefined;
}

export function asExpired(value: Present): Past {
  return { ...value, ended: "expired", endedAtMs: value.expiresAtMs! };
}

function eventOf({ place, label, revision, value, writtenBy, sessionId, origin }: Present | Past) {
  return { place, label, revision, value, writtenBy, sessionId, origin };
}
const firstWriterOf = ({ writtenBy, sessionId }: Present) => ({ writtenBy, sessionId });
/** Who renamed a fact, or ended a value, is not known. */
const byNobody = { writtenBy: null, sessionId: null };

/** The newest first. What ended a value comes after what wrote it. */
export function changesOf(lives: readonly Life[]): Event[] {
  const events = lives.flatMap(({ present, past }): Event[] => [
    ...[...past, ...(present === undefined ? [] : [present])].map((value, i) => {
      const renamedFrom = past[i - 1]?.former;
      const event = { ...eventOf(value), atMs: value.sinceMs, renamedFrom };
      if (renamedFrom === undefined) return { ...event, kind: "written" as const };
      return { ...event, ...byNobody, kind: "renamed" as const };
    }),
    ...past.flatMap((value) => {
      const { ended: kind, endedAtMs: atMs } = value;
      if (kind === "replaced" || kind === "renamed") return [];
      return [{ ...eventOf(value), ...byNobody, renamedFrom: undefined, kind, atMs }];
    }),
  ]);
  const isEnd = (event: Event) => Number(event.kind === "forgotten" || event.kind === "expired");
  return events.sort((a, b) => b.atMs - a.atMs || b.revision - a.revision || isEnd(b) - isEnd(a));
}

/** The value that a label had at a moment, and the life that it is a part of now. */
export interface Then {
  readonly place: string;
  readonly label: string;
  readonly value: Present | Past;
  readonly life: Life;
}

/** What putting these back to a moment would change. */
export function planOf(lives: readonly Life[], toMs: number, nowMs: number) {
  const unreached: { place: string; label: string }[] = [];
  const reached: Life[] = [];
  const then: Then[] = [];
  for (const life of lives) {
    const { place, label, present, past } = life;
    const values: (Present | Past)[] = [...past, ...(present === undefined ? [] : [present])];
    const index = values.findLastIndex(({ sinceMs }) => sinceMs <= toMs);
    if (index < 0 && values[0].ordinal > 1) {
      unreached.push({ place, label });
      continue;
    }
    reached.push(life);
    const value = values[index];
    if (value === undefined || (value.expiresAtMs !== null && value.expiresAtMs <= nowMs)) continue;
    if ("ended" in value && value.endedAtMs <= toMs) continue;
    const former = past.slice(index).find((one) => one.former !== undefined)?.former;
    then.push({ place, label: former ?? label, value, life });
  }
  const isAt = (at: { place: string; label: string }) => (one: { place: string; label: string }) =>
    one.place === at.place && one.label === at.label;
  // Whatever has the label now, the later life had it then.
  const wanted = then.filter((one, i) => !then.slice(i + 1).some(isAt(one)));
  const names = [...reached, ...wanted.filter((one) => !reached.some(isAt(one)))];
  const changes = names.flatMap(({ place, label }) => {
    const present = lives.find(isAt({ place, label }))?.present;
    const value = wanted.find(isAt({ place, label }))?.value;
    if (isAlike(present, value)) return [];
    return [{ place, label, from: present?.value ?? null, to: value?.value ?? null }];
  });
  return { changes, unreached, wanted, names };
}

/** Nothing would change. */
export function isAlike(a: Present | undefined, b: Present | Past | undefined): boolean {
  return a?.value === b?.value && a?.expiresAtMs === b?.expiresAtMs && a?.origin === b?.origin;
}

export type WrittenValue = Pick<Present, "value" | "expiresAtMs" | "writtenBy" | "sessionId"> &
  Pick<Change, "origin">;

/** The present value becomes the last one of the past. */
export function endValue(
  life: Life,
  ended: Past["ended"],
  endedAtMs: number,
  historyMax: number,
  former?: string,
): void {
  const { ordinal: last } = life.present!;
  const kept = [...life.past, { ...life.present!, ended, endedAtMs, ...(former && { former }) }];
  life.past = kept.filter(({ ordinal }) => ordinal > last - historyMax);
  life.present = undefined;
}

/** The same value again keeps its writer, its origin unless another is named and, with the same end and origin, since when it is there. */
export function setValue(
  life: Life,
  { value, expiresAtMs, writtenBy, sessionId, origin }: WrittenValue,
  at: Pick<Present, "write" | "revision"> & { readonly nowMs: number; readonly historyMax: number },
): void {
  const { present: before, place, label } = life;
  const { nowMs, historyMax, write, revision } = at;
  const isSameValue = before?.value === value;
  const own = isSameValue ? before.origin : undefined;
  const kept = origin === undefined ? own : (origin ?? undefined);
  const isSame = isSameValue && before.expiresAtMs === expiresAtMs && before.origin === kept;
  const last = before?.ordinal ?? life.past.at(-1)?.ordinal ?? 0;
  if (before !== undefined && !isSame) endValue(life, "replaced", nowMs, historyMax);
  life.present = {
    revision,
    write,
    place,
    label,
    value,
    updatedAtMs: nowMs,
    sinceMs: isSame ? Math.min(before.sinceMs, nowMs) : nowMs,
    expiresAtMs,
    ...(isSameValue ? firstWriterOf(before) : { writtenBy, sessionId }),
    ordinal: isSame ? last : last + 1,
    origin: kept,
  };
}
