/** Requests for keys. They are few, and stand in one slot with the keys. */

import type { AuditNote, KeyRequest } from "../../../memory/records.ts";
import { DIRECTORY_SLOT } from "../cluster/placement.ts";
import type { Query, Sql } from "../connection/database.ts";
import { answerOf, recordOf, rowsOf, type Ticketed } from "../connection/tickets.ts";
import { storeNote } from "./audit-queries.ts";

const REQUEST_COLUMNS = (sql: Sql) => sql`
  id, name, email, purpose, tier, created_at_ms AS "createdAtMs", status, decided_at_ms AS "decidedAtMs",
  key_id AS "keyId"`;

export function addKeyRequest(request: KeyRequest): Query<boolean> {
  const { id, name, email, purpose, tier, status, keyId } = request;
  return async (sql) => {
    const { count } = await sql`
      INSERT INTO sideband.key_requests (slot, created_at_ms, decided_at_ms, id, name, email, purpose, tier, status, key_id)
      VALUES (${DIRECTORY_SLOT}, ${request.createdAtMs}, ${request.decidedAtMs}, ${id}, ${name}, ${email},
        ${purpose}, ${tier}, ${status}, ${keyId})
      ON CONFLICT (slot, id) DO NOTHING`;
    return count > 0;
  };
}

export function listKeyRequests(): Query<KeyRequest[]> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<(Ticketed & (KeyRequest | { readonly id: null }))[]>`
        SELECT ticket, ${REQUEST_COLUMNS(sql)} FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.key_requests ON slot = ${DIRECTORY_SLOT} ORDER BY created_at_ms, id`,
    );
    return rows.flatMap((row) => (row.id === null ? [] : [recordOf(row)]));
  };
}

export function decideKeyRequest(
  id: string,
  { status, decidedAtMs, keyId }: Pick<KeyRequest, "status" | "decidedAtMs" | "keyId">,
): Query<KeyRequest | undefined> {
  return async (sql) => {
    const [row] = await rowsOf(
      (ticket) => sql<(Ticketed & KeyRequest)[]>`
        UPDATE sideband.key_requests SET status = ${status}, decided_at_ms = ${decidedAtMs}, key_id = ${keyId}
        WHERE slot = ${DIRECTORY_SLOT} AND id = ${id} AND status = 'open'
        RETURNING ${ticket}::bigint AS ticket, ${REQUEST_COLUMNS(sql)}`,
    );
    return row && recordOf(row);
  };
}

/** A change of one statement, in one transaction with its note. */
export function noted<T>(change: Query<T>, audit: AuditNote | undefined): Query<T> {
  if (audit === undefined) return change;
  return (sql) =>
    sql.begin(async (transaction) => {
      const tx = transaction as unknown as Sql;
      const result = await change(tx);
      await storeNote(tx, audit, result);
      return result;
    }) as Promise<T>;
}

export function deleteKeyRequest(id: string): Query<boolean> {
  return async (sql) => {
    const { count } = await sql`
      DELETE FROM sideband.key_requests WHERE slot = ${DIRECTORY_SLOT} AND id = ${id}`;
    return count > 0;
  };
}
