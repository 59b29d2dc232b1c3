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
  readonly ended: "replaced" | "forgotten" | "expired";
  readonly endedAtMs: number;
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
  readonly origin?: FactOrigin | undefined;
}

export interface Event {
  readonly place: string;
  readonly label: string;
  readonly kind: "written" | "forgotten" | "expired";
  readonly atMs: number;
  readonly revision: number;
  readonly value: string;
  readonly writtenBy: string | null;
  readonly sessionId: string | null;
  readonly origin: FactOrigin | undefined;
}

export function asExpired(value: Present): Past {
  return { ...value, ended: "expired", endedAtMs: value.expiresAtMs! };
}

function eventOf({ place, label, revision, value, writtenBy, sessionId, origin }: Present | Past) {
  return { place, label, revision, value, writtenBy, sessionId, origin };
}
const firstWriterOf = ({ writtenBy, sessionId }: Present) => ({ writtenBy, sessionId });
/** Who ended a value is not known. */
const endOf = (value: Past) => ({ ...eventOf(value), writtenBy: null, sessionId: null });

/** The newest first. What ended a value comes after what wrote it. */
export function changesOf(lives: readonly Life[]): Event[] {
  const events = lives.flatMap(({ present, past }) => [
    ...[...past, ...(present === undefined ? [] : [present])].map((value) => ({
      ...eventOf(value),
      kind: "written" as const,
      atMs: value.sinceMs,
    })),
    ...past.flatMap((value) =>
      value.ended === "replaced" ? [] : [{ ...endOf(value), kind: value.ended, atMs: value.endedAtMs }],
    ),
  ]);
  const isEnd = (event: Event) => Number(event.kind !== "written");
  return events.sort((a, b) => b.atMs - a.atMs || b.revision - a.revision || isEnd(b) - isEnd(a));
}

/** What putting these back to a moment would change. */
export function planOf(lives: readonly Life[], toMs: number, nowMs: number) {
  const changes: { place: string; label: string; from: string | null; to: string | null }[] = [];
  const terms: Pick<Change, "expiresAtMs" | "origin">[] = [];
  const unreached: { place: string; label: string }[] = [];
  for (const { place, label, present, past } of lives) {
    const values: (Present | Past)[] = [...past, ...(present === undefined ? [] : [present])];
    const begun = values.filter(({ sinceMs }) => sinceMs <= toMs);
    if (begun.length === 0 && values[0].ordinal > 1) {
      unreached.push({ place, label });
      continue;
    }
    const last = begun.at(-1);
    const isOver =
      last === undefined ||
      (last.expiresAtMs !== null && last.expiresAtMs <= nowMs) ||
      ("ended" in last && last.endedAtMs <= toMs);
    const [from, to] = [present?.value ?? null, isOver ? null : last.value];
    if (from === to) continue;
    changes.push({ place, label, from, to });
    terms.push(isOver ? {} : { expiresAtMs: last.expiresAtMs, origin: last.origin });
  }
  return { changes, unreached, terms };
}

export type WrittenValue = Pick<Present, "value" | "expiresAtMs" | "writtenBy" | "sessionId" | "origin">;

/** The present value becomes the last one of the past. */
export function endValue(life: Life, ended: Past["ended"], endedAtMs: number, historyMax: number): void {
  const { ordinal: last } = life.present!;
  const kept = [...life.past, { ...life.present!, ended, endedAtMs }];
  life.past = kept.filter(({ ordinal }) => ordinal > last - historyMax);
  life.present = undefined;
}

/** The same value again keeps its writer, since when it is there, and its origin unless another is named. */
export function setValue(
  life: Life,
  { value, expiresAtMs, writtenBy, sessionId, origin }: WrittenValue,
  at: Pick<Present, "write" | "revision"> & { readonly nowMs: number; readonly historyMax: number },
): void {
  const { present: before, place, label } = life;
  const { nowMs, historyMax, write, revision } = at;
  const isSame = before?.value === value;
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
    ...(isSame ? firstWriterOf(before) : { writtenBy, sessionId }),
    ordinal: isSame ? last : last + 1,
    origin: isSame && origin === undefined ? before.origin : origin,
  };
}
