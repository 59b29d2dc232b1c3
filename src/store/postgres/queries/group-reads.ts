/**
 * The first trip of a group: what its writes name is locked and read, in one order on all nodes (replay records, month
 * counters, users, each sorted), so that two nodes wait for one another but never in a circle. The statements are sent
 * together; nobody waits between them. A record that is missing is made, so that there is something to lock.
 */

import { findChannel } from "../../../base/channels.ts";
import { readingOf } from "../../../memory/law/law.ts";
import { type FactName, type FoundFact, nameOf } from "../../../memory/law/user-memory.ts";
import type { EarlierFact, WriteRequest } from "../../../memory/ports.ts";
import type { Place } from "../../../memory/records.ts";
import { DIRECTORY_SLOT, userSlot } from "../cluster/placement.ts";
import type { Sql } from "../connection/database.ts";
import { answerOf, type Ticketed, rowsOf as ticketed } from "../connection/tickets.ts";
import { earlierOf, type FactRow, factOf } from "./fact-rows.ts";
import { compare, type FoundReplay, lockCounters, lockReplays } from "./group-locks.ts";
import { arraysOf, type Cell, type Rows } from "./rows.ts";

/** A user of the group, with what its writes name. */
export interface GroupUser {
  readonly slot: number;
  readonly account: string;
  readonly userId: string;
  readonly names: readonly FactName[];
  /** Everything at these places and inside them. */
  readonly inside: readonly Place[];
  readonly history: boolean;
}

export interface FoundUserRow {
  readonly revision: number;
  readonly facts: number;
  readonly heads: number;
  readonly found: readonly FoundFact[];
}

export interface FoundGroup {
  readonly users: readonly FoundUserRow[];
  /** Of each write, as its position in the group. */
  readonly replays: ReadonlyMap<number, FoundReplay>;
  readonly others: ReadonlyMap<number, number>;
  /** Of each limited key and month. */
  readonly used: ReadonlyMap<string, number>;
  /** Channels of removed labels, by account. */
  readonly gone: ReadonlyMap<string, ReadonlySet<string>>;
  /** Accounts that somebody listens to. */
  readonly heard: ReadonlySet<string>;
}

/** Nobody waits long for what somebody else has locked: the caller tries again with fewer users. */
const LOCK_TIMEOUT = "100ms";

/** A node that is stopped between the two trips keeps its users locked for no longer than this. */
const IDLE_TIMEOUT = "3s";

/** The users of a group, sorted, and the number of each write's. */
export function usersOf(requests: readonly WriteRequest[]): { users: GroupUser[]; userOf: number[] } {
  const byUser = new Map<string, WriteRequest[]>();
  for (const request of requests) {
    const name = userName(request);
    byUser.set(name, [...(byUser.get(name) ?? []), request]);
  }
  const users = [...byUser.values()].map((writes) => {
    const [{ account, userId }] = writes;
    const readings = writes.map(readingOf);
    const names = readings.flatMap((reading) => reading.names);
    const places = writes.flatMap((write) => write.places);
    // Each write counts the labels of its places, also those that another one names.
    const labels = new Set(names.map(({ label }) => label));
    const counted = [...labels].flatMap((label) => places.map((place) => ({ place, label })));
    return {
      slot: userSlot(account, userId),
      account,
      userId,
      names: [...new Map([...names, ...counted].map((name) => [nameOf(name), name])).values()],
      inside: readings.flatMap((reading) => reading.inside),
      history: readings.some((reading) => reading.history),
    };
  });
  users.sort((a, b) => a.slot - b.slot || compare(a.account, b.account) || compare(a.userId, b.userId));
  const numbers = new Map(users.map((user, i) => [userName(user), i]));
  return { users, userOf: requests.map((request) => numbers.get(userName(request))!) };
}

