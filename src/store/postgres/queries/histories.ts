/**
 * Histories after the limit was changed. After it was lowered they are shortened by the next sweep; otherwise each would be
 * shortened with a later value of its fact only. A limit that holds for all of them is noted among the settings. Where none is
 * noted, they may be of any length. Before the limit is raised they are shortened to the lower one: what was beyond a limit
 * does not come back.
 */

import { DIRECTORY_SLOT } from "../cluster/placement.ts";
import type { Query } from "../connection/database.ts";
import { readSetting } from "./key-queries.ts";

const LIMIT = "history limit";
/** The limit under which a node was started last. */
const IN_FORCE = "history in force";

/** The limit under which a node was started last. */
export function historyInForce(): Query<number | undefined> {
  return readLimit(IN_FORCE);
}

/** Puts a limit in force, before anything is read or written under it. */
export function beginHistoryLimit(historyMax: number): Query<void> {
  return async (sql) => {
    const before = await readLimit(IN_FORCE)(sql);
    if (before === historyMax) return;
    if (before !== undefined && before < historyMax) await shortenTo(before)(sql);
    await sql`
      UPDATE sideband.settings SET value = ${String(historyMax)}
      WHERE slot = ${DIRECTORY_SLOT} AND name = ${LIMIT} AND value::integer < ${historyMax}`;
    await writeLimit(IN_FORCE, historyMax)(sql);
  };
}

/** Removes what is beyond the limit, unless that was done before. */
export function shortenHistories(historyMax: number): Query<void> {
  return async (sql) => {
    const noted = await readLimit(LIMIT)(sql);
    if (noted !== undefined && noted <= historyMax) return;
    await shortenTo(historyMax)(sql);
    await writeLimit(LIMIT, historyMax)(sql);
  };
}

function readLimit(name: string): Query<number | undefined> {
  return async (sql) => {
    const value = await readSetting(name)(sql);
    return value === undefined ? undefined : Number(value);
  };
}

function writeLimit(name: string, value: number): Query<void> {
  return async (sql) => {
    await sql`
      INSERT INTO sideband.settings (slot, name, value) VALUES (${DIRECTORY_SLOT}, ${name}, ${String(value)})
      ON CONFLICT (slot, name) DO UPDATE SET value = excluded.value`;
  };
}

function shortenTo(historyMax: number): Query<void> {
  return async (sql) => {
    await sql`
      DELETE FROM sideband.history h USING (
        SELECT k.slot, k.account, k.user_id, k.place, k.label, coalesce(f.ordinal, k.last + 1) AS next
        FROM (
          SELECT slot, account, user_id, place, label, max(ordinal) AS last FROM sideband.history
          GROUP BY slot, account, user_id, place, label
        ) AS k LEFT JOIN sideband.facts AS f ON f.slot = k.slot AND f.account = k.account AND f.user_id = k.user_id
          AND f.place = k.place AND f.label = k.label
      ) AS t
      WHERE h.slot = t.slot AND h.account = t.account AND h.user_id = t.user_id AND h.place = t.place
        AND h.label = t.label AND h.ordinal < t.next - ${historyMax}::integer`;
    if (historyMax > 0) return;
    // Of a label without a fact nothing is left, and of a user with none of anything.
    await sql`
      UPDATE sideband.free_labels AS l SET uses = (
        SELECT count(*) FROM sideband.facts AS f WHERE f.slot = l.slot AND f.account = l.account
          AND f.user_id = l.user_id AND f.label = l.label)`;
    await sql`DELETE FROM sideband.free_labels WHERE uses = 0`;
    await sql`UPDATE sideband.users SET heads = 0 WHERE heads > 0`;
    await sql`DELETE FROM sideband.users WHERE facts = 0 AND heads = 0`;
  };
}
