/** The second trip of a group: what the law has made of it is stored, and committed with it. */

import type { FactDifference, UserMemory } from "../../../memory/law/user-memory.ts";
import type { FactRecord, WriteRequest } from "../../../memory/ports.ts";
import type { Place, UserChange } from "../../../memory/records.ts";
import { quotaSlot, replaySlot, userSlot } from "../cluster/placement.ts";
import { type Ticketed, rowsOf as ticketed } from "../connection/tickets.ts";
import type { GroupUser } from "./group-locks.ts";
import {
  allOf,
  arraysOf,
  type Cell,
  type Change,
  type ColumnType,
  hexOf,
  type Part,
  part,
  type Statements,
} from "./statements.ts";

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
/** Facts, and events, that become rows in one go. A group of others has fewer. */
const CHANGED_MAX = 512;
const EVENTS_MAX = 1_000;

/** Sends all statements, and the commit behind them; throws the first failure. */
export async function storeGroup(
  statements: Statements,
  users: readonly GroupUser[],
  memories: readonly UserMemory[],
  records: GroupRecords,
  turn: () => Promise<void>,
): Promise<void> {
  const changed = users.flatMap((user, i) =>
    Array.from(memories[i].differences(), (difference) => ({ user, difference })),
  );
  const stored = users.map((user, i) => ({ user, memory: memories[i] }));
  const sent: Promise<unknown>[] = [];
  const send = (answers: readonly Promise<unknown>[]) => {
    // Their failures show in the end.
    for (const answer of answers) answer.catch(() => {});
    sent.push(...answers);
  };
  // The facts of a large user go part by part, and what else there is with the last of them.
  let rest = changed;
  for (; rest.length > CHANGED_MAX; rest = rest.slice(CHANGED_MAX)) {
    const part = rest.slice(0, CHANGED_MAX);
    send(statements.change([...removeFacts(statements, part), ...shortenHistory(statements, part)]));
    send(statements.change([...storeFacts(statements, part), ...storeHistory(statements, part)]));
    await turn();
  }
  // What is removed may be written anew.
  send(
    statements.change([
      ...removeFacts(statements, rest),
      ...shortenHistory(statements, rest),
      ...removeUsers(statements, stored),
      ...removeReplays(records),
    ]),
  );
  send(
    statements.change([
      ...storeFacts(statements, rest),
      ...storeHistory(statements, rest),
      ...storeUsers(statements, stored),
      ...storeReplays(statements, records),
      ...storeCounts(statements, records),
    ]),
  );
  send(records.erased.map((erased) => removeEvents(statements, erased)));
  for (let i = 0; i < records.events.length; i += EVENTS_MAX) {
    if (i > 0) await turn();
    send(storeEvents(statements, records.events.slice(i, i + EVENTS_MAX)));
  }
  await allOf<unknown>([...sent, statements.run("COMMIT")]);
}

interface ChangedFact {
  readonly user: GroupUser;
  readonly difference: FactDifference;
}

const USER: readonly ColumnType[] = ["integer", "text", "text"];
const NAME: readonly ColumnType[] = [...USER, "text", "text"];

function userCells({ slot, account, userId }: GroupUser): Cell[] {
  return [slot, account, userId];
}

function nameCells({ user, difference }: ChangedFact): Cell[] {
  return [...userCells(user), difference.place, difference.label];
}

/** A statement for all rows, or for parts of them. */
function changeOf(
  statements: Statements,
  name: string,
  rows: readonly Cell[][],
  bodyOf: (cells: readonly Cell[][]) => Part,
): Change[] {
  return statements.parts(rows).map((cells) => ({ name, body: bodyOf(cells) }));
}

function removeFacts(statements: Statements, changed: readonly ChangedFact[]): Change[] {
  const gone = changed.filter(({ difference: { before, present } }) => before && !present).map(nameCells);
  return changeOf(
    statements,
    "facts",
    gone,
    (cells) => part`
      DELETE FROM sideband.facts AS f USING (${arraysOf(NAME, cells)}) AS t (slot, account, user_id, place, label)
      WHERE f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id AND f.place = t.place
        AND f.label = t.label ${statements.slotsOf(cells)}`,
  );
}

const VALUE: readonly ColumnType[] = ["integer", "bigint", "bigint", "bigint", "text", "text", "text"];

function valueCells(fact: Omit<FactRecord, "expiresAtMs" | "code">): Cell[] {
  const { ordinal, revision, updatedAtMs, sinceMs, value, writtenBy, sessionId } = fact;
  return [ordinal, revision, updatedAtMs, sinceMs, value, writtenBy, sessionId];
}

