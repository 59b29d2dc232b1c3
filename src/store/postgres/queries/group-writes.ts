/** The second trip of a group: what the law has made of it is stored, and committed with it. */

import type { FactDifference, UserMemory } from "../../../memory/law/user-memory.ts";
import type { FactRecord, WriteRequest } from "../../../memory/ports.ts";
import type { Place, UserChange } from "../../../memory/records.ts";
import { quotaSlot, replaySlot, userSlot } from "../cluster/placement.ts";
import type { Sql } from "../connection/database.ts";
import { type Ticketed, rowsOf as ticketed } from "../connection/tickets.ts";
import type { GroupUser } from "./group-reads.ts";
import { arraysOf, type Cell, type ColumnType, hexOf, type Rows } from "./rows.ts";

/** What is stored of a group beside its users' memories. */
export interface GroupRecords {
  /** Writes that are stored: their replay records, and what else of their answers is kept. */
  readonly kept: ReadonlyMap<WriteRequest, { channelCount: number; revision: number; answer: string | null }>;
  /** Writes whose new replay records stand for nothing. */
  readonly unkept: readonly WriteRequest[];
  /** Users of whom something was forgotten for good. */
  readonly wiped: readonly { readonly account: string; readonly userId: string }[];
  /** What was forgotten as a whole: nothing is told of it again. */
  readonly erased: readonly {
    readonly account: string;
    readonly userId: string;
    readonly within: Place | null;
    readonly nowMs: number;
  }[];
  readonly counted: readonly { readonly request: WriteRequest; readonly count: number }[];
  /** Of accounts that somebody listens to. */
  readonly events: readonly (UserChange & { readonly account: string; readonly userId: string })[];
}

const INTEGER_MAX = 2 ** 31 - 1;

