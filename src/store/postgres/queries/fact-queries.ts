/**
 * Reads and single changes of users' facts. Each is one statement, and where it is of one user, on one slot: it sees one
 * snapshot, so that a stamp and the facts it stands for always belong together.
 */

import { elementAt } from "../../../base/assert.ts";
import { USER_ID_LENGTH_MAX } from "../../../base/limits.ts";
import { atOnce, inSlices, type Sliced } from "../../../base/slices.ts";
import type {
  EarlierFact,
  FactRecord,
  FreeLabelsQuery,
  LifeQuery,
  PlacedCode,
  PlacedVector,
  UserDescription,
  UserLife,
  UserState,
  View,
} from "../../../memory/ports.ts";
import type { FreeLabel, Place } from "../../../memory/records.ts";
import { userSlot } from "../cluster/placement.ts";
import type { Query, Sql } from "../connection/database.ts";
import { answerOf, recordOf, rowsOf, type Ticketed } from "../connection/tickets.ts";
import { earlierOf, type FactRow, factOf, withChecksum } from "./fact-rows.ts";
import { arraysOf, type Column, columnsOf, hexOf, Statements } from "./statements.ts";

/** The columns of what was not found are null. */
type FoundRow = { readonly ticket: number } & (FactRow | { readonly label: null });
type UserRow = FoundRow & { readonly user_revision: number };

/** Resolves when it is the caller's turn to go on with many rows. */
type Turn = () => Promise<void>;

const FACT_COLUMNS = (sql: Sql) => sql`
  f.place, f.label, f.value, f.revision, f.updated_at_ms, f.since_ms, f.expires_at_ms, f.written_by, f.session_id,
  f.ordinal, f.origin, f.pinned, f.author, f.number AS label_number`;

export function readFact(
  { account, userId, places, nowMs }: View,
  label: string,
): Query<FactRecord | undefined> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<FoundRow[]>`
        SELECT t.ticket, ${FACT_COLUMNS(sql)}
        FROM (SELECT ${ticket}::bigint AS ticket) AS t LEFT JOIN sideband.facts AS f
          ON f.slot = ${userSlot(account, userId)} AND f.account = ${account} AND f.user_id = ${userId}
          AND f.place = ANY(${[...places]}::text[]) AND f.label = ${label}
          AND (f.expires_at_ms IS NULL OR f.expires_at_ms > ${nowMs})`,
    );
    return countingIn(places, atOnce(factsOf(rows)))[0];
  };
}

export function readStamp(account: string, userId: string): Query<string | undefined> {
  return async (sql) => {
    const [{ revision }] = await answerOf(
      (ticket) => sql<{ ticket: number; revision: number | null }[]>`
        SELECT t.ticket, u.revision FROM (SELECT ${ticket}::bigint AS ticket) AS t LEFT JOIN sideband.users AS u
          ON u.slot = ${userSlot(account, userId)} AND u.account = ${account} AND u.user_id = ${userId}`,
    );
    return revision === null ? undefined : stampOf(revision);
  };
}

/** Both tables are named by the user itself, so that a cluster finds their machine. */
export function readUser({ account, userId, places, nowMs }: View, turn: Turn): Query<UserState | undefined> {
  const slot = userSlot(account, userId);
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<UserRow[]>`
        SELECT t.ticket, u.revision AS user_revision, ${FACT_COLUMNS(sql)},
          f.codebook_version, f.code_length, f.code_bytes
        FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.users AS u ON u.slot = ${slot} AND u.account = ${account} AND u.user_id = ${userId}
        LEFT JOIN sideband.facts AS f ON f.slot = ${slot} AND f.account = ${account} AND f.user_id = ${userId}
          AND f.place = ANY(${[...places]}::text[]) AND (f.expires_at_ms IS NULL OR f.expires_at_ms > ${nowMs})`,
    );
    const all = await inSlices(factsOf(rows), turn);
    if (all.length === 0) return undefined;
    const ends = all.flatMap(({ expiresAtMs }) => expiresAtMs ?? []);
    return {
      stamp: stampOf(rows[0].user_revision),
      facts: countingIn(places, all),
      nextEndMs: ends.length === 0 ? null : Math.min(...ends),
    };
  };
}