function storeFacts(statements: Statements, changed: readonly ChangedFact[]): Change[] {
  const put = changed.flatMap((fact) => {
    const { present } = fact.difference;
    return present === undefined ? [] : [[...nameCells(fact), ...valueCells(present), present.expiresAtMs]];
  });
  return changeOf(
    statements,
    "facts",
    put,
    (cells) => part`
      INSERT INTO sideband.facts AS f (slot, account, user_id, place, label, ordinal, revision, updated_at_ms,
        since_ms, value, written_by, session_id, expires_at_ms)
      ${statements.rows([...NAME, ...VALUE, "bigint"], cells)}
      ON CONFLICT (slot, account, user_id, place, label) DO UPDATE SET ordinal = excluded.ordinal,
        revision = excluded.revision, updated_at_ms = excluded.updated_at_ms, since_ms = excluded.since_ms,
        value = excluded.value, written_by = excluded.written_by, session_id = excluded.session_id,
        expires_at_ms = excluded.expires_at_ms, codebook_version = NULL, code_length = NULL, code_bytes = NULL`,
  );
}

function shortenHistory(statements: Statements, changed: readonly ChangedFact[]): Change[] {
  const dropped = changed
    .filter(({ difference: { dropBelow, lastBefore } }) => dropBelow > 1 && lastBefore > 0)
    .map((fact) => [...nameCells(fact), Math.min(fact.difference.dropBelow, INTEGER_MAX)]);
  return changeOf(
    statements,
    "history",
    dropped,
    (cells) => part`
      DELETE FROM sideband.history AS f USING (${arraysOf([...NAME, "integer"], cells)})
        AS t (slot, account, user_id, place, label, below)
      WHERE f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id AND f.place = t.place
        AND f.label = t.label AND f.ordinal < t.below ${statements.slotsOf(cells)}`,
  );
}

function storeHistory(statements: Statements, changed: readonly ChangedFact[]): Change[] {
  const added = changed.flatMap((fact) =>
    fact.difference.added.map((earlier) => [
      ...nameCells(fact),
      ...valueCells(earlier),
      earlier.ended,
      earlier.endedAtMs,
    ]),
  );
  return changeOf(
    statements,
    "history",
    added,
    (cells) => part`
      INSERT INTO sideband.history AS f (slot, account, user_id, place, label, ordinal, revision, updated_at_ms,
        since_ms, value, written_by, session_id, ended, ended_at_ms)
      ${statements.rows([...NAME, ...VALUE, "text", "bigint"], cells)}`,
  );
}

interface StoredUser {
  readonly user: GroupUser;
  readonly memory: UserMemory;
}

/** A user without facts and history is removed: nothing shows that the user ever existed. */
function removeUsers(statements: Statements, users: readonly StoredUser[]): Change[] {
  const empty = users.filter(({ memory: { facts, heads } }) => facts + heads === 0);
  return changeOf(
    statements,
    "users",
    empty.map(({ user }) => userCells(user)),
    (cells) => part`
      DELETE FROM sideband.users AS f USING (${arraysOf(USER, cells)}) AS t (slot, account, user_id)
      WHERE f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id ${statements.slotsOf(cells)}`,
  );
}

function storeUsers(statements: Statements, users: readonly StoredUser[]): Change[] {
  const used = users.filter(({ memory: { facts, heads } }) => facts + heads > 0);
  return changeOf(
    statements,
    "users",
    used.map(({ user, memory: { revision, facts, heads } }): Cell[] => {
      return [...userCells(user), revision, facts, heads];
    }),
    (cells) => part`
      INSERT INTO sideband.users AS u (slot, account, user_id, revision, facts, heads)
      ${statements.rows([...USER, "bigint", "integer", "integer"], cells)}
      ON CONFLICT (slot, account, user_id) DO UPDATE SET revision = excluded.revision, facts = excluded.facts,
        heads = excluded.heads`,
  );
}

function removeReplays({ unkept, wiped }: GroupRecords): Change[] {
  const changes: Change[] = [];
  if (unkept.length > 0) {
    const body = part`
      DELETE FROM sideband.replays AS r USING (${arraysOf(USER, unkept.map(replayCells))}) AS t (slot, key_id, key)
      WHERE r.slot = t.slot AND r.key_id = t.key_id AND r.idempotency_key = t.key`;
    changes.push({ name: "replays", body });
  }
  if (wiped.length > 0) {
    const users = wiped.map(({ account, userId }) => [account, userId]);
    const body = part`
      DELETE FROM sideband.answers AS a USING (${arraysOf(["text", "text"], users)}) AS t (account, user_id)
      WHERE a.account = t.account AND a.user_id = t.user_id`;
    changes.push({ name: "answers", body });
  }
  return changes;
}

