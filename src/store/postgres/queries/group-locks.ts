/** What a group locks before its users: replay records and month counters. One that is missing is made, so that there is something to lock. */

import { assert } from "../../../base/assert.ts";
import type { Replay, ReplayedChange, WriteRequest } from "../../../memory/ports.ts";
import { quotaSlot, replaySlot } from "../cluster/placement.ts";
import type { Sql } from "../connection/database.ts";
import { answerOf, type Ticketed } from "../connection/tickets.ts";
import { arraysOf, type Cell, hexOf, type Rows } from "./rows.ts";

export interface FoundReplay {
  /** No record was there. */
  readonly isNew: boolean;
  readonly replay: Replay | "mismatch" | undefined;
}

interface ReplayRow extends Ticketed {
  readonly write: number;
  readonly is_new: boolean;
  readonly is_same: boolean;
  readonly channel_count: number;
  readonly revision: number;
  readonly expires_at_ms: number;
  readonly answer: string | null;
}

/** The first to insert a record goes on; the others see what was answered. */
export async function lockReplays(
  sql: Sql,
  rows: Rows,
  requests: readonly WriteRequest[],
): Promise<Map<number, FoundReplay>> {
  const wanted = requests
    .flatMap(({ idempotency }, write) => (idempotency === undefined ? [] : [{ ...idempotency, write }]))
    .map(({ keyId, key, ...rest }) => ({ ...rest, keyId, key, slot: replaySlot(keyId, key) }))
    .sort((a, b) => a.slot - b.slot || compare(a.keyId, b.keyId) || compare(a.key, b.key));
  if (wanted.length === 0) return new Map();
  const cells = wanted.map(({ slot, keyId, key, fingerprint, expiresAtMs }): Cell[] => {
    return [slot, keyId, key, hexOf(fingerprint), expiresAtMs, 0, 0];
  });
  const inserted = answerOf(
    (ticket) => sql<
      (Ticketed & { slot: number; key_id: string; idempotency_key: string; is_new: boolean })[]
    >`
      INSERT INTO sideband.replays AS r
        (slot, key_id, idempotency_key, fingerprint, expires_at_ms, channel_count, revision)
      ${rows(["integer", "text", "text", "bytea", "bigint", "integer", "bigint"], cells)}
      ON CONFLICT (slot, key_id, idempotency_key) DO UPDATE SET slot = r.slot
      RETURNING ${ticket}::bigint AS ticket, r.slot, r.key_id, r.idempotency_key, r.xmax = 0 AS is_new`,
  );
  const names = wanted.map(({ slot, keyId, key, fingerprint, write }): Cell[] => {
    return [slot, keyId, key, hexOf(fingerprint), write];
  });
  const found = answerOf(
    (ticket) => sql<ReplayRow[]>`
      SELECT ${ticket}::bigint AS ticket, t.write, r.fingerprint = t.fingerprint AS is_same, r.channel_count, r.revision,
        r.expires_at_ms, a.answer
      FROM (${arraysOf(sql, ["integer", "text", "text", "bytea", "integer"], names)})
        AS t (slot, key_id, key, fingerprint, write)
      JOIN sideband.replays AS r ON r.slot = t.slot AND r.key_id = t.key_id AND r.idempotency_key = t.key
      LEFT JOIN sideband.answers AS a ON a.slot = r.slot AND a.key_id = r.key_id
        AND a.idempotency_key = r.idempotency_key AND a.revision = r.revision`,
  );
  const [made, known] = await Promise.all([inserted, found]);
  const isNew = new Set(
    made.filter(({ is_new }) => is_new).map(({ key_id, idempotency_key }) => `${key_id}\0${idempotency_key}`),
  );
  return new Map(
    known.map((row) => {
      const { idempotency, nowMs } = requests[row.write];
      assert(idempotency !== undefined, "a replay record belongs to a write with a key");
      const ofThis = isNew.has(`${idempotency.keyId}\0${idempotency.key}`);
      const isOver = ofThis || row.expires_at_ms <= nowMs;
      const replay = isOver ? undefined : row.is_same ? replayOf(row) : "mismatch";
      return [row.write, { isNew: ofThis, replay }];
    }),
  );
}

function replayOf({ channel_count, revision, answer }: ReplayRow): Replay {
  const numbers = { channelCount: channel_count, revision };
  return answer === null ? numbers : { ...numbers, changes: JSON.parse(answer) as ReplayedChange[] };
}

/** One row for each limited key, locked until the commit: so the count is exact on all nodes. */
export async function lockCounters(
  sql: Sql,
  rows: Rows,
  requests: readonly WriteRequest[],
): Promise<Map<string, number>> {
  const wanted = new Map(
    requests.flatMap(({ quota }) =>
      quota === undefined || quota.limit === null
        ? []
        : [[counterName(quota), { ...quota, slot: quotaSlot(quota.keyId) }]],
    ),
  );
  if (wanted.size === 0) return new Map();
  const cells = [...wanted.values()]
    .sort((a, b) => a.slot - b.slot || compare(a.keyId, b.keyId) || compare(a.month, b.month))
    .map(({ slot, keyId, month }): Cell[] => [slot, keyId, month, 0]);
  const found = await answerOf(
    (ticket) => sql<(Ticketed & { key_id: string; month: string; used: number })[]>`
      INSERT INTO sideband.month_counters AS c (slot, key_id, month, used)
      ${rows(["integer", "text", "text", "bigint"], cells)}
      ON CONFLICT (slot, key_id, month) DO UPDATE SET used = c.used
      RETURNING ${ticket}::bigint AS ticket, c.key_id, c.month, c.used`,
  );
  return new Map(found.map(({ key_id: keyId, month, used }) => [counterName({ keyId, month }), used]));
}

export function counterName({ keyId, month }: { readonly keyId: string; readonly month: string }): string {
  return `${keyId}\0${month}`;
}

/** As PostgreSQL compares with the collation "C": byte by byte. */
export function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
