/**
 * The users of a group, and what it locks, in one order on all nodes (replay records, labels, shared projects, users, each sorted; counters
 * in the second trip, group-writes.ts), so that two nodes wait for one another but never in a circle. A record that is
 * missing is made, so that there is something to lock.
 */

import { assert, elementAt } from "../../../base/assert.ts";
import { findChannel } from "../../../base/channels.ts";
import type { FactName } from "../../../memory/law/found-user.ts";
import { type Reading, readingOf, readingsOf } from "../../../memory/law/law.ts";
import { nameOf } from "../../../memory/law/user-memory.ts";
import type { Replay, WriteRequest } from "../../../memory/ports.ts";
import { accountCounter } from "../../../memory/quota.ts";
import type { Place, ProjectRecord } from "../../../memory/records.ts";
import { isShared, projectUser } from "../../../memory/shared-places.ts";
import { DIRECTORY_SLOT, replaySlot, userSlot } from "../cluster/placement.ts";
import { ConflictError } from "../connection/database-failure.ts";
import { answerOf, type Ticketed, rowsOf as ticketed } from "../connection/tickets.ts";
import { type ProjectRow, projectOf } from "./project-rows.ts";
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

/** The users of a group, sorted. */
export interface GroupUsers {
  readonly users: readonly GroupUser[];
  /** The number of each write's person. */
  readonly userOf: readonly number[];
  /** Of each write in a shared project: the number of the project's hidden user. */
  readonly projectOf: ReadonlyMap<number, number>;
}

/** What a write is to one user. */
interface UserPart {
  readonly account: string;
  readonly userId: string;
  readonly reading: Reading;
  readonly places: readonly Place[];
}

function partsOf(request: WriteRequest): UserPart[] {
  const { account, userId, places, shared } = request;
  if (shared === undefined) return [{ account, userId, reading: readingOf(request), places }];
  const { own, shared: ofProject } = readingsOf(request);
  const ownPlaces = places.filter((place) => !isShared(place));
  const projectPlaces = ownPlaces.length < places.length ? [""] : [];
  return [
    { account, userId, reading: own, places: ownPlaces },
    { account, userId: projectUser(shared.project), reading: ofProject, places: projectPlaces },
  ];
}

export function usersOf(requests: readonly WriteRequest[]): GroupUsers {
  const byUser = new Map<string, UserPart[]>();
  for (const part of requests.flatMap(partsOf)) {
    const name = userName(part);
    const parts = byUser.get(name);
    if (parts === undefined) byUser.set(name, [part]);
    else parts.push(part);
  }
  const users = [...byUser.values()].map((writes) => {
    const { account, userId } = elementAt(writes, 0);
    const readings = writes.map(({ reading }) => reading);
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
  const projectOf = new Map(
    requests.flatMap(({ account, shared }, i) => {
      if (shared === undefined) return [];
      return [[i, numbers.get(userName({ account, userId: projectUser(shared.project) }))!] as const];
    }),
  );
  return { users, userOf: requests.map((request) => numbers.get(userName(request))!), projectOf };
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
 * The counters of months that a write counts in: that of its limit, made where it is missing; those of its key and its account
 * where they are there, since a node may not know yet that there is a limit.
 */
export function countersOf({ account, quota }: Pick<WriteRequest, "account" | "quota">): readonly string[] {
  if (quota === undefined) return [];
  const { keyId, counter = keyId } = quota;
  return [...new Set([counter, keyId, accountCounter(account)])];
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

export function projectName(account: string, project: string): string {
  return `${account}\0${project}`;
}

/**
 * Who shares a project stays so until the commit: whoever changes it, or removes it, waits for it. Resolves to those that are
 * there.
 */
export async function lockProjects(
  statements: Statements,
  requests: readonly WriteRequest[],
): Promise<Map<string, ProjectRecord>> {
  const named = requests.flatMap(({ account, shared }) => (shared ? [{ account, ...shared }] : []));
  if (named.length === 0) return new Map();
  const accounts = [...new Set(named.map(({ account }) => account))];
  const projects = [...new Set(named.map(({ project }) => project))];
  const found = await ticketed(
    (ticket) => statements.send<Ticketed & ProjectRow & { account: string }>`
      SELECT ${ticket}::bigint AS ticket, account, project, access, members, created_at_ms AS "createdAtMs"
      FROM sideband.projects
      WHERE slot = ${DIRECTORY_SLOT} AND account = ANY(${accounts}::text[]) AND project = ANY(${projects}::text[])
      ORDER BY account, project FOR KEY SHARE`,
  );
  return new Map(found.map(({ account, ...row }) => [projectName(account, row.project), projectOf(row)]));
}

interface UserCounts extends Ticketed {
  readonly account: string;
  readonly user_id: string;
  readonly revision: number;
  readonly facts: number;
  readonly heads: number;
  readonly numbers: number;
}

/**
 * A new one gets the revision that its table has for it. All are locked in their order, whether some are new or none:
 * groups that would lock what they know, and then make the others, wait in a circle. So whoever was erased before it was locked
 * lets the group begin anew, and then each is made or found in its turn.
 *
 * @param makesAll for a group that begins anew: it cannot miss anybody again, but writes a version of each row
 */
export async function lockUsers(
  statements: Statements,
  users: readonly GroupUser[],
  makesAll: boolean,
): Promise<Map<string, UserCounts>> {
  const rows = statements.rows(
    USER,
    users.map((user) => ({ user })),
  );
  const join = part`
    FROM (${rows}) AS t (slot, account, user_id)
    JOIN sideband.users AS u ON u.slot = t.slot AND u.account = t.account AND u.user_id = t.user_id`;
  const areKnown = part`(SELECT count(*) FROM seen) = ${users.length}::bigint`;
  const made = part`
    INSERT INTO sideband.users AS u (slot, account, user_id) ${rows} ${makesAll ? part`` : part`WHERE NOT ${areKnown}`}
    ON CONFLICT (slot, account, user_id) DO UPDATE SET revision = u.revision`;
  const found = await ticketed((ticket) => {
    const counts = part`u.revision, u.facts, u.heads, u.numbers`;
    const columns = part`${ticket}::bigint AS ticket, u.account, u.user_id, ${counts}`;
    if (makesAll) return statements.send<UserCounts>`${made} RETURNING ${columns}`;
    return statements.send<UserCounts>`
      WITH seen AS (SELECT 1 ${join}),
      known AS (
        SELECT ${columns} ${join} WHERE ${areKnown} ORDER BY u.slot, u.account, u.user_id FOR NO KEY UPDATE OF u),
      made AS (${made} RETURNING ${columns})
      SELECT * FROM known UNION ALL SELECT * FROM made`;
  });
  if (found.length < users.length) throw new ConflictError("a user was erased before it was locked");
  return new Map(found.map((row) => [userName({ account: row.account, userId: row.user_id }), row]));
}

/** As PostgreSQL compares with the collation "C": byte by byte. */
export function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
