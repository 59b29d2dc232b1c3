/** What is known of a label at a place: the value that it has, those that it had, and what happened to them. */

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
}

/** A value that it had. */
export interface Past extends Omit<Present, "expiresAtMs"> {
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

export interface Event {
  readonly place: string;
  readonly label: string;
  readonly kind: "written" | "forgotten" | "expired";
  readonly atMs: number;
  readonly revision: number;
  readonly value: string;
  readonly writtenBy: string | null;
  readonly sessionId: string | null;
}

export function asExpired({ expiresAtMs, ...value }: Present): Past {
  return { ...value, ended: "expired", endedAtMs: expiresAtMs! };
}

function eventOf({ place, label, revision, value, writtenBy, sessionId }: Present | Past) {
  return { place, label, revision, value, writtenBy, sessionId };
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
export function planOf(lives: readonly Life[], toMs: number) {
  const changes: { place: string; label: string; from: string | null; to: string | null }[] = [];
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
      last === undefined || ("ended" in last && (last.ended === "expired" || last.endedAtMs <= toMs));
    const [from, to] = [present?.value ?? null, isOver ? null : last.value];
    if (from !== to) changes.push({ place, label, from, to });
  }
  return { changes, unreached };
}

export type WrittenValue = Pick<Present, "value" | "expiresAtMs" | "writtenBy" | "sessionId">;

/** The present value becomes the last one of the past. */
export function endValue(life: Life, ended: Past["ended"], endedAtMs: number, historyMax: number): void {
  const { expiresAtMs: _, ...value } = life.present!;
  const kept = [...life.past, { ...value, ended, endedAtMs }];
  life.past = kept.filter(({ ordinal }) => ordinal > value.ordinal - historyMax);
  life.present = undefined;
}

/** The same value again keeps its writer, and since when it is there. */
export function setValue(
  life: Life,
  { value, expiresAtMs, writtenBy, sessionId }: WrittenValue,
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
  };
}
