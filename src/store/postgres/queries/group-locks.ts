/**
 * The users of a group, and what it locks, in one order on all nodes (replay records, labels, users, each sorted; counters
 * in the second trip, group-writes.ts), so that two nodes wait for one another but never in a circle. A record that is
 * missing is made, so that there is something to lock.
 */

import { assert, elementAt } from "../../../base/assert.ts";
import { findChannel } from "../../../base/channels.ts";
import { readingOf } from "../../../memory/law/law.ts";
import { type FactName, nameOf } from "../../../memory/law/user-memory.ts";
import type { Replay, WriteRequest } from "../../../memory/ports.ts";
import type { Place } from "../../../memory/records.ts";
import { DIRECTORY_SLOT, replaySlot, userSlot } from "../cluster/placement.ts";
import { answerOf, type Ticketed, rowsOf as ticketed } from "../connection/tickets.ts";
import { type Column, columnsIn, columnsOf, hexOf, part, type Statements } from "./statements.ts";

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

/** The users of a group, sorted, and the number of each write's. */
export function usersOf(requests: readonly WriteRequest[]): { users: GroupUser[]; userOf: number[] } {
  const byUser = new Map<string, WriteRequest[]>();
  for (const request of requests) {
    const name = userName(request);
    const writes = byUser.get(name);
    if (writes === undefined) byUser.set(name, [request]);
    else writes.push(request);
  }
  const users = [...byUser.values()].map((writes) => {
    const { account, userId } = elementAt(writes, 0);
    const readings = writes.map(readingOf);
    const names = readings.flatMap((reading) => reading.names);
    const places = [...new Set(writes.flatMap((write) => write.places))];
    // Each write counts the labels of its places, also those that another one names.
    const labels = writes.length === 1 ? [] : [...new Set(names.map(({ label }) => label))];
    const counted = labels.flatMap((label) => places.map((place) => ({ place, label })));
    const named = [...names, ...counted];
    return {
      slot: userSlot(account, userId),
      account,
      userId,
      names: named.length === 1 ? named : [...new Map(named.map((name) => [nameOf(name), name])).values()],
      inside: readings.flatMap((reading) => reading.inside),
      history: readings.some((reading) => reading.history),
    };
  });
  users.sort((a, b) => a.slot - b.slot || compare(a.account, b.account) || compare(a.userId, b.userId));
  const numbers = new Map(users.map((user, i) => [userName(user), i]));
  return { users, userOf: requests.map((request) => numbers.get(userName(request))!) };
}

export function userName({ account, userId }: Pick<WriteRequest, "account" | "userId">): string {
  return `${account}\0${userId}`;
}

export const USER = columnsIn(
  "user",
  columnsOf<GroupUser>({ slot: "integer", account: "text", userId: "text" }),
);

export const userSlotOf = ({ user }: { readonly user: GroupUser }) => user.slot;

export const NAME: readonly Column<{ readonly user: GroupUser; readonly fact: FactName }>[] = [
  ...USER,
  ...columnsIn("fact", columnsOf<FactName>({ place: "text", label: "text" })),
];

export interface FoundReplay {
  /** No record was there. */
  readonly isNew: boolean;
  readonly replay: Replay | "mismatch" | undefined;
}

interface ReplayRow extends Ticketed {
  readonly key_id: string;
  readonly idempotency_key: string;
  readonly is_new: boolean;
  readonly fingerprint: Uint8Array;
  readonly channel_count: number;
  readonly revision: number;
  readonly expires_at_ms: number;
}

/** Of each write with an idempotency key: the first to insert a record goes on; the others see what was answered. */
export async function lockReplays(
  statements: Statements,
  requests: readonly WriteRequest[],
): Promise<Map<number, FoundReplay>> {
  const wanted = replayKeysOf(requests).sort(
    (a, b) => a.slot - b.slot || compare(a.keyId, b.keyId) || compare(a.key, b.key),
  );
  if (wanted.length === 0) return new Map();
  const found = await answerOf(
    (ticket) => statements.send<ReplayRow>`
      INSERT INTO sideband.replays AS r
        (slot, key_id, idempotency_key, fingerprint, expires_at_ms, channel_count, revision)
      ${statements.rows(NEW_REPLAY, wanted)}
      ON CONFLICT (slot, key_id, idempotency_key) DO UPDATE SET slot = r.slot
      RETURNING ${ticket}::bigint AS ticket, r.key_id, r.idempotency_key, r.xmax = 0 AS is_new, r.fingerprint,
        r.channel_count, r.revision, r.expires_at_ms`,
  );
  const byKey = new Map(wanted.map((one) => [`${one.keyId}\0${one.key}`, one]));
  return new Map(
    found.map((row) => {
      const one = byKey.get(`${row.key_id}\0${row.idempotency_key}`);
      assert(one !== undefined, "a replay record belongs to a write with a key");
      const isOver = row.is_new || row.expires_at_ms <= elementAt(requests, one.write).nowMs;
      const known = [one.fingerprint, ...(one.otherFingerprints ?? [])];
      const isSame = known.some((fingerprint) => Buffer.compare(fingerprint, row.fingerprint) === 0);
      const { channel_count: channelCount, revision } = row;
      const replay = isOver ? undefined : isSame ? { channelCount, revision } : "mismatch";
      return [one.write, { isNew: row.is_new, replay }];
    }),
  );
}