/** Locks and reads. All statements are sent before the first answer is waited for. */
export async function readGroup(
  sql: Sql,
  rows: Rows,
  requests: readonly WriteRequest[],
  users: readonly GroupUser[],
): Promise<FoundGroup> {
  const settings = answerOf(
    (ticket) => sql<Ticketed[]>`
      SELECT ${ticket}::bigint AS ticket, pg_current_xact_id(), set_config('enable_seqscan', 'off', true),
        set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
        set_config('idle_in_transaction_session_timeout', ${IDLE_TIMEOUT}, true),
        CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`,
  );
  const replays = lockReplays(sql, rows, requests);
  const used = lockCounters(sql, rows, requests);
  const limit = answerOf(
    (ticket) => sql<Ticketed[]>`
      SELECT ${ticket}::bigint AS ticket, set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`,
  );
  const gone = holdLabels(sql, users);
  const locked = lockUsers(sql, rows, users);
  const named = readNamed(sql, rows, users);
  const last = readLast(sql, rows, users);
  const history = readHistory(sql, rows, users);
  const whole = users.map((user) => readInside(sql, user));
  const others = countOthers(sql, rows, requests);
  const heard = readHeard(sql, requests);
  const all = [settings, replays, used, limit, gone, locked, named, last, history, ...whole, others, heard];
  // The first that fails is the cause of all the others.
  const failed = (await Promise.allSettled(all)).find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  const [rowsLocked, rowsNamed, rowsLast, rowsHistory] = await Promise.all([locked, named, last, history]);
  const inside = await Promise.all(whole);
  const [namedBy, lastBy, historyBy] = [byUser(rowsNamed), byUser(rowsLast), byUser(rowsHistory)];
  return {
    users: users.map((user, i) => {
      const name = userName(user);
      const { revision, facts, heads } = rowsLocked.get(name) ?? missing();
      const present = [...(namedBy.get(name) ?? []), ...inside[i].filter(({ ended }) => ended === null)];
      const earlier = [...(historyBy.get(name) ?? []), ...inside[i].filter(isEarlier)];
      return { revision, facts, heads, found: foundOf(user, present, earlier, lastBy.get(name) ?? []) };
    }),
    replays: await replays,
    used: await used,
    others: await others,
    gone: await gone,
    heard: await heard,
  };
}

function missing(): never {
  throw new Error("every user of a group is locked");
}

/** Labels that are written stay until the commit: whoever removes one waits for it, and sees the facts then. */
async function holdLabels(sql: Sql, users: readonly GroupUser[]): Promise<Map<string, Set<string>>> {
  const own = users.flatMap(({ account, names }) =>
    names.filter(({ label }) => findChannel(label) === undefined).map(({ label }) => ({ account, label })),
  );
  const gone = new Map<string, Set<string>>();
  if (own.length === 0) return gone;
  const found = await ticketed(
    (ticket) => sql<(Ticketed & { account: string; label: string; removed: boolean })[]>`
      SELECT ${ticket}::bigint AS ticket, account, label, removed FROM sideband.labels
      WHERE slot = ${DIRECTORY_SLOT} AND account = ANY(${own.map(({ account }) => account)}::text[])
        AND label = ANY(${own.map(({ label }) => label)}::text[])
      ORDER BY account, label FOR KEY SHARE`,
  );
  for (const { account, label } of found.filter(({ removed }) => removed))
    gone.set(account, (gone.get(account) ?? new Set()).add(label));
  return gone;
}

interface UserCounts extends Ticketed {
  readonly account: string;
  readonly user_id: string;
  readonly revision: number;
  readonly facts: number;
  readonly heads: number;
}

/** A new one gets the revision that its table has for it. */
async function lockUsers(
  sql: Sql,
  rows: Rows,
  users: readonly GroupUser[],
): Promise<Map<string, UserCounts>> {
  const cells = users.map(({ slot, account, userId }): Cell[] => [slot, account, userId]);
  const found = await answerOf(
    (ticket) => sql<UserCounts[]>`
      INSERT INTO sideband.users AS u (slot, account, user_id)
      ${rows(["integer", "text", "text"], cells)}
      ON CONFLICT (slot, account, user_id) DO UPDATE SET revision = u.revision
      RETURNING ${ticket}::bigint AS ticket, u.account, u.user_id, u.revision, u.facts, u.heads`,
  );
  return new Map(found.map((row) => [userName({ account: row.account, userId: row.user_id }), row]));
}

type NamedRow = Ticketed & FactRow & { readonly account: string; readonly user_id: string };

