/** What happens to users, recorded for those who listen on any node. */

import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { elementAt } from "../../../base/assert.ts";
import { EVENTS_KEPT_MS } from "../../../memory/events.ts";
import type { EventKind, EventLog, RecordedEvent } from "../../../memory/records.ts";
import type { Database, Query } from "../connection/database.ts";
import { answerOf, recordOf, rowsOf, type Ticketed } from "../connection/tickets.ts";

/** The longest wait for writes that began before the account was listened to. */
const WAIT_MAX_MS = 1_000;
const PAUSE_MS = 10;

/** @param isCluster a transaction begins on the machine that its node connects to, and no other machine knows of it */
export async function follow(
  database: Database,
  account: string,
  untilMs: number,
  isCluster: boolean,
): Promise<{ log: string; last: number }> {
  const wanted = randomUUID().slice(0, 8);
  const { log, last } = await database.write(begin(account, wanted, untilMs));
  if (log !== wanted) return { log, last };
  if (isCluster) {
    await setTimeout(WAIT_MAX_MS);
    return { log, last };
  }
  // A write looks in its transaction whether somebody listens: those that have looked already are waited for.
  const { next } = await database.read(openTransactions());
  for (const endMs = performance.now() + WAIT_MAX_MS; performance.now() < endMs; await setTimeout(PAUSE_MS))
    if ((await database.read(openTransactions())).oldest >= next) break;
  return { log, last };
}

/** In two statements, since Citus joins nothing in an INSERT that returns rows. What happens between them comes before the listener. */
function begin(account: string, log: string, untilMs: number): Query<{ log: string; last: number }> {
  return async (sql) => {
    const [counter] = await answerOf(
      (ticket) => sql<(Ticketed & { last: number })[]>`
        SELECT ${ticket}::bigint AS ticket, value::bigint AS last FROM sideband.settings
        WHERE slot = 0 AND name = 'events'`,
    );
    const { last } = counter;
    const [row] = await answerOf(
      (ticket) => sql<(Ticketed & { log: string })[]>`
        INSERT INTO sideband.event_logs AS l (slot, first, until_ms, account, log)
        VALUES (0, ${last}::bigint, ${untilMs}::bigint, ${account}::text, ${log}::text)
        ON CONFLICT (slot, account) DO UPDATE SET until_ms = greatest(l.until_ms, excluded.until_ms)
        RETURNING ${ticket}::bigint AS ticket, l.log`,
    );
    return { log: row.log, last };
  };
}

/** The oldest transaction that is open, and the next one that will be. */
function openTransactions(): Query<{ oldest: number; next: number }> {
  return async (sql) => {
    const [row] = await answerOf(
      (ticket) => sql<(Ticketed & { oldest: number; next: number })[]>`
        SELECT ${ticket}::bigint AS ticket, pg_snapshot_xmin(s.s)::text::bigint AS oldest,
          pg_snapshot_xmax(s.s)::text::bigint AS next
        FROM (SELECT pg_current_snapshot() AS s) AS s`,
    );
    return recordOf(row);
  };
}

interface EventRow extends Ticketed {
  readonly first: number | null;
  readonly last: number;
  readonly number: number | null;
  readonly account: string;
  readonly user_id: string;
  readonly place: string;
  readonly label: string | null;
  readonly revision: number;
  readonly kind: EventKind;
  readonly written_by: string | null;
  readonly at_ms: number;
}

/** The counter and the events are of one snapshot: whatever has a number up to it can be read. */
export function readEvents(
  accounts: readonly string[],
  after: number,
  limit: number,
): Query<Awaited<ReturnType<EventLog["readEvents"]>>> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<EventRow[]>`
        SELECT t.ticket, l.first, s.value::bigint AS last, e.number, e.account, e.user_id, e.place, e.label, e.revision,
          e.kind, e.written_by, e.at_ms
        FROM (SELECT ${ticket}::bigint AS ticket) AS t
        JOIN sideband.settings AS s ON s.slot = 0 AND s.name = 'events'
        LEFT JOIN sideband.event_logs AS l ON l.slot = 0 AND l.account = ${elementAt(accounts, 0)}
        LEFT JOIN (
          SELECT number, account, user_id, place, label, revision, kind, written_by, at_ms FROM sideband.events
          WHERE slot = 0 AND account = ANY(${[...accounts]}::text[]) AND number > ${after}
          ORDER BY number LIMIT ${limit}
        ) AS e ON true
        ORDER BY e.number`,
    );
    const { first, last } = rows[0];
    const events = rows.flatMap((row) =>
      row.number === null ? [] : [eventOf({ ...row, number: row.number })],
    );
    return { first: first ?? last, last, events };
  };
}

function eventOf(row: EventRow & { readonly number: number }): RecordedEvent {
  const { account, number, user_id: userId, place, label, revision, kind } = row;
  return {
    account,
    number,
    userId,
    place,
    label,
    revision,
    kind,
    writtenBy: row.written_by,
    atMs: row.at_ms,
  };
}

/** Several sweeps. */
const FORGOTTEN_MS = 300_000;

/** Events of more than an hour ago, and those of accounts that nobody has listened to for an hour. */
export function sweepEvents(nowMs: number): Query<void> {
  return async (sql) => {
    await rowsOf(
      (ticket) => sql<Ticketed[]>`
        WITH gone AS (
          DELETE FROM sideband.events WHERE at_ms <= ${nowMs - EVENTS_KEPT_MS} RETURNING account, number)
        UPDATE sideband.event_logs AS l SET first = greatest(l.first, g.number)
        FROM (SELECT account, max(number) AS number FROM gone GROUP BY account) AS g
        WHERE l.slot = 0 AND l.account = g.account
        RETURNING ${ticket}::bigint AS ticket`,
    );
    // Of those that were forgotten before the last sweeps nothing is left.
    await rowsOf(
      (ticket) => sql<Ticketed[]>`
        DELETE FROM sideband.events AS e USING sideband.events AS f
        WHERE f.slot = 0 AND f.at_ms > ${nowMs - FORGOTTEN_MS} AND f.label IS NULL AND e.slot = 0
          AND e.account = f.account AND e.number < f.number
          AND (e.user_id = f.user_id OR f.user_id = '' AND e.place = f.place)
          AND (f.place = '' OR e.place = f.place OR starts_with(e.place, f.place || '/'))
        RETURNING ${ticket}::bigint AS ticket`,
    );
    await rowsOf(
      (ticket) => sql<Ticketed[]>`
        WITH gone AS (DELETE FROM sideband.event_logs WHERE until_ms <= ${nowMs} RETURNING account)
        DELETE FROM sideband.events AS e USING gone AS g WHERE e.slot = 0 AND e.account = g.account
        RETURNING ${ticket}::bigint AS ticket`,
    );
  };
}
