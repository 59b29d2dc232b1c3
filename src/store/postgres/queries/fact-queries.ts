/**
 * Reads and single changes of users' facts. Each is one statement on one slot, so it sees one snapshot: a stamp and
 * the facts it stands for always belong together.
 */

import { assertInteger } from "../../../base/assert.ts";
import { CRC32_BYTES } from "../../../base/crc32.ts";
import { CHANNEL_COUNT } from "../../../base/limits.ts";
import type { FactCode, FactRecord, UserState } from "../../../memory/ports.ts";
import { SLOT_COUNT, userSlot } from "../cluster/placement.ts";
import type { Query, Sql } from "../connection/database.ts";
import { answerOf } from "../connection/tickets.ts";
import { hexOf } from "./write-call.ts";

interface FactRow {
  readonly ticket: number;
  readonly channel: number;
  readonly value: string;
  readonly revision: number;
  readonly updated_at_ms: number;
  readonly code_version: number | null;
  readonly code_length: number | null;
  readonly code_bytes: Uint8Array | null;
}

/** The columns of what was not found are null. */
type FoundRow = FactRow | { readonly ticket: number; readonly channel: null };
type UserRow = FoundRow & { readonly life: number; readonly user_revision: number };

export function readFact(account: string, userId: string, channel: number): Query<FactRecord | undefined> {
  return async (sql) => {
    const [row] = await answerOf(
      (ticket) => sql<FoundRow[]>`
        SELECT t.ticket, f.channel, f.value, f.revision, f.updated_at_ms, f.code_version, f.code_length, f.code_bytes
        FROM (SELECT ${ticket}::bigint AS ticket) AS t LEFT JOIN sideband.facts AS f
          ON f.slot = ${userSlot(account, userId)} AND f.account = ${account} AND f.user_id = ${userId}
          AND f.channel = ${channel}`,
    );
    return row.channel === null ? undefined : factOf(row);
  };
}

export function readStamp(account: string, userId: string): Query<string | undefined> {
  return async (sql) => {
    const [{ life, revision }] = await answerOf(
      (ticket) => sql<{ ticket: number; life: number | null; revision: number }[]>`
        SELECT t.ticket, u.life, u.revision FROM (SELECT ${ticket}::bigint AS ticket) AS t LEFT JOIN sideband.users AS u
          ON u.slot = ${userSlot(account, userId)} AND u.account = ${account} AND u.user_id = ${userId}`,
    );
    return life === null ? undefined : stampOf(life, revision);
  };
}

/** The limit lets a cluster find the users before it joins them to the ticket. */
export function readStamps(
  users: readonly { account: string; userId: string }[],
): Query<(string | undefined)[]> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<{ ticket: number; place: number | null; life: number; revision: number }[]>`
        SELECT t.ticket, u.place, u.life, u.revision FROM (SELECT ${ticket}::bigint AS ticket) AS t LEFT JOIN (
          SELECT w.place::integer AS place, u.life, u.revision
          FROM sideband.users AS u JOIN unnest(
            ${users.map(({ account, userId }) => userSlot(account, userId))}::integer[],
            ${users.map(({ account }) => account)}::text[],
            ${users.map(({ userId }) => userId)}::text[]
          ) WITH ORDINALITY AS w (slot, account, user_id, place)
            ON u.slot = w.slot AND u.account = w.account AND u.user_id = w.user_id
          LIMIT ${users.length}) AS u ON true`,
    );
    const stamps = new Array<string | undefined>(users.length).fill(undefined);
    for (const { place, life, revision } of rows) {
      if (place === null) continue;
      assertInteger(place, 1, users.length, "the place of a user");
      stamps[place - 1] = stampOf(life, revision);
    }
    return stamps;
  };
}

/** Both tables are named by the user itself, so that a cluster finds their machine. */
export function readUser(account: string, userId: string): Query<UserState | undefined> {
  const slot = userSlot(account, userId);
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<UserRow[]>`
        SELECT t.ticket, u.life, u.revision AS user_revision,
          f.channel, f.value, f.revision, f.updated_at_ms, f.code_version, f.code_length, f.code_bytes
        FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.users AS u ON u.slot = ${slot} AND u.account = ${account} AND u.user_id = ${userId}
        LEFT JOIN sideband.facts AS f ON f.slot = ${slot} AND f.account = ${account} AND f.user_id = ${userId}
        ORDER BY f.channel`,
    );
    const facts = rows.flatMap((row) => (row.channel === null ? [] : [factOf(row)]));
    if (facts.length === 0) return undefined;
    return { stamp: stampOf(rows[0].life, rows[0].user_revision), facts };
  };
}