const FACT_COLUMNS = (sql: Sql) => sql`
  f.place, f.label, f.value, f.revision, f.updated_at_ms, f.since_ms, f.expires_at_ms, f.written_by, f.session_id,
  f.ordinal`;

async function readNamed(sql: Sql, rows: Rows, users: readonly GroupUser[]): Promise<readonly NamedRow[]> {
  const cells = namedCells(users);
  if (cells.length === 0) return [];
  return ticketed(
    (ticket) => sql<NamedRow[]>`
      SELECT ${ticket}::bigint AS ticket, f.account, f.user_id, ${FACT_COLUMNS(sql)}
      FROM (${arraysOf(sql, NAME_TYPES, cells)}) AS t (slot, account, user_id, place, label)
      JOIN sideband.facts AS f ON ${isNamed(sql)} ${rows.slotsOf(cells)}`,
  );
}

type LastRow = Ticketed & FactName & { account: string; user_id: string; last: number };

/** Of labels that have no fact any more the history tells which value was the last. */
async function readLast(sql: Sql, rows: Rows, users: readonly GroupUser[]): Promise<readonly LastRow[]> {
  const cells = namedCells(users);
  if (cells.length === 0) return [];
  return ticketed(
    (ticket) => sql<LastRow[]>`
      SELECT ${ticket}::bigint AS ticket, f.account, f.user_id, f.place, f.label, max(f.ordinal) AS last
      FROM (${arraysOf(sql, NAME_TYPES, cells)}) AS t (slot, account, user_id, place, label)
      JOIN sideband.history AS f ON ${isNamed(sql)} ${rows.slotsOf(cells)}
      GROUP BY f.slot, f.account, f.user_id, f.place, f.label`,
  );
}

type HistoryRow = NamedRow & { readonly ended: EarlierFact["ended"]; readonly ended_at_ms: number };

async function readHistory(
  sql: Sql,
  rows: Rows,
  users: readonly GroupUser[],
): Promise<readonly HistoryRow[]> {
  const cells = namedCells(users.filter(({ history }) => history));
  if (cells.length === 0) return [];
  return ticketed(
    (ticket) => sql<HistoryRow[]>`
      SELECT ${ticket}::bigint AS ticket, f.account, f.user_id, f.place, f.label, f.value, f.revision, f.updated_at_ms,
        f.since_ms, NULL AS expires_at_ms, f.written_by, f.session_id, f.ordinal, f.ended, f.ended_at_ms
      FROM (${arraysOf(sql, NAME_TYPES, cells)}) AS t (slot, account, user_id, place, label)
      JOIN sideband.history AS f ON ${isNamed(sql)} ${rows.slotsOf(cells)}`,
  );
}

const NAME_TYPES = ["integer", "text", "text", "text", "text"] as const;

function namedCells(users: readonly GroupUser[]): Cell[][] {
  return users
    .filter(({ inside }) => inside.length === 0)
    .flatMap(({ slot, account, userId, names }) =>
      names.map(({ place, label }): Cell[] => [slot, account, userId, place, label]),
    );
}

function isNamed(sql: Sql) {
  return sql`f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id AND f.place = t.place
    AND f.label = t.label`;
}

/** A fact has no end, unless it is one that was. */
type InsideRow = NamedRow & { readonly ended: EarlierFact["ended"] | null; readonly ended_at_ms: number };

/** Everything at places of a user and inside them, of one slot. */
async function readInside(
  sql: Sql,
  { slot, account, userId, inside }: GroupUser,
): Promise<readonly InsideRow[]> {
  if (inside.length === 0) return [];
  const isOfUser = sql`
    slot = ${slot} AND account = ${account} AND user_id = ${userId} AND EXISTS (
      SELECT FROM unnest(${[...inside]}::text[]) AS t (outside)
      WHERE t.outside = '' OR place = t.outside OR starts_with(place, t.outside || '/'))`;
  return ticketed(
    (ticket) => sql<InsideRow[]>`
      SELECT ${ticket}::bigint AS ticket, account, user_id, place, label, value, revision, updated_at_ms, since_ms,
        expires_at_ms, written_by, session_id, ordinal, NULL AS ended, NULL::bigint AS ended_at_ms
      FROM sideband.facts WHERE ${isOfUser}
      UNION ALL
      SELECT ${ticket}::bigint AS ticket, account, user_id, place, label, value, revision, updated_at_ms, since_ms,
        NULL, written_by, session_id, ordinal, ended, ended_at_ms
      FROM sideband.history WHERE ${isOfUser}`,
  );
}

