/** The people who operate the service. They are few, and stand in one slot with the keys. */

import type { OperatorStore } from "../../../memory/ports.ts";
import type { AuditNote, OperatorRecord } from "../../../memory/records.ts";
import { DIRECTORY_SLOT } from "../cluster/placement.ts";
import type { Database, Query, Sql } from "../connection/database.ts";
import { answerOf, recordOf, rowsOf, type Ticketed } from "../connection/tickets.ts";
import { changeDirectory, type Versioned } from "./label-queries.ts";

/** @param note is told the version of the keys after each change */
export function operatorsIn(database: Database, note: (version: number) => void): OperatorStore {
  const change = async (query: (sql: Sql) => Versioned<boolean>) => {
    const { version, outcome } = await database.write(query);
    note(version);
    return outcome;
  };
  return {
    list: () => database.read(listOperators()),
    add: (record, audit) => change(addOperator(record, audit)),
    remove: (name, audit) => change(removeOperator(name, audit)),
  };
}

function listOperators(): Query<OperatorRecord[]> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<(Ticketed & (OperatorRecord | { readonly name: null }))[]>`
        SELECT ticket, name, access, hash, created_at_ms AS "createdAtMs"
        FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.operators ON slot = ${DIRECTORY_SLOT} ORDER BY name`,
    );
    return rows.flatMap((row) => (row.name === null ? [] : [recordOf(row)]));
  };
}

function addOperator({ name, access, hash, createdAtMs }: OperatorRecord, audit: AuditNote | undefined) {
  return changed(
    (tx, ticket) => tx<Ticketed[]>`
      INSERT INTO sideband.operators (slot, created_at_ms, name, access, hash)
      VALUES (${DIRECTORY_SLOT}, ${createdAtMs}, ${name}, ${access}, ${hash})
      ON CONFLICT (slot, name) DO NOTHING RETURNING ${ticket}::bigint AS ticket`,
    audit,
  );
}

function removeOperator(name: string, audit: AuditNote | undefined) {
  return changed(
    (tx, ticket) => tx<Ticketed[]>`
      DELETE FROM sideband.operators WHERE slot = ${DIRECTORY_SLOT} AND name = ${name}
      RETURNING ${ticket}::bigint AS ticket`,
    audit,
  );
}

function changed(
  statement: (tx: Sql, ticket: number) => PromiseLike<readonly Ticketed[]>,
  audit: AuditNote | undefined,
): (sql: Sql) => Versioned<boolean> {
  return changeDirectory(async (tx) => (await rowsOf((ticket) => statement(tx, ticket))).length > 0, audit);
}