function storeReplays(statements: Statements, { kept }: GroupRecords): Change[] {
  const all = [...kept].filter(([{ idempotency }]) => idempotency !== undefined);
  const numbers = all.map(([request, { channelCount, revision }]): Cell[] => {
    const { fingerprint, expiresAtMs } = request.idempotency!;
    return [...replayCells(request), hexOf(fingerprint), expiresAtMs, channelCount, revision];
  });
  const answers = all.flatMap(([request, { revision, answer }]): Cell[][] => {
    const { account, userId, idempotency } = request;
    if (answer === null) return [];
    return [[...replayCells(request), revision, idempotency!.expiresAtMs, account, userId, answer]];
  });
  return [
    ...changeOf(
      statements,
      "replays",
      numbers,
      (cells) => part`
        INSERT INTO sideband.replays AS r
          (slot, key_id, idempotency_key, fingerprint, expires_at_ms, channel_count, revision)
        ${statements.rows([...USER, "bytea", "bigint", "integer", "bigint"], cells)}
        ON CONFLICT (slot, key_id, idempotency_key) DO UPDATE SET fingerprint = excluded.fingerprint,
          expires_at_ms = excluded.expires_at_ms, channel_count = excluded.channel_count, revision = excluded.revision`,
    ),
    ...changeOf(
      statements,
      "answers",
      answers,
      (cells) => part`
        INSERT INTO sideband.answers AS a
          (slot, key_id, idempotency_key, revision, expires_at_ms, account, user_id, answer)
        ${statements.rows([...USER, "bigint", "bigint", "text", "text", "text"], cells)}
        ON CONFLICT (slot, key_id, idempotency_key) DO UPDATE SET revision = excluded.revision,
          expires_at_ms = excluded.expires_at_ms, account = excluded.account, user_id = excluded.user_id,
          answer = excluded.answer`,
    ),
  ];
}

function replayCells({ idempotency }: WriteRequest): Cell[] {
  const { keyId, key } = idempotency!;
  return [replaySlot(keyId, key), keyId, key];
}

/** Sums for each counter, sorted, since others may lock them at the same time. A key without a limit counts in the slot of the user. */
function storeCounts(statements: Statements, { counted }: GroupRecords): Change[] {
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
  const types: readonly ColumnType[] = [...USER, "bigint"];
  return [
    ...changeOf(
      statements,
      "months",
      sorted(months),
      (cells) => part`
        INSERT INTO sideband.month_counters AS c (slot, key_id, month, used) ${statements.rows(types, cells)}
        ON CONFLICT (slot, key_id, month) DO UPDATE SET used = c.used + excluded.used`,
    ),
    ...changeOf(
      statements,
      "days",
      sorted(days),
      (cells) => part`
        INSERT INTO sideband.day_counters AS c (slot, key_id, day, used) ${statements.rows(types, cells)}
        ON CONFLICT (slot, key_id, day) DO UPDATE SET used = c.used + excluded.used`,
    ),
  ];
}

/** Other nodes may not have told their listeners of the last moments; those go with the next sweep. */
const TOLD_MS = 5_000;

function removeEvents(
  statements: Statements,
  { account, userId, within, nowMs }: GroupRecords["erased"][number],
): Promise<readonly Ticketed[]> {
  return ticketed(
    (ticket) => statements.send<Ticketed>`
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
function storeEvents(statements: Statements, events: GroupRecords["events"]): Promise<unknown>[] {
  return statements.parts(events).map((some) => {
    const cells = some.map((event, i): Cell[] => {
      const { account, userId, place, label, revision, kind, writtenBy, atMs } = event;
      return [i + 1, account, userId, place, label, revision, kind, writtenBy, atMs];
    });
    return ticketed(
      (ticket) => statements.send<Ticketed>`
        WITH counter AS (
          UPDATE sideband.settings AS s SET value = (s.value::bigint + ${some.length}::bigint)::text
          WHERE s.slot = 0 AND s.name = 'events' RETURNING s.value::bigint - ${some.length}::bigint AS before)
        INSERT INTO sideband.events (number, account, user_id, place, label, revision, kind, written_by, at_ms)
        SELECT c.before + t.i, t.account, t.user_id, t.place, t.label, t.revision, t.kind, t.written_by, t.at_ms
        FROM counter AS c, (${statements.rows(EVENT, cells)})
          AS t (i, account, user_id, place, label, revision, kind, written_by, at_ms)
        RETURNING ${ticket}::bigint AS ticket`,
    );
  });
}