/** Of each write: labels with a live fact in its places that no write of its user names. */
async function countOthers(
  sql: Sql,
  rows: Rows,
  requests: readonly WriteRequest[],
): Promise<Map<number, number>> {
  const named = new Map<string, Set<string>>();
  for (const request of requests) {
    const labels = named.get(userName(request)) ?? new Set();
    for (const { label } of readingOf(request).names) labels.add(label);
    named.set(userName(request), labels);
  }
  const cells = requests.flatMap(({ account, userId, places, nowMs }, write) => {
    const labels = `{${[...named.get(userName({ account, userId }))!].join(",")}}`;
    const slot = userSlot(account, userId);
    return places.map((place): Cell[] => [slot, account, userId, place, write, nowMs, labels]);
  });
  if (cells.length === 0) return new Map();
  const types = ["integer", "text", "text", "text", "integer", "bigint", "text"] as const;
  const counts = await ticketed(
    (ticket) => sql<(Ticketed & { write: number; count: number })[]>`
      SELECT ${ticket}::bigint AS ticket, t.write, count(DISTINCT f.label) AS count
      FROM (${arraysOf(sql, types, cells)}) AS t (slot, account, user_id, place, write, now_ms, named)
      JOIN sideband.facts AS f ON f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id AND f.place = t.place
        ${rows.slotsOf(cells)}
      WHERE (f.expires_at_ms IS NULL OR f.expires_at_ms > t.now_ms) AND f.label <> ALL (t.named::text[])
      GROUP BY f.slot, t.write`,
  );
  return new Map(counts.map(({ write, count }) => [write, count]));
}

/** After the transaction has its number: who begins to listen waits for those that did not see it. */
async function readHeard(sql: Sql, requests: readonly WriteRequest[]): Promise<Set<string>> {
  const accounts = [...new Set(requests.map(({ account }) => account))];
  const found = await ticketed(
    (ticket) => sql<(Ticketed & { account: string })[]>`
      SELECT ${ticket}::bigint AS ticket, account FROM sideband.event_logs
      WHERE slot = 0 AND account = ANY(${accounts}::text[])`,
  );
  return new Set(found.map(({ account }) => account));
}

function foundOf(
  { names }: GroupUser,
  present: readonly FactRow[],
  earlier: readonly HistoryRow[],
  last: readonly LastRow[],
): FoundFact[] {
  const byName = new Map<string, { -readonly [Part in keyof FoundFact]: FoundFact[Part] }>();
  const of = ({ place, label }: FactName) => {
    const name = nameOf({ place, label });
    const known = byName.get(name) ?? { place, label, present: undefined, earlier: [], last: 0 };
    byName.set(name, known);
    return known;
  };
  for (const name of names) of(name);
  for (const row of present) {
    const fact = of(row);
    fact.present = factOf(row);
    fact.last = row.ordinal;
  }
  for (const row of earlier.toSorted((a, b) => a.ordinal - b.ordinal)) {
    const fact = of(row);
    fact.earlier = [...fact.earlier, earlierOf(row)];
    fact.last = Math.max(fact.last, row.ordinal);
  }
  for (const row of last) {
    const fact = of(row);
    fact.last = Math.max(fact.last, row.last);
  }
  return [...byName.values()];
}

function isEarlier(row: InsideRow): row is HistoryRow {
  return row.ended !== null;
}

function byUser<Row extends { readonly account: string; readonly user_id: string }>(
  rows: readonly Row[],
): Map<string, Row[]> {
  const grouped = new Map<string, Row[]>();
  for (const row of rows) {
    const name = userName({ account: row.account, userId: row.user_id });
    const known = grouped.get(name);
    if (known === undefined) grouped.set(name, [row]);
    else known.push(row);
  }
  return grouped;
}

export function userName({ account, userId }: Pick<WriteRequest, "account" | "userId">): string {
  return `${account}\0${userId}`;
}
