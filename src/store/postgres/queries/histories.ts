/**
 * Histories after the limit was changed. After it was lowered they are shortened by the next sweep; otherwise each would be
 * shortened with a later value of its fact only. A limit that holds for all of them is noted among the settings. Where none is
 * noted, they may be of any length. Before the limit is raised they are shortened to the lower one: what was beyond a limit
 * does not come back.
 */

import type postgres from "postgres";
import { DIRECTORY_SLOT, SLOT_COUNT } from "../cluster/placement.ts";
import type { Query, Sql } from "../connection/database.ts";
import { rowsOf, type Ticketed } from "../connection/tickets.ts";
import { readSetting } from "./key-queries.ts";

const LIMIT = "history limit";
/** Slots whose histories are looked through in one go, and users that are found by that. */
const SLOTS = 16;
const USERS_MAX = 256;
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

interface LongUser extends Ticketed {
  readonly slot: number;
  readonly account: string;
  readonly userId: string;
}

/** User by user, so that each is locked for a moment only. */
function shortenTo(historyMax: number): Query<void> {
  return async (sql) => {
    for (let first = 0; first < SLOT_COUNT; first += SLOTS) {
      for (let page: readonly LongUser[] | undefined; page === undefined || page.length === USERS_MAX; ) {
        page = await rowsOf(
          (ticket) => sql<LongUser[]>`
            SELECT DISTINCT ${ticket}::bigint AS ticket, k.slot, k.account, k.user_id AS "userId"
            FROM ${keptOf(sql, sql`slot BETWEEN ${first} AND ${first + SLOTS - 1}`)}
            WHERE k.first < k.next - ${historyMax}::integer LIMIT ${USERS_MAX}`,
        );
        for (const user of page) await shortenUser(sql, user, historyMax);
      }
    }
  };
}

/** Locks the user as a write does: what is removed and counted is what is there then. */
async function shortenUser(sql: Sql, { slot, account, userId }: LongUser, historyMax: number): Promise<void> {
  await sql.begin(async (transaction) => {
    const tx = transaction as unknown as Sql;
    const isOfUser = tx`slot = ${slot} AND account = ${account} AND user_id = ${userId}`;
    const statements = [
      tx`SELECT slot FROM sideband.users WHERE ${isOfUser} FOR NO KEY UPDATE`,
      tx`
        DELETE FROM sideband.history AS h USING ${keptOf(tx, isOfUser)}
        WHERE h.slot = k.slot AND h.account = k.account AND h.user_id = k.user_id AND h.place = k.place
          AND h.label = k.label AND h.ordinal < k.next - ${historyMax}::integer`,
    ];
    // Then nothing is left of a label without a fact, and of a user with none of anything.
    if (historyMax === 0)
      statements.push(
        tx`
          UPDATE sideband.free_labels AS l SET uses = (
            SELECT count(*) FROM sideband.facts AS f WHERE f.slot = l.slot AND f.account = l.account
              AND f.user_id = l.user_id AND f.label = l.label)
          WHERE ${isOfUser}`,
        tx`DELETE FROM sideband.free_labels WHERE ${isOfUser} AND uses = 0`,
        tx`UPDATE sideband.users SET heads = 0 WHERE ${isOfUser}`,
        tx`DELETE FROM sideband.users WHERE ${isOfUser} AND facts = 0`,
      );
    await Promise.all(statements);
  });
}

/** As k, the histories: of each the first ordinal, and the one that comes after the last. */
function keptOf(sql: Sql, isWanted: postgres.PendingQuery<postgres.Row[]>) {
  return sql`(
    SELECT h.*, coalesce(f.ordinal, h.last + 1) AS next FROM (
      SELECT slot, account, user_id, place, label, min(ordinal) AS first, max(ordinal) AS last FROM sideband.history
      WHERE ${isWanted} GROUP BY slot, account, user_id, place, label
    ) AS h LEFT JOIN sideband.facts AS f ON f.slot = h.slot AND f.account = h.account AND f.user_id = h.user_id
      AND f.place = h.place AND f.label = h.label) AS k`;
}