/** A fact has no end, unless it has expired: then it is among what was. */
type LifeRow = UserRow & {
  readonly ended: EarlierFact["ended"] | null;
  readonly ended_at_ms: number;
  readonly ending: string | null;
};

export function readLife(
  account: string,
  userId: string,
  { nowMs, place, label, isPresent = false }: LifeQuery,
  turn: Turn,
): Query<UserLife | undefined> {
  const slot = userSlot(account, userId);
  return async (sql) => {
    const isOfUser = sql`
      slot = ${slot} AND account = ${account} AND user_id = ${userId}
      AND (${place ?? null}::text IS NULL OR place = ${place ?? null}::text)
      AND (${label ?? null}::text IS NULL OR label = ${label ?? null}::text)`;
    const rows = await answerOf(
      (ticket) => sql<LifeRow[]>`
        SELECT t.ticket, u.revision AS user_revision, ${FACT_COLUMNS(sql)}, f.ended, f.ended_at_ms, f.ending
        FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.users AS u ON u.slot = ${slot} AND u.account = ${account} AND u.user_id = ${userId}
        LEFT JOIN (
          SELECT place, label, value, revision, updated_at_ms, since_ms, expires_at_ms, written_by, session_id, ordinal, origin, pinned, author,
            number, CASE WHEN expires_at_ms <= ${nowMs} THEN 'expired' END AS ended, expires_at_ms AS ended_at_ms,
            NULL AS ending
          FROM sideband.facts WHERE ${isOfUser}
          UNION ALL
          SELECT place, label, value, revision, updated_at_ms, since_ms, expires_at_ms, written_by, session_id, ordinal, origin, pinned, author,
            NULL, ended, ended_at_ms, ending
          FROM sideband.history WHERE ${isOfUser} AND NOT ${isPresent}::boolean
        ) AS f ON true
        ORDER BY f.place, f.label, f.ordinal`,
    );
    if (rows[0].user_revision === null) return undefined;
    const life = await inSlices(lifeOf(rows), turn);
    return { stamp: stampOf(rows[0].user_revision), ...life, ...(isPresent ? { earlier: [] } : {}) };
  };
}

function isEnded<Row extends Pick<LifeRow, "ended">>(row: Row): row is Row & { ended: EarlierFact["ended"] } {
  return row.ended !== null;
}

function* lifeOf(rows: readonly LifeRow[]): Sliced<Pick<UserLife, "facts" | "earlier">> {
  const life = { facts: [] as FactRecord[], earlier: [] as EarlierFact[] };
  for (const row of rows) {
    yield;
    if (row.label === null) continue;
    if (isEnded(row)) life.earlier.push(earlierOf(row));
    else life.facts.push(factOf(row));
  }
  return life;
}

/** What a list of users shows of one. */
export function describeUser(
  account: string,
  userId: string,
  nowMs: number,
): Query<UserDescription | undefined> {
  const slot = userSlot(account, userId);
  type Row = { ticket: number; is_known: boolean; place: Place | null; facts: number; updated_at_ms: number };
  return async (sql) => {
    const isOfUser = sql`slot = ${slot} AND account = ${account} AND user_id = ${userId}`;
    const rows = await answerOf(
      (ticket) => sql<Row[]>`
        SELECT t.ticket, u.slot IS NOT NULL AS is_known, f.place, f.facts, f.updated_at_ms
        FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN (SELECT slot FROM sideband.users WHERE ${isOfUser}) AS u ON true
        LEFT JOIN (
          SELECT place, count(*)::integer AS facts, max(updated_at_ms) AS updated_at_ms FROM sideband.facts
          WHERE ${isOfUser} AND (expires_at_ms IS NULL OR expires_at_ms > ${nowMs}) GROUP BY place
        ) AS f ON true
        ORDER BY f.place`,
    );
    if (!rows[0].is_known) return undefined;
    const found = rows.filter(({ place }) => place !== null);
    const updatedAtMs = found.reduce<number | null>(
      (last, row) => Math.max(last ?? 0, row.updated_at_ms),
      null,
    );
    return { facts: new Map(found.map(({ place, facts }) => [place!, facts])), updatedAtMs };
  };
}

