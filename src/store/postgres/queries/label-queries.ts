/** Labels of an account's own, and what it has changed of standard ones. They are few, and nodes cache them. */

import { addedLabel, changedLabel, removedLabel } from "../../../memory/label-records.ts";
import type {
  AddLabelOutcome,
  AuditNote,
  ChangeLabelOutcome,
  LabelChange,
  LabelRecord,
  RemoveLabelOutcome,
} from "../../../memory/records.ts";
import { DIRECTORY_SLOT } from "../cluster/placement.ts";
import type { Query, Sql } from "../connection/database.ts";
import { answerOf, recordOf, rowsOf, type Ticketed } from "../connection/tickets.ts";
import { storeNote } from "./audit-queries.ts";
import { agreeOn, bumpVersion, readSetting } from "./key-queries.ts";

/** The columns of what is not known are null. */
type LabelRow = Ticketed &
  Omit<LabelRecord, "oneOf" | "writers" | "createdBy" | "createdKey" | "removed"> & {
    readonly oneOf: string | null;
    readonly writers: "account" | null;
    readonly createdBy: string | null;
    readonly createdKey: string | null;
    readonly removed: boolean;
  };
/** The columns of what was not found are null. */
type FoundLabel = LabelRow | (Ticketed & { readonly channel: null });

export function readLabels(account: string): Query<LabelRecord[]> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<FoundLabel[]>`
        SELECT ticket, channel, label, description, example, one_of AS "oneOf", max_bytes AS "maxBytes", ttl_s AS "ttlS",
          scope, hidden, writers, created_at_ms AS "createdAtMs", created_by AS "createdBy", created_key AS "createdKey", removed
        FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.labels ON slot = ${DIRECTORY_SLOT} AND account = ${account} ORDER BY channel`,
    );
    return rows.flatMap((row) => (row.channel === null ? [] : [labelOf(row)]));
  };
}

/** With the new version of keys and labels. */
export type Versioned<T> = Promise<{ outcome: T; version: number }>;

/** One after the other on all nodes (bumpVersion), so that no channel is given twice, and no limit is passed. */
export function addLabel(
  account: string,
  label: Omit<LabelRecord, "channel">,
  audit?: AuditNote,
): (sql: Sql) => Versioned<AddLabelOutcome> {
  return changeDirectory(async (tx) => {
    const outcome = addedLabel(await readLabels(account)(tx), label);
    if (outcome.outcome === "added") await putLabel(tx, account, outcome.label);
    return outcome;
  }, audit);
}

export function changeLabel(
  account: string,
  base: LabelRecord,
  change: LabelChange,
  audit?: AuditNote,
): (sql: Sql) => Versioned<ChangeLabelOutcome> {
  return changeDirectory(async (tx) => {
    const outcome = changedLabel(await readLabels(account)(tx), base, change);
    if (outcome.outcome === "changed") await putLabel(tx, account, outcome.label);
    return outcome;
  }, audit);
}

/**
 * A write holds the row of its label until its commit (group-reads.ts). The lock here waits for those that were before,
 * whose facts are seen then; those that come after wait for it, and see that the label is gone.
 */
export function removeLabel(
  account: string,
  label: string,
  audit?: AuditNote,
): (sql: Sql) => Versioned<RemoveLabelOutcome> {
  return changeDirectory(async (tx) => {
    await tx`
      SELECT label FROM sideband.labels
      WHERE slot = ${DIRECTORY_SLOT} AND account = ${account} AND label = ${label} FOR UPDATE`;
    const known = (await readLabels(account)(tx)).find((record) => record.label === label);
    if (known === undefined || known.removed === true) return "missing";
    if (await isUsed(account, label)(tx)) return "in_use";
    await putLabel(tx, account, removedLabel(known));
    return "removed";
  }, audit);
}

/** Whether a user of the account has a fact on the label, or a history. */
export function isUsed(account: string, label: string): Query<boolean> {
  return async (sql) => {
    for (const table of ["facts", "history"]) {
      const rows = await rowsOf(
        (ticket) => sql<Ticketed[]>`
          SELECT ${ticket}::bigint AS ticket FROM sideband.users AS u
          JOIN ${sql(`sideband.${table}`)} AS f ON f.slot = u.slot AND f.account = u.account AND f.user_id = u.user_id
          WHERE u.account = ${account} AND f.label = ${label} LIMIT 1`,
      );
      if (rows.length > 0) return true;
    }
    return false;
  };
}

/** The account follows. */
const STRICT = "strict labels of ";

export function readStrict(account: string): Query<boolean> {
  return async (sql) => (await readSetting(STRICT + account)(sql)) !== undefined;
}

export function changeStrict(
  account: string,
  isStrict: boolean,
  audit?: AuditNote,
): (sql: Sql) => Versioned<boolean> {
  return changeDirectory(async (tx) => {
    const name = STRICT + account;
    if (isStrict) await agreeOn(name, "on")(tx);
    else await tx`DELETE FROM sideband.settings WHERE slot = ${DIRECTORY_SLOT} AND name = ${name}`;
    return true;
  }, audit);
}

/** In one transaction, with its note where it changes something. */
export function changeDirectory<T>(
  change: (tx: Sql) => Promise<T>,
  audit: AuditNote | undefined,
): (sql: Sql) => Versioned<T> {
  return (sql) =>
    sql.begin(async (transaction) => {
      const tx = transaction as unknown as Sql;
      const version = await bumpVersion(tx);
      const outcome = await change(tx);
      await storeNote(tx, audit, outcome);
      return { outcome, version };
    }) as Versioned<T>;
}

async function putLabel(tx: Sql, account: string, label: LabelRecord): Promise<void> {
  const oneOf = label.oneOf === null ? null : JSON.stringify(label.oneOf);
  await tx`
    INSERT INTO sideband.labels (slot, account, channel, label, description, example, one_of, max_bytes, ttl_s, scope,
      hidden, writers, created_at_ms, created_by, created_key, removed)
    VALUES (${DIRECTORY_SLOT}, ${account}, ${label.channel}, ${label.label}, ${label.description}, ${label.example},
      ${oneOf}, ${label.maxBytes}, ${label.ttlS}, ${label.scope}, ${label.hidden}, ${label.writers ?? null}, ${label.createdAtMs},
      ${label.createdBy ?? null}, ${label.createdKey ?? null}, ${label.removed ?? false})
    ON CONFLICT (slot, account, channel) DO UPDATE SET description = excluded.description,
      example = excluded.example, one_of = excluded.one_of, max_bytes = excluded.max_bytes, ttl_s = excluded.ttl_s,
      scope = excluded.scope, hidden = excluded.hidden, writers = excluded.writers, created_at_ms = excluded.created_at_ms,
      created_by = excluded.created_by, created_key = excluded.created_key, removed = excluded.removed`;
}

function labelOf(row: LabelRow): LabelRecord {
  const { oneOf, writers, createdBy, createdKey, removed, ...label } = recordOf(row);
  return {
    ...label,
    oneOf: oneOf === null ? null : JSON.parse(oneOf),
    ...(writers === null ? {} : { writers }),
    ...(createdBy === null ? {} : { createdBy }),
    ...(createdKey === null ? {} : { createdKey }),
    ...(removed ? { removed } : {}),
  };
}