/** Sends all statements, and the commit behind them; throws the first failure. */
export async function storeGroup(
  sql: Sql,
  rows: Rows,
  users: readonly GroupUser[],
  memories: readonly UserMemory[],
  records: GroupRecords,
): Promise<void> {
  const changed = users.flatMap((user, i) =>
    memories[i].differences().map((difference) => ({ user, difference })),
  );
  const statements = [
    ...storeFacts(sql, rows, changed),
    ...storeHistory(sql, rows, changed),
    ...storeUsers(sql, rows, users, memories),
    ...storeReplays(sql, rows, records),
    ...storeCounts(sql, rows, records),
    ...records.erased.map((erased) => removeEvents(sql, erased)),
    ...storeEvents(sql, rows, records),
  ];
  const results = await Promise.allSettled([...statements, sql`COMMIT`]);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

interface ChangedFact {
  readonly user: GroupUser;
  readonly difference: FactDifference;
}

type Statement = Promise<readonly Ticketed[]>;

const NAME: readonly ColumnType[] = ["integer", "text", "text", "text", "text"];

function nameCells({ user, difference }: ChangedFact): Cell[] {
  return [user.slot, user.account, user.userId, difference.place, difference.label];
}

/** One statement for all rows, or for parts of them. */
function forParts<Row extends readonly Cell[]>(
  rows: Rows,
  all: readonly Row[],
  ask: (part: readonly Row[], ticket: number) => PromiseLike<readonly Ticketed[]>,
): Statement[] {
  return rows.parts(all).map((part) => ticketed((ticket) => ask(part, ticket)));
}

function storeFacts(sql: Sql, rows: Rows, changed: readonly ChangedFact[]): Statement[] {
  const gone = changed.filter(({ difference: { before, present } }) => before && !present).map(nameCells);
  const put = changed.flatMap((fact) => {
    const { present } = fact.difference;
    return present === undefined ? [] : [[...nameCells(fact), ...valueCells(present), present.expiresAtMs]];
  });
  return [
    ...forParts(
      rows,
      gone,
      (part, ticket) => sql<Ticketed[]>`
        DELETE FROM sideband.facts AS f USING (${arraysOf(sql, NAME, part)}) AS t (slot, account, user_id, place, label)
        WHERE f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id AND f.place = t.place
          AND f.label = t.label ${rows.slotsOf(part)}
        RETURNING ${ticket}::bigint AS ticket`,
    ),
    ...forParts(
      rows,
      put,
      (part, ticket) => sql<Ticketed[]>`
        INSERT INTO sideband.facts AS f (slot, account, user_id, place, label, ordinal, revision, updated_at_ms,
          since_ms, value, written_by, session_id, expires_at_ms)
        ${rows([...NAME, ...VALUE, "bigint"], part)}
        ON CONFLICT (slot, account, user_id, place, label) DO UPDATE SET ordinal = excluded.ordinal,
          revision = excluded.revision, updated_at_ms = excluded.updated_at_ms, since_ms = excluded.since_ms,
          value = excluded.value, written_by = excluded.written_by, session_id = excluded.session_id,
          expires_at_ms = excluded.expires_at_ms, codebook_version = NULL, code_length = NULL, code_bytes = NULL
        RETURNING ${ticket}::bigint AS ticket`,
    ),
  ];
}

const VALUE: readonly ColumnType[] = ["integer", "bigint", "bigint", "bigint", "text", "text", "text"];

function valueCells(fact: Omit<FactRecord, "expiresAtMs" | "code">): Cell[] {
  const { ordinal, revision, updatedAtMs, sinceMs, value, writtenBy, sessionId } = fact;
  return [ordinal, revision, updatedAtMs, sinceMs, value, writtenBy, sessionId];
}

function storeHistory(sql: Sql, rows: Rows, changed: readonly ChangedFact[]): Statement[] {
  const dropped = changed
    .filter(({ difference: { dropBelow, lastBefore } }) => dropBelow > 1 && lastBefore > 0)
    .map((fact) => [...nameCells(fact), Math.min(fact.difference.dropBelow, INTEGER_MAX)]);
  const added = changed.flatMap((fact) =>
    fact.difference.added.map((earlier) => [
      ...nameCells(fact),
      ...valueCells(earlier),
      earlier.ended,
      earlier.endedAtMs,
    ]),
  );
  return [
    ...forParts(
      rows,
      dropped,
      (part, ticket) => sql<Ticketed[]>`
        DELETE FROM sideband.history AS f USING (${arraysOf(sql, [...NAME, "integer"], part)})
          AS t (slot, account, user_id, place, label, below)
        WHERE f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id AND f.place = t.place
          AND f.label = t.label AND f.ordinal < t.below ${rows.slotsOf(part)}
        RETURNING ${ticket}::bigint AS ticket`,
    ),
    ...forParts(
      rows,
      added,
      (part, ticket) => sql<Ticketed[]>`
        INSERT INTO sideband.history (slot, account, user_id, place, label, ordinal, revision, updated_at_ms,
          since_ms, value, written_by, session_id, ended, ended_at_ms)
        ${rows([...NAME, ...VALUE, "text", "bigint"], part)}
        RETURNING ${ticket}::bigint AS ticket`,
    ),
  ];
}

/** A user without facts and history is removed: nothing shows that the user ever existed. */
function storeUsers(
  sql: Sql,
  rows: Rows,
  users: readonly GroupUser[],
  memories: readonly UserMemory[],
): Statement[] {
  const statements: Statement[] = [];
  const all = users.map(({ slot, account, userId }, i) => {
    const { revision, facts, heads } = memories[i];
    return { name: [slot, account, userId], counts: [revision, facts, heads], isUsed: facts + heads > 0 };
  });
  const used = all.filter(({ isUsed }) => isUsed).map(({ name, counts }): Cell[] => [...name, ...counts]);
  if (used.length > 0)
    statements.push(
      ticketed(
        (ticket) => sql<Ticketed[]>`
          INSERT INTO sideband.users AS u (slot, account, user_id, revision, facts, heads)
          ${rows(["integer", "text", "text", "bigint", "integer", "integer"], used)}
          ON CONFLICT (slot, account, user_id) DO UPDATE SET revision = excluded.revision, facts = excluded.facts,
            heads = excluded.heads
          RETURNING ${ticket}::bigint AS ticket`,
      ),
    );
  const empty = all.filter(({ isUsed }) => !isUsed).map(({ name }): Cell[] => name);
  if (empty.length > 0)
    statements.push(
      ticketed(
        (ticket) => sql<Ticketed[]>`
          DELETE FROM sideband.users AS f USING (${arraysOf(sql, ["integer", "text", "text"], empty)})
            AS t (slot, account, user_id)
          WHERE f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id ${rows.slotsOf(empty)}
          RETURNING ${ticket}::bigint AS ticket`,
      ),
    );
  return statements;
}

function storeReplays(sql: Sql, rows: Rows, { kept, unkept, wiped }: GroupRecords): Statement[] {
  const statements: Statement[] = [];
  if (unkept.length > 0)
    statements.push(
      ticketed(
        (ticket) => sql<Ticketed[]>`
          DELETE FROM sideband.replays AS r USING (${arraysOf(sql, ["integer", "text", "text"], unkept.map(replayCells))})
            AS t (slot, key_id, key)
          WHERE r.slot = t.slot AND r.key_id = t.key_id AND r.idempotency_key = t.key
          RETURNING ${ticket}::bigint AS ticket`,
      ),
    );
  if (wiped.length > 0)
    statements.push(
      ticketed(
        (ticket) => sql<Ticketed[]>`
          DELETE FROM sideband.answers AS a USING (${arraysOf(
            sql,
            ["text", "text"],
            wiped.map(({ account, userId }) => [account, userId]),
          )}) AS t (account, user_id)
          WHERE a.account = t.account AND a.user_id = t.user_id
          RETURNING ${ticket}::bigint AS ticket`,
      ),
    );
  const all = [...kept].filter(([{ idempotency }]) => idempotency !== undefined);
  if (all.length === 0) return statements;
  const numbers = all.map(([request, { channelCount, revision }]): Cell[] => {
    const { fingerprint, expiresAtMs } = request.idempotency!;
    return [...replayCells(request), hexOf(fingerprint), expiresAtMs, channelCount, revision];
  });
  statements.push(
    ticketed(
      (ticket) => sql<Ticketed[]>`
        INSERT INTO sideband.replays AS r
          (slot, key_id, idempotency_key, fingerprint, expires_at_ms, channel_count, revision)
        ${rows(["integer", "text", "text", "bytea", "bigint", "integer", "bigint"], numbers)}
        ON CONFLICT (slot, key_id, idempotency_key) DO UPDATE SET fingerprint = excluded.fingerprint,
          expires_at_ms = excluded.expires_at_ms, channel_count = excluded.channel_count, revision = excluded.revision
        RETURNING ${ticket}::bigint AS ticket`,
    ),
  );
  const answers = all.flatMap(([request, { revision, answer }]): Cell[][] => {
    const { account, userId, idempotency } = request;
    if (answer === null) return [];
    return [[...replayCells(request), revision, idempotency!.expiresAtMs, account, userId, answer]];
  });
  if (answers.length > 0)
    statements.push(
      ticketed(
        (ticket) => sql<Ticketed[]>`
          INSERT INTO sideband.answers AS a
            (slot, key_id, idempotency_key, revision, expires_at_ms, account, user_id, answer)
          ${rows(["integer", "text", "text", "bigint", "bigint", "text", "text", "text"], answers)}
          ON CONFLICT (slot, key_id, idempotency_key) DO UPDATE SET revision = excluded.revision,
            expires_at_ms = excluded.expires_at_ms, account = excluded.account, user_id = excluded.user_id,
            answer = excluded.answer
          RETURNING ${ticket}::bigint AS ticket`,
      ),
    );
  return statements;
}

function replayCells({ idempotency }: WriteRequest): Cell[] {
  const { keyId, key } = idempotency!;
  return [replaySlot(keyId, key), keyId, key];
}

/** Sums for each counter, sorted, since others may lock them at the same time. A key without a limit counts in the slot of the user. */
function storeCounts(sql: Sql, rows: Rows, { counted }: GroupRecords): Statement[] {
  const months = new Map<string, Cell[]>();
  const days = new Map<string, Cell[]>();
  const add = (sums: Map<string, Cell[]>, slot: number, keyId: string, period: string, count: number) => {
    const name = `${String(slot).padStart(4, "0")} ${keyId} ${period}`;
    const before = Number(sums.get(name)?.[3] ?? 0);
    sums.set(name, [slot, keyId, period, before + count]);
  };
  for (const { request, count } of counted) {
    const { quota, account, userId } = request;
    if (quota === undefined || count === 0) continue;
    const slot = quota.limit === null ? userSlot(account, userId) : quotaSlot(quota.keyId);
    if (quota.limit !== null) add(months, slot, quota.keyId, quota.month, count);
    add(days, slot, quota.keyId, quota.day, count);
  }
  const sorted = (sums: Map<string, Cell[]>) =>
    [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cells]) => cells);
  const types = ["integer", "text", "text", "bigint"] as const;
  const statements: Statement[] = [];
  if (months.size > 0)
    statements.push(
      ticketed(
        (ticket) => sql<Ticketed[]>`
          INSERT INTO sideband.month_counters AS c (slot, key_id, month, used) ${rows(types, sorted(months))}
          ON CONFLICT (slot, key_id, month) DO UPDATE SET used = c.used + excluded.used
          RETURNING ${ticket}::bigint AS ticket`,
      ),
    );
  if (days.size > 0)
    statements.push(
      ticketed(
        (ticket) => sql<Ticketed[]>`
          INSERT INTO sideband.day_counters AS c (slot, key_id, day, used) ${rows(types, sorted(days))}
          ON CONFLICT (slot, key_id, day) DO UPDATE SET used = c.used + excluded.used
          RETURNING ${ticket}::bigint AS ticket`,
      ),
    );
  return statements;
}