export interface ReplayKey extends NonNullable<WriteRequest["idempotency"]> {
  readonly slot: number;
  /** The position of its write. */
  readonly write: number;
}

/** The idempotency keys of a group. */
export function replayKeysOf(requests: readonly WriteRequest[]): ReplayKey[] {
  return requests.flatMap(({ idempotency }, write) =>
    idempotency === undefined
      ? []
      : [{ ...idempotency, write, slot: replaySlot(idempotency.keyId, idempotency.key) }],
  );
}

type KeyRow = Pick<ReplayKey, "slot" | "keyId" | "key">;

export const REPLAY_KEY = columnsOf<KeyRow>({ slot: "integer", keyId: "text", key: "text" });

export const REPLAY: readonly Column<ReplayKey>[] = [
  ...REPLAY_KEY,
  ["bytea", ({ fingerprint }) => hexOf(fingerprint)],
  ["bigint", ({ expiresAtMs }) => expiresAtMs],
];

const NEW_REPLAY: readonly Column<ReplayKey>[] = [...REPLAY, ["integer", () => 0], ["bigint", () => 0]];

export function counterName(quota: { keyId: string; month: string; counter?: string | undefined }): string {
  return `${quota.counter ?? quota.keyId}\0${quota.month}`;
}

/**
 * Labels that are written stay until the commit: whoever removes one waits for it, and sees the facts then. Resolves to
 * those that are gone, by account.
 */
export async function lockLabels(
  statements: Statements,
  users: readonly GroupUser[],
): Promise<Map<string, Set<string>>> {
  const own = users.flatMap(({ account, names }) =>
    names.filter(({ label }) => findChannel(label) === undefined).map(({ label }) => ({ account, label })),
  );
  const gone = new Map<string, Set<string>>();
  if (own.length === 0) return gone;
  const accounts = [...new Set(own.map(({ account }) => account))];
  const labels = [...new Set(own.map(({ label }) => label))];
  const found = await ticketed(
    (ticket) => statements.send<Ticketed & { account: string; label: string; removed: boolean }>`
      SELECT ${ticket}::bigint AS ticket, account, label, removed FROM sideband.labels
      WHERE slot = ${DIRECTORY_SLOT} AND account = ANY(${accounts}::text[]) AND label = ANY(${labels}::text[])
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
  readonly numbers: number;
}

/** A new one gets the revision that its table has for it. */
export async function lockUsers(
  statements: Statements,
  users: readonly GroupUser[],
): Promise<Map<string, UserCounts>> {
  const isMissing = statements.isCluster
    ? part``
    : part`WHERE (SELECT count(*) FROM known) < ${users.length}::bigint`;
  const rows = statements.rows(
    USER,
    users.map((user) => ({ user })),
  );
  const made = part`
    INSERT INTO sideband.users AS u (slot, account, user_id) ${rows} ${isMissing}
    ON CONFLICT (slot, account, user_id) DO UPDATE SET revision = u.revision`;
  const found = await answerOf((ticket) => {
    const counts = part`u.revision, u.facts, u.heads, u.numbers`;
    const columns = part`${ticket}::bigint AS ticket, u.account, u.user_id, ${counts}`;
    if (statements.isCluster) return statements.send<UserCounts>`${made} RETURNING ${columns}`;
    return statements.send<UserCounts>`
      WITH known AS (
        SELECT ${columns} FROM (${rows}) AS t (slot, account, user_id)
        JOIN sideband.users AS u ON u.slot = t.slot AND u.account = t.account AND u.user_id = t.user_id
        ORDER BY u.slot, u.account, u.user_id FOR NO KEY UPDATE OF u),
      made AS (${made} RETURNING ${columns})
      SELECT * FROM known UNION ALL SELECT * FROM made`;
  });
  return new Map(found.map((row) => [userName({ account: row.account, userId: row.user_id }), row]));
}

/** As PostgreSQL compares with the collation "C": byte by byte. */
export function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
