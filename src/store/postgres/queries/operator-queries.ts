/** The people who operate the service. They are few, and stand in one slot with the keys. */

import type { OperatorStore } from "../../../memory/ports.ts";
import type { OperatorRecord } from "../../../memory/records.ts";
import { DIRECTORY_SLOT } from "../cluster/placement.ts";
import type { Database, Query, Sql } from "../connection/database.ts";
import { answerOf, recordOf, rowsOf, type Ticketed } from "../connection/tickets.ts";
import { bumpVersion } from "./key-queries.ts";

/** @param note is told the version of the keys after each change */
export function operatorsIn(database: Database, note: (version: number) => void): OperatorStore {
  const change = async (query: Query<{ version: number; isDone: boolean }>) => {
    const { version, isDone } = await database.write(query);
    note(version);
    return isDone;
  };
  return {
    list: () => database.read(listOperators()),
    add: (record) => change(addOperator(record)),
    remove: (name) => change(removeOperator(name)),
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

function addOperator({ name, access, hash, createdAtMs }: OperatorRecord) {
  return changed(
    (tx, ticket) => tx<Ticketed[]>`
      INSERT INTO sideband.operators (slot, created_at_ms, name, access, hash)
      VALUES (${DIRECTORY_SLOT}, ${createdAtMs}, ${name}, ${access}, ${hash})
      ON CONFLICT (slot, name) DO NOTHING RETURNING ${ticket}::bigint AS ticket`,
  );
}

function removeOperator(name: string) {
  return changed(
    (tx, ticket) => tx<Ticketed[]>`
      DELETE FROM sideband.operators WHERE slot = ${DIRECTORY_SLOT} AND name = ${name}
      RETURNING ${ticket}::bigint AS ticket`,
  );
}

function changed(
  statement: (tx: Sql, ticket: number) => PromiseLike<readonly Ticketed[]>,
): Query<{ version: number; isDone: boolean }> {
  return (sql) =>
    sql.begin(async (transaction) => {
      const tx = transaction as unknown as Sql;
      const version = await bumpVersion(tx);
      const rows = await rowsOf((ticket) => statement(tx, ticket));
      return { version, isDone: rows.length > 0 };
    }) as Promise<{ version: number; isDone: boolean }>;
}
