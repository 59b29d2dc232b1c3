/** The rows that the first trip of a group reads, and what is made of them. */

import { elementAt } from "../../../base/assert.ts";
import type { Sliced } from "../../../base/slices.ts";
import { replayedChanges } from "../../../memory/law/answers.ts";
import type { FactName, FoundFact } from "../../../memory/law/found-user.ts";
import { nameOf } from "../../../memory/law/user-memory.ts";
import type { EarlierFact } from "../../../memory/ports.ts";
import type { FreeLabel } from "../../../memory/records.ts";
import type { Ticketed } from "../connection/tickets.ts";
import { earlierOf, type FactRow, factOf } from "./fact-rows.ts";
import type { FoundReplay, GroupUser } from "./group-locks.ts";
import { part } from "./statements.ts";

/**
 * What is read is rows of one kind or another, in the columns of a fact:
 * - fact: a present value of the user of this number; earlier: one of the history;
 * - last: `ordinal` of the last value on a label of the user without a fact;
 * - label: a free label of the user; its uses are the ordinal, its description is the value;
 * - view: `ordinal` labels with a fact that does not end, and the ends of the other labels; or a list of all, with ends;
 * - answer: what was answered to the write of this number;
 * - used: encodes of the counter of this number, as the revision;
 * - followed: an account, as the place.
 */
export interface GroupRow extends Ticketed, FactRow {
  readonly kind: "fact" | "earlier" | "last" | "label" | "view" | "answer" | "used" | "followed";
  readonly number: number;
  readonly ended: EarlierFact["ended"];
  readonly ended_at_ms: number;
  readonly ending: string | null;
}

export const COLUMNS = part`(kind, number, place, label, ordinal, value, revision, updated_at_ms, since_ms, written_by,
  session_id, origin, expires_at_ms, pinned, author, ended, ended_at_ms, label_number, ending)`;

export const FACT = part`
  f.place, f.label, f.ordinal, f.value, f.revision, f.updated_at_ms, f.since_ms, f.written_by, f.session_id,
  f.origin, f.expires_at_ms, f.pinned, f.author`;

/** The columns after the revision, and those after the value, of a row that is no fact. */
export const NO_ENDS = part`NULL::bigint, NULL::bigint, NULL::text, NULL::text, NULL::text, NULL::bigint,
  NULL::boolean, NULL::text, NULL::text, NULL::bigint`;
export const NO_TIMES = part`${NO_ENDS}, NULL::integer, NULL::text`;
export const NO_FACT = part`NULL::bigint, ${NO_TIMES}`;

/** The labels of a listed view that have a live fact. */
export function labelsOf(row: GroupRow | undefined, nowMs: number): string[] {
  return (row?.value ?? "").split(",").flatMap((listed) => {
    const [label, until] = listed.split(" ");
    return label && (until === "" || Number(until) > nowMs) ? [label] : [];
  });
}

export function freeLabelsOf(users: readonly GroupUser[], rows: readonly GroupRow[]): FreeLabel[][] {
  const labels = users.map((): FreeLabel[] => []);
  for (const { number: user, label, label_number: number, ordinal: uses, value: description } of rows)
    elementAt(labels, user).push({ label, number: number!, uses, description });
  return labels;
}

/** A text of an answer belongs to the record of the same revision. */
export function withAnswers(
  replays: ReadonlyMap<number, FoundReplay>,
  answers: readonly GroupRow[],
): Map<number, FoundReplay> {
  const all = new Map(replays);
  for (const [number, { isNew, replay }] of replays) {
    if (typeof replay !== "object") continue;
    const texts = answers.filter((row) => row.number === number && row.revision === replay.revision);
    const changes = replayedChanges(texts.map(({ value }) => value));
    if (changes !== undefined) all.set(number, { isNew, replay: { ...replay, changes } });
  }
  return all;
}

type Found = { -readonly [Part in keyof FoundFact]: FoundFact[Part] } & { readonly earlier: EarlierFact[] };

/** What is known of the names of each user, of the present and of the past. */
export function* foundOf(
  users: readonly GroupUser[],
  byKind: ReadonlyMap<string, readonly GroupRow[]>,
): Sliced<FoundFact[][]> {
  const found = users.map(() => new Map<string, Found>());
  const of = (user: number, { place, label }: FactName) => {
    const name = nameOf({ place, label });
    const byName = elementAt(found, user);
    const known = byName.get(name) ?? { place, label, present: undefined, earlier: [], last: 0 };
    byName.set(name, known);
    return known;
  };
  for (const [user, { names }] of users.entries()) {
    for (const name of names) {
      yield;
      of(user, name);
    }
  }
  for (const kind of ["fact", "earlier", "last"]) {
    for (const row of byKind.get(kind) ?? []) {
      yield;
      const fact = of(row.number, row);
      fact.last = Math.max(fact.last, row.ordinal);
      if (row.kind === "fact") fact.present = factOf(row);
      if (row.kind === "earlier") fact.earlier.push(earlierOf(row));
    }
  }
  for (const byName of found) {
    for (const { earlier } of byName.values()) {
      yield;
      earlier.sort((a, b) => a.ordinal - b.ordinal);
    }
  }
  return found.map((byName) => [...byName.values()]);
}

export function* groupedByKind(rows: readonly GroupRow[]): Sliced<Map<string, GroupRow[]>> {
  const grouped = new Map<string, GroupRow[]>();
  for (const row of rows) {
    yield;
    const known = grouped.get(row.kind);
    if (known === undefined) grouped.set(row.kind, [row]);
    else known.push(row);
  }
  return grouped;
}
