/**
 * The audit: entries by their moment, and the names of their persons. They are on the coordinator of a cluster, and an entry is
 * stored in the transaction of its change; storing one again changes nothing.
 */

import { AUDIT_KEPT_MS } from "../../../base/limits.ts";
import { hasChanged, personsIn } from "../../../memory/audit.ts";
import type { AuditEntry, AuditNote, AuditQuery, AuditStore, PersonName } from "../../../memory/records.ts";
import { DIRECTORY_SLOT } from "../cluster/placement.ts";
import type { Database, Query, Sql } from "../connection/database.ts";
import { answerOf, rowsOf, type Ticketed } from "../connection/tickets.ts";
import { compare } from "./group-locks.ts";
import { allOf, columnsOf, Statements, valuesOf } from "./statements.ts";

export function auditIn(database: Database): AuditStore {
  return {
    add: (note) =>
      database.write(async (sql) => {
        await sql.begin((transaction) => storeNote(transaction as unknown as Sql, note, true));
      }),
    read: (query) => database.read(readAudit(query)),
  };
}

/** The note of a change that a transaction has made, where it has made one. */
export async function storeNote(tx: Sql, note: AuditNote | undefined, result: unknown): Promise<void> {
  if (note === undefined || !hasChanged(result)) return;
  await allOf(storeNotes(new Statements(tx, false), [note]));
}

/** Names are locked in one order, whoever stores them, and after all entries. */
export function storeNotes(statements: Statements, notes: readonly AuditNote[]): Promise<unknown>[] {
  const names = namesIn(notes);
  return [
    ...notes.map(({ entry }) =>
      rowsOf(
        (ticket) => statements.send<Ticketed>`
          INSERT INTO sideband.audit (slot, at_ms, id, account, operation, entry)
          VALUES (${DIRECTORY_SLOT}, ${entry.atMs}, ${entry.id}, ${entry.account}, ${entry.operation},
            ${JSON.stringify(entry)})
          ON CONFLICT (slot, at_ms, id) DO NOTHING RETURNING ${ticket}::bigint AS ticket`,
      ),
    ),
    ...statements.parts(names).map((rows) => storeNames(statements, rows)),
  ];
}

type NameRow = PersonName & { readonly slot: number; readonly atMs: number };

const NAME_ROW = columnsOf<NameRow>({
  slot: "integer",
  atMs: "bigint",
  hash: "text",
  account: "text",
  name: "text",
});

/** Each once, with the moment of the last note that names it. */
function namesIn(notes: readonly AuditNote[]): NameRow[] {
  const rows = new Map<string, NameRow>();
  for (const { entry, names } of notes)
    for (const name of names) {
      const atMs = Math.max(entry.atMs, rows.get(name.hash)?.atMs ?? 0);
      rows.set(name.hash, { ...name, slot: DIRECTORY_SLOT, atMs });
    }
  return [...rows.values()].sort((a, b) => compare(a.hash, b.hash));
}

/** As values: of rows that are selected Citus returns no parameter. */
function storeNames(statements: Statements, rows: readonly NameRow[]): Promise<unknown> {
  return rowsOf(
    (ticket) => statements.send<Ticketed>`
      INSERT INTO sideband.audit_names AS n (slot, last_at_ms, hash, account, name) ${valuesOf(NAME_ROW, rows)}
      ON CONFLICT (slot, hash) DO UPDATE SET last_at_ms = greatest(n.last_at_ms, excluded.last_at_ms)
      RETURNING ${ticket}::bigint AS ticket`,
  );
}

/** Of a person who is erased: entries keep the hash. */
export function forgetName(
  statements: Statements,
  { account, userId }: { readonly account: string; readonly userId: string },
): Promise<unknown> {
  return rowsOf(
    (ticket) => statements.send<Ticketed>`
      DELETE FROM sideband.audit_names
      WHERE slot = ${DIRECTORY_SLOT} AND account = ${account} AND name = ${userId}
      RETURNING ${ticket}::bigint AS ticket`,
  );
}

export function sweepAudit(nowMs: number): Query<void> {
  return async (sql) => {
    const endMs = nowMs - AUDIT_KEPT_MS;
    await sql`DELETE FROM sideband.audit WHERE slot = ${DIRECTORY_SLOT} AND at_ms < ${endMs}`;
    await sql`DELETE FROM sideband.audit_names WHERE slot = ${DIRECTORY_SLOT} AND last_at_ms < ${endMs}`;
  };
}

/** The columns of what was not found are null. */
type FoundEntry = Ticketed & { readonly entry: string | null };
type FoundName = Ticketed & (PersonName | { readonly hash: null });

function readAudit(query: AuditQuery): Query<AuditNote[]> {
  const { account = null, operation = null, person, sinceMs, before, limit } = query;
  return async (sql) => {
    const hashes = [...(person?.hashes ?? [])];
    if (person !== undefined)
      for (const { hash } of await readNames(sql, sql`account = ${account ?? ""} AND name = ${person.name}`))
        hashes.push(hash);
    if (person !== undefined && hashes.length === 0) return [];
    const rows = await answerOf(
      (ticket) => sql<FoundEntry[]>`
        SELECT t.ticket, a.entry FROM (SELECT ${ticket}::bigint AS ticket) AS t LEFT JOIN (
          SELECT at_ms, id, entry FROM sideband.audit
          WHERE slot = ${DIRECTORY_SLOT} AND at_ms >= ${sinceMs} AND (at_ms, id) < (${before.atMs}, ${before.id ?? ""})
            AND (${account}::text IS NULL OR account = ${account}::text)
            AND (${operation}::text IS NULL OR operation = ${operation}::text)
            AND (${person === undefined}::boolean
              OR EXISTS (SELECT FROM unnest(${hashes}::text[]) AS h (hash) WHERE strpos(entry, h.hash) > 0))
          ORDER BY at_ms DESC, id DESC LIMIT ${limit}) AS a ON true
        ORDER BY a.at_ms DESC, a.id DESC`,
    );
    const entries = rows.flatMap(({ entry }) => (entry === null ? [] : [JSON.parse(entry) as AuditEntry]));
    const named = [...new Set(entries.flatMap(personsIn))];
    const names = await readNames(sql, sql`hash = ANY(${named}::text[])`);
    const byHash = new Map(names.map((name) => [name.hash, name]));
    return entries.map((entry) => ({
      entry,
      names: [...new Set(personsIn(entry))].flatMap((hash) => byHash.get(hash) ?? []),
    }));
  };
}

async function readNames(sql: Sql, condition: ReturnType<Sql>): Promise<PersonName[]> {
  const rows = await answerOf(
    (ticket) => sql<FoundName[]>`
      SELECT t.ticket, n.hash, n.account, n.name FROM (SELECT ${ticket}::bigint AS ticket) AS t
      LEFT JOIN sideband.audit_names AS n ON slot = ${DIRECTORY_SLOT} AND ${condition}`,
  );
  return rows.flatMap(({ ticket: _, ...row }) => (row.hash === null ? [] : [row as PersonName]));
}