/** The places where a user has facts or a history, in the order of their bytes. */
export function listPlaces(account: string, userId: string): Query<Place[]> {
  const slot = userSlot(account, userId);
  return async (sql) => {
    const isOfUser = sql`slot = ${slot} AND account = ${account} AND user_id = ${userId}`;
    const rows = await answerOf(
      (ticket) => sql<{ ticket: number; place: Place | null }[]>`
        SELECT t.ticket, f.place FROM (SELECT ${ticket}::bigint AS ticket) AS t LEFT JOIN (
          SELECT place FROM sideband.facts WHERE ${isOfUser}
          UNION SELECT place FROM sideband.history WHERE ${isOfUser}) AS f ON true
        ORDER BY f.place`,
    );
    return rows.flatMap(({ place }) => place ?? []);
  };
}

/** The labels that a person has made. They are ASCII: all that begin with the prefix are below the prefix and a tilde. */
export function readFreeLabels(
  account: string,
  userId: string,
  { prefix, after = "", limit }: FreeLabelsQuery,
): Query<FreeLabel[]> {
  type Row = Ticketed & (FreeLabel | { readonly label: null });
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<Row[]>`
        SELECT t.ticket, l.label, l.number, l.uses, l.description FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN (
          SELECT label, number, uses, description FROM sideband.free_labels
          WHERE slot = ${userSlot(account, userId)} AND account = ${account} AND user_id = ${userId}
            AND label > ${after} AND label >= ${prefix} AND label < ${`${prefix}~`}
          ORDER BY label LIMIT ${limit}) AS l ON true
        ORDER BY l.label`,
    );
    return rows.flatMap((row) => (row.label === null ? [] : [recordOf(row)]));
  };
}

const CODE: readonly Column<PlacedCode>[] = [
  ...columnsOf<PlacedCode>({ place: "text", label: "text", revision: "bigint" }),
  ["integer", ({ code }) => code.version],
  ["integer", ({ code }) => code.bits.length],
  ["bytea", ({ code }) => hexOf(withChecksum(code))],
];

/** With the same revision a fact has the same value. */
export function saveCodes(account: string, userId: string, codes: readonly PlacedCode[]): Query<void> {
  return async (sql) => {
    if (codes.length === 0) return;
    await rowsOf(
      (ticket) => new Statements(sql, false).send<Ticketed>`
        UPDATE sideband.facts AS f SET codebook_version = t.version, code_length = t.length, code_bytes = t.bytes
        FROM (${arraysOf(CODE, codes)}) AS t (place, label, revision, version, length, bytes)
        WHERE f.slot = ${userSlot(account, userId)} AND f.account = ${account} AND f.user_id = ${userId}
          AND f.place = t.place AND f.label = t.label AND f.revision = t.revision
        RETURNING ${ticket}::bigint AS ticket`,
    );
  };
}

interface VectorRow {
  readonly ticket: number;
  readonly place: string | null;
  readonly label: string;
  readonly revision: number;
  readonly vector: Uint8Array;
}

export function readVectors(account: string, userId: string): Query<PlacedVector[]> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<VectorRow[]>`
        SELECT t.ticket, f.place, f.label, f.revision, f.vector
        FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.facts AS f ON f.slot = ${userSlot(account, userId)} AND f.account = ${account}
          AND f.user_id = ${userId} AND f.vector IS NOT NULL`,
    );
    return rows.flatMap(({ place, label, revision, vector }) =>
      place === null ? [] : [{ place, label, revision, vector }],
    );
  };
}

const VECTOR: readonly Column<PlacedVector>[] = [
  ...columnsOf<PlacedVector>({ place: "text", label: "text", revision: "bigint" }),
  ["bytea", ({ vector }) => hexOf(vector)],
];

/** With the same revision a fact has the same value. */
export function saveVectors(account: string, userId: string, vectors: readonly PlacedVector[]): Query<void> {
  return async (sql) => {
    if (vectors.length === 0) return;
    await rowsOf(
      (ticket) => new Statements(sql, false).send<Ticketed>`
        UPDATE sideband.facts AS f SET vector = t.vector
        FROM (${arraysOf(VECTOR, vectors)}) AS t (place, label, revision, vector)
        WHERE f.slot = ${userSlot(account, userId)} AND f.account = ${account} AND f.user_id = ${userId}
          AND f.place = t.place AND f.label = t.label AND f.revision = t.revision
        RETURNING ${ticket}::bigint AS ticket`,
    );
  };
}

