/** The events of a group, which are stored with it, and those that go with what was erased. */

import { TIME_MS_MAX } from "../../../base/limits.ts";
import type { Place, UserChange } from "../../../memory/records.ts";
import { type Ticketed, rowsOf as ticketed } from "../connection/tickets.ts";
import { columnsOf, type Statements } from "./statements.ts";

export interface ErasedPlace {
  readonly account: string;
  readonly userId: string;
  readonly within: Place | null;
  readonly nowMs: number;
  /** Whether an event says so: none does where there was no fact. */
  readonly isTold: boolean;
}

export type GroupEvent = UserChange & { readonly account: string; readonly userId: string };

/**
 * Other nodes may not have told their listeners of the last moments. By the event that tells the erasure, those are left out
 * for whoever comes back, and go with the next sweep. Where none tells it they go at once, but for that of an earlier erasure.
 */
const TOLD_MS = 5_000;

export function removeEvents(
  statements: Statements,
  { account, userId, within, nowMs, isTold }: ErasedPlace,
): Promise<readonly Ticketed[]> {
  const toldMs = nowMs - TOLD_MS;
  return ticketed(
    (ticket) => statements.send<Ticketed>`
      DELETE FROM sideband.events AS e
      WHERE e.slot = 0 AND e.account = ${account} AND (e.user_id = ${userId} OR ${userId} = '' AND e.place = ${within}::text) AND (e.at_ms <= ${toldMs}
        OR e.label IS NOT NULL AND e.at_ms <= ${isTold ? toldMs : TIME_MS_MAX})
        AND (${within}::text IS NULL
        OR e.place = ${within}::text OR starts_with(e.place, ${within}::text || '/'))
      RETURNING ${ticket}::bigint AS ticket`,
  );
}

const EVENT = columnsOf<GroupEvent & { readonly i: number }>({
  i: "integer",
  account: "text",
  userId: "text",
  place: "text",
  label: "text",
  revision: "bigint",
  kind: "text",
  writtenBy: "text",
  atMs: "bigint",
});

/**
 * Whoever records an event locks the counter until the commit, so that events can be read in the order of their numbers. In
 * two statements: Citus gives the parameters of one to each of its parts, and refuses those that a part does not use.
 */
export function storeEvents(statements: Statements, events: readonly GroupEvent[]): Promise<unknown>[] {
  return statements.parts(events).flatMap((some) => {
    const rows = some.map((event, i) => ({ ...event, i: i + 1 - some.length }));
    return [
      ticketed(
        (ticket) => statements.send<Ticketed>`
          UPDATE sideband.settings SET value = (value::bigint + ${some.length}::bigint)::text
          WHERE slot = 0 AND name = 'events' RETURNING ${ticket}::bigint AS ticket`,
      ),
      ticketed(
        (ticket) => statements.send<Ticketed>`
          INSERT INTO sideband.events (slot, number, account, user_id, place, label, revision, kind, written_by, at_ms)
          SELECT s.slot, s.value::bigint + t.i, t.account, t.user_id, t.place, t.label, t.revision, t.kind, t.written_by,
            t.at_ms
          FROM sideband.settings AS s, (${statements.rows(EVENT, rows)})
            AS t (i, account, user_id, place, label, revision, kind, written_by, at_ms)
          WHERE s.slot = 0 AND s.name = 'events' RETURNING ${ticket}::bigint AS ticket`,
      ),
    ];
  });
}
