/** The events of a group, which are stored with it, and those that go with what was erased. */

import type { Place, UserChange } from "../../../memory/records.ts";
import { type Ticketed, rowsOf as ticketed } from "../connection/tickets.ts";
import { columnsOf, type Statements } from "./statements.ts";

export interface ErasedPlace {
  readonly account: string;
  readonly userId: string;
  readonly within: Place | null;
  readonly nowMs: number;
}

export type GroupEvent = UserChange & { readonly account: string; readonly userId: string };

/** Other nodes may not have told their listeners of the last moments; those go with the next sweep. */
const TOLD_MS = 5_000;

export function removeEvents(
  statements: Statements,
  { account, userId, within, nowMs }: ErasedPlace,
): Promise<readonly Ticketed[]> {
  return ticketed(
    (ticket) => statements.send<Ticketed>`
      DELETE FROM sideband.events AS e
      WHERE e.slot = 0 AND e.account = ${account} AND e.user_id = ${userId} AND e.at_ms <= ${nowMs - TOLD_MS}
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

/** Whoever records an event locks the counter until the commit, so that events can be read in the order of their numbers. */
export function storeEvents(statements: Statements, events: readonly GroupEvent[]): Promise<unknown>[] {
  return statements.parts(events).map((some) => {
    const rows = some.map((event, i) => ({ ...event, i: i + 1 }));
    return ticketed(
      (ticket) => statements.send<Ticketed>`
        WITH counter AS (
          UPDATE sideband.settings AS s SET value = (s.value::bigint + ${some.length}::bigint)::text
          WHERE s.slot = 0 AND s.name = 'events' RETURNING s.value::bigint - ${some.length}::bigint AS before)
        INSERT INTO sideband.events (number, account, user_id, place, label, revision, kind, written_by, at_ms)
        SELECT c.before + t.i, t.account, t.user_id, t.place, t.label, t.revision, t.kind, t.written_by, t.at_ms
        FROM counter AS c, (${statements.rows(EVENT, rows)})
          AS t (i, account, user_id, place, label, revision, kind, written_by, at_ms)
        RETURNING ${ticket}::bigint AS ticket`,
    );
  });
}