/** Other nodes may not have told their listeners of the last moments; those go with the next sweep. */
const TOLD_MS = 5_000;

function removeEvents(
  sql: Sql,
  { account, userId, within, nowMs }: GroupRecords["erased"][number],
): Promise<readonly Ticketed[]> {
  return ticketed(
    (ticket) => sql<Ticketed[]>`
      DELETE FROM sideband.events AS e
      WHERE e.slot = 0 AND e.account = ${account} AND e.user_id = ${userId} AND e.at_ms <= ${nowMs - TOLD_MS}
        AND (${within}::text IS NULL
        OR e.place = ${within}::text OR starts_with(e.place, ${within}::text || '/'))
      RETURNING ${ticket}::bigint AS ticket`,
  );
}

const EVENT: readonly ColumnType[] = [
  "integer",
  "text",
  "text",
  "text",
  "text",
  "bigint",
  "text",
  "text",
  "bigint",
];

/** Whoever records an event locks the counter until the commit, so that events can be read in the order of their numbers. */
function storeEvents(sql: Sql, rows: Rows, { events }: GroupRecords): Statement[] {
  return rows.parts(events).map((part) => {
    const cells = part.map((event, i): Cell[] => {
      const { account, userId, place, label, revision, kind, writtenBy, atMs } = event;
      return [i + 1, account, userId, place, label, revision, kind, writtenBy, atMs];
    });
    return ticketed(
      (ticket) => sql<Ticketed[]>`
        WITH counter AS (
          UPDATE sideband.settings AS s SET value = (s.value::bigint + ${part.length}::bigint)::text
          WHERE s.slot = 0 AND s.name = 'events' RETURNING s.value::bigint - ${part.length}::bigint AS before)
        INSERT INTO sideband.events (number, account, user_id, place, label, revision, kind, written_by, at_ms)
        SELECT c.before + t.i, t.account, t.user_id, t.place, t.label, t.revision, t.kind, t.written_by, t.at_ms
        FROM counter AS c, (${rows(EVENT, cells)})
          AS t (i, account, user_id, place, label, revision, kind, written_by, at_ms)
        RETURNING ${ticket}::bigint AS ticket`,
    );
  });
}