export function saveCodes(
  account: string,
  userId: string,
  codes: readonly { channel: number; revision: number; code: FactCode }[],
): Query<void> {
  return async (sql) => {
    await answerOf(
      (ticket) => sql<{ ticket: number }[]>`
      SELECT ticket FROM sideband.save_codes(
        ${userSlot(account, userId)}::integer, ${account}::text, ${userId}::text,
        ${codes.map(({ channel }) => channel)}::integer[], ${codes.map(({ revision }) => revision)}::bigint[],
        ${codes.map(({ code }) => code.version)}::integer[], ${codes.map(({ code }) => code.bits.length)}::integer[],
        ${codes.map(({ code }) => hexOf(withChecksum(code)))}::text[]::bytea[],
        ${ticket}::bigint) AS ticket`,
    );
  };
}

/** Forgets these facts; without `facts`, the whole user. */
export function forgetFacts(
  account: string,
  userId: string,
  facts?: readonly { channel: number; revision?: number }[],
): Query<{ forgotten: number; channelCount: number }> {
  return async (sql) => {
    const [row] = await answerOf(
      (ticket) => sql<{ ticket: number; forgotten: number; channels_left: number }[]>`
      SELECT ticket, forgotten, channels_left FROM sideband.forget_facts(
        ${userSlot(account, userId)}::integer, ${account}::text, ${userId}::text,
        ${facts?.map(({ channel }) => channel) ?? null}::integer[],
        ${facts?.map(({ revision }) => revision ?? null) ?? null}::bigint[], ${ticket}::bigint)`,
    );
    assertInteger(row.forgotten, 0, CHANNEL_COUNT, "the number of forgotten facts");
    assertInteger(row.channels_left, 0, CHANNEL_COUNT, "the number of channels in use");
    return { forgotten: row.forgotten, channelCount: row.channels_left };
  };
}

const WALK_PAGE = 1000;
/** Slots in one query when walking one account. */
const WALK_SLOTS = 64;

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
    last = rows[rows.length - 1];
  }
}

/** Each query names its slots: the account is only the second column of the index, after the slot. */
export async function* walkUsersOf(
  read: Reading,
  account: string,
): AsyncGenerator<{ account: string; userId: string }> {
  for (let first = 0; first < SLOT_COUNT; first += WALK_SLOTS) {
    const slots = Array.from({ length: WALK_SLOTS }, (_, i) => first + i);
    let last: Pick<WalkedUser, "slot" | "userId"> = { slot: -1, userId: "" };
    for (;;) {
      const { slot, userId } = last;
      const rows = await readPage(
        read,
        (sql, ticket) => sql<WalkedUser[]>`
          SELECT t.ticket, u.slot, u.user_id AS "userId"
          FROM (SELECT ${ticket}::bigint AS ticket) AS t LEFT JOIN (
            SELECT slot, user_id FROM sideband.users
            WHERE slot = ANY(${slots}::integer[]) AND account = ${account} AND (slot, user_id) > (${slot}, ${userId})
            ORDER BY slot, user_id LIMIT ${WALK_PAGE}) AS u ON true
          ORDER BY u.slot, u.user_id`,
      );
      for (const row of rows) yield { account, userId: row.userId };
      if (rows.length < WALK_PAGE) break;
      last = rows[rows.length - 1];
    }
  }
}

async function readPage(
  read: Reading,
  ask: (sql: Sql, ticket: number) => PromiseLike<WalkedUser[]>,
): Promise<WalkedUser[]> {
  const rows = await read((sql) => answerOf((ticket) => ask(sql, ticket)));
  return rows.filter(({ slot }) => slot !== null);
}

/** code_bytes: the checksum, then the bits. */
function withChecksum({ bits, checksum }: FactCode): Buffer {
  const packed = Buffer.alloc(CRC32_BYTES + bits.bytes.length);
  packed.writeUInt32BE(checksum);
  packed.set(bits.bytes, CRC32_BYTES);
  return packed;
}

function factOf(row: FactRow): FactRecord {
  const { channel, value, revision, updated_at_ms: updatedAtMs } = row;
  if (row.code_version === null || row.code_length === null || row.code_bytes === null) {
    return { channel, value, revision, updatedAtMs };
  }
  const packed = Buffer.from(row.code_bytes);
  const bits = { length: row.code_length, bytes: Uint8Array.from(packed.subarray(CRC32_BYTES)) };
  const code = { version: row.code_version, bits, checksum: packed.readUInt32BE(0) };
  return { channel, value, revision, updatedAtMs, code };
}

function stampOf(life: number, revision: number): string {
  return `${life.toString(36)}.${revision.toString(36)}`;
}
