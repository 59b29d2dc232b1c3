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
  /** Of what is shared: who wrote it. */
  readonly author?: string | undefined;
}

/** A value that it had, with the end that it would have had. */
export interface Past extends Present {
  readonly ended: "replaced" | "forgotten" | "expired" | "renamed";
  readonly endedAtMs: number;
  /** The label that it had, where it was renamed then. */
  readonly former?: string;
  /** Of what is shared: who has forgotten or renamed it. */
  readonly endedBy?: string | undefined;
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
  readonly author: string | undefined;
}

/** As it is seen at a moment, with as much of the past as is to be kept. */
export function shownLife({ place, label, present, past }: Life, nowMs: number, historyMax: number): Life {
  const { expiresAtMs = null } = present ?? {};
  const isLive = expiresAtMs === null || expiresAtMs > nowMs;
  const all = [...past, ...(present === undefined || isLive ? [] : [asExpired(present)])];
  const kept = all.slice(Math.max(0, all.length - historyMax));
  return { place, label, present: isLive ? present : undefined, past: kept };
}

function asExpired(value: Present): Past {
  return { ...value, ended: "expired", endedAtMs: value.expiresAtMs! };
}

function eventOf({ place, label, revision, value, writtenBy, sessionId, origin, author }: Present | Past) {
  return { place, label, revision, value, writtenBy, sessionId, origin, author };
}
const firstWriterOf = ({ writtenBy, sessionId, author }: Present) => ({ writtenBy, sessionId, author });
/** Who renamed a fact, or ended a value, is known by name where it is shared. */
const endedBy = (author: string | undefined) => ({ writtenBy: null, sessionId: null, author });

/** The newest first. What ended a value comes after what wrote it. */
export function changesOf(lives: readonly Life[]): Event[] {
  const events = lives.flatMap(({ present, past }): Event[] => [
    ...[...past, ...(present === undefined ? [] : [present])].map((value, i) => {
      const renamedFrom = past[i - 1]?.former;
      const event = { ...eventOf(value), atMs: value.sinceMs, renamedFrom };
      if (renamedFrom === undefined) return { ...event, kind: "written" as const };
      return { ...event, ...endedBy(past[i - 1].endedBy), kind: "renamed" as const };
    }),
    ...past.flatMap((value) => {
      const { ended: kind, endedAtMs: atMs } = value;
      if (kind === "replaced" || kind === "renamed") return [];
      return [{ ...eventOf(value), ...endedBy(value.endedBy), renamedFrom: undefined, kind, atMs }];
    }),
  ]);
  const isEnd = (event: Event) => Number(event.kind === "forgotten" || event.kind === "expired");
  return events.sort((a, b) => b.atMs - a.atMs || b.revision - a.revision || isEnd(b) - isEnd(a));
}

/** Nothing would change. */
export function isAlike(a: Present | undefined, b: Present | Past | undefined): boolean {
  return a?.value === b?.value && a?.expiresAtMs === b?.expiresAtMs && a?.origin === b?.origin;
}

export type WrittenValue = Pick<Present, "value" | "expiresAtMs" | "writtenBy" | "sessionId" | "author"> &
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

/** The value before, where it differs from the present one in its end alone. */
function movedBefore({ present, past }: Life, expiresAtMs: number | null, origin: FactOrigin | undefined) {
  const [before] = past.slice(-1);
  if (present === undefined || before === undefined || present.origin !== origin) return undefined;
  const ends = [expiresAtMs, present.expiresAtMs, before.expiresAtMs];
  const isKept = before.ended === "replaced" && before.ordinal === present.ordinal - 1;
  const isAlike = before.value === present.value && before.origin === present.origin;
  return isKept && isAlike && !ends.includes(null) ? before : undefined;
}

/**
 * The same value again keeps its writer, its origin unless another is named and, with the same end and origin, since when it
 * is there. Of ends that were moved one after the other the last is in the past.
 */
export function setValue(
  life: Life,
  { value, expiresAtMs, writtenBy, sessionId, origin, author }: WrittenValue,
  at: Pick<Present, "write" | "revision"> & { readonly nowMs: number; readonly historyMax: number },
): void {
  const { present: before, place, label } = life;
  const { nowMs, historyMax, write, revision } = at;
  const isSameValue = before?.value === value;
  const own = isSameValue ? before.origin : undefined;
  const kept = origin === undefined ? own : (origin ?? undefined);
  const isSame = isSameValue && before.expiresAtMs === expiresAtMs && before.origin === kept;
  const moved = isSameValue && !isSame && historyMax > 0 ? movedBefore(life, expiresAtMs, kept) : undefined;
  if (before !== undefined && moved !== undefined) {
    life.past.pop();
    life.present = { ...before, ordinal: moved.ordinal, sinceMs: moved.sinceMs };
  }
  const last = life.present?.ordinal ?? life.past.at(-1)?.ordinal ?? 0;
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
    ...(isSameValue ? firstWriterOf(before) : { writtenBy, sessionId, author }),
    ordinal: isSame ? last : last + 1,
    origin: kept,
  };
}

/** The whole life goes to another label, which has none. The value that it has is then one that was renamed. */
export function relabel(
  source: Life,
  target: Life,
  { nowMs, historyMax, moved }: { nowMs: number; historyMax: number; moved: () => Partial<Present> },
): void {
  const { present, label } = source;
  // Earlier values keep their revisions.
  target.past = keptOf(source, historyMax).map((value) => ({ ...value, label: target.label }));
  target.present = { ...present!, label: target.label };
  const { ordinal } = target.present;
  endValue(target, "renamed", nowMs, historyMax, label);
  target.present = { ...present!, ...moved(), label: target.label, ordinal: ordinal + 1, sinceMs: nowMs };
  Object.assign(source, { present: undefined, past: [] });
}

/** What is to be kept of a past. */
export function keptOf({ past }: Life, historyMax: number): Past[] {
  return past.slice(-historyMax || Infinity);
}