const WALK_PAGE = 1000;

type Reading = <T>(query: Query<T>) => Promise<T>;

interface WalkedUser {
  readonly ticket: number;
  readonly slot: number | null;
  readonly account: string;
  readonly userId: string;
}

/** In the order of slot, account and user. Each page begins where the last one ended. */
export async function* walkAllUsers(read: Reading): AsyncGenerator<{ account: string; userId: string }> {
  let last: Omit<WalkedUser, "ticket"> = { slot: -1, account: "", userId: "" };
  for (;;) {
    const { slot, account, userId } = last;
    const rows = await readPage(
      read,
      (sql, ticket) => sql<WalkedUser[]>`
        SELECT t.ticket, u.slot, u.account, u.user_id AS "userId"
        FROM (SELECT ${ticket}::bigint AS ticket) AS t LEFT JOIN (
          SELECT slot, account, user_id FROM sideband.users
          WHERE (slot, account, user_id) > (${slot}, ${account}, ${userId})
          ORDER BY slot, account, user_id LIMIT ${WALK_PAGE}) AS u ON true
        ORDER BY u.slot, u.account, u.user_id`,
    );
    for (const row of rows) yield { account: row.account, userId: row.userId };
    if (rows.length < WALK_PAGE) return;
    last = elementAt(rows, rows.length - 1);
  }
}

/** In the order of their bytes, which is that of their code points. */
export function listUsers(
  account: string,
  { prefix, after, limit }: { readonly prefix: string; readonly after: string; readonly limit: number },
): Query<string[]> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<{ ticket: number; userId: string | null }[]>`
        SELECT t.ticket, u.user_id AS "userId" FROM (SELECT ${ticket}::bigint AS ticket) AS t LEFT JOIN (
          SELECT user_id FROM sideband.users
          WHERE account = ${account} AND user_id > ${after} AND user_id >= ${prefix}
            AND user_id < ${endOf(prefix)}
          ORDER BY user_id LIMIT ${limit}) AS u ON true
        ORDER BY u.user_id`,
    );
    return rows.flatMap(({ userId }) => userId ?? []);
  };
}

/** After all that begins with the text and is no longer than a user id may be. */
function endOf(prefix: string): string {
  return prefix + "\u{10FFFF}".repeat(USER_ID_LENGTH_MAX + 1);
}

export async function* walkUsersOf(
  read: Reading,
  account: string,
): AsyncGenerator<{ account: string; userId: string }> {
  for (let after = ""; ; ) {
    const users = await read(listUsers(account, { prefix: "", after, limit: WALK_PAGE }));
    for (const userId of users) yield { account, userId };
    if (users.length < WALK_PAGE) return;
    after = elementAt(users, users.length - 1);
  }
}

async function readPage(
  read: Reading,
  ask: (sql: Sql, ticket: number) => PromiseLike<WalkedUser[]>,
): Promise<WalkedUser[]> {
  const rows = await read((sql) => answerOf((ticket) => ask(sql, ticket)));
  return rows.filter(({ slot }) => slot !== null);
}

function* factsOf(rows: readonly FoundRow[]): Sliced<FactRecord[]> {
  const facts: FactRecord[] = [];
  for (const row of rows) {
    yield;
    if (row.label !== null) facts.push(factOf(row));
  }
  return facts;
}

/** Of several facts on a label, the one of the innermost place; in the order of labels. */
function countingIn(places: readonly Place[], facts: readonly FactRecord[]): FactRecord[] {
  const depth = ({ place }: FactRecord) => places.indexOf(place);
  const inner = new Map<string, FactRecord>();
  for (const fact of facts.toSorted((a, b) => depth(a) - depth(b))) inner.set(fact.label, fact);
  return [...inner.values()].sort((a, b) => (a.label < b.label ? -1 : 1));
}

/** No two states of a user have the same revision. */
function stampOf(revision: number): string {
  return revision.toString(36);
}
