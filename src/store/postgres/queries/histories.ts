/**
 * Histories after the limit was lowered: otherwise each would be shortened with a later value of its fact only. A limit that
 * holds for all of them is noted among the settings. Where none is noted, they may be of any length.
 */

import type { Query } from "../connection/database.ts";
import { answerOf, type Ticketed } from "../connection/tickets.ts";

const LIMIT = "history limit";
const PAGE = 500;

/** Notes a higher limit, before anything is written under it. */
export function noteHistoryLimit(historyMax: number): Query<void> {
  return async (sql) => {
    await sql`
      UPDATE sideband.settings SET value = ${String(historyMax)}
      WHERE slot = 0 AND name = ${LIMIT} AND value::integer < ${historyMax}`;
  };
}

/** Removes what is beyond the limit, unless that was done before. */
export function shortenHistories(historyMax: number): Query<void> {
  return async (sql) => {
    const [{ noted }] = await answerOf(
      (ticket) => sql<(Ticketed & { noted: string | null })[]>`
        SELECT t.ticket, s.value AS noted FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.settings AS s ON s.slot = 0 AND s.name = ${LIMIT}`,
    );
    if (noted !== null && Number(noted) <= historyMax) return;
    await sql`
      DELETE FROM sideband.history h USING (
        SELECT k.slot, k.account, k.user_id, k.place, k.channel, coalesce(f.ordinal, k.last + 1) AS next
        FROM (
          SELECT slot, account, user_id, place, channel, max(ordinal) AS last FROM sideband.history
          GROUP BY slot, account, user_id, place, channel
        ) AS k LEFT JOIN sideband.facts AS f ON f.slot = k.slot AND f.account = k.account AND f.user_id = k.user_id
          AND f.place = k.place AND f.channel = k.channel
      ) AS t
      WHERE h.slot = t.slot AND h.account = t.account AND h.user_id = t.user_id AND h.place = t.place
        AND h.channel = t.channel AND h.ordinal < t.next - ${historyMax}::integer`;
    if (historyMax === 0) await removeEmptyUsers()(sql);
    await sql`
      INSERT INTO sideband.settings (slot, name, value) VALUES (0, ${LIMIT}, ${String(historyMax)})
      ON CONFLICT (slot, name) DO UPDATE SET value = excluded.value`;
  };
}

/** A user of whom only a history was left. */
function removeEmptyUsers(): Query<void> {
  return async (sql) => {
    for (;;) {
      const users = await sql<{ slot: number; account: string; userId: string }[]>`
        SELECT u.slot, u.account, u.user_id AS "userId" FROM sideband.users u
        WHERE NOT EXISTS (SELECT FROM sideband.facts f
            WHERE f.slot = u.slot AND f.account = u.account AND f.user_id = u.user_id)
          AND NOT EXISTS (SELECT FROM sideband.history h
            WHERE h.slot = u.slot AND h.account = u.account AND h.user_id = u.user_id)
        LIMIT ${PAGE}`;
      for (const { slot, account, userId } of users) {
        await answerOf(
          (ticket) => sql<Ticketed[]>`
            SELECT ticket FROM sideband.remove_empty_user(
              ${slot}::integer, ${account}::text, ${userId}::text, ${ticket}::bigint) AS ticket`,
        );
      }
      if (users.length < PAGE) return;
    }
  };
}
