/** Labels of an account's own, and what it has changed of standard ones. They are few, and nodes cache them. */

import { CHANNEL_COUNT, CHANNEL_COUNT_MAX } from "../../../base/limits.ts";
import type { AddLabelOutcome, LabelRecord } from "../../../memory/ports.ts";
import { DIRECTORY_SLOT } from "../cluster/placement.ts";
import type { Query, Sql } from "../connection/database.ts";
import { answerOf, recordOf, type Ticketed } from "../connection/tickets.ts";
import { bumpVersion } from "./key-queries.ts";

type LabelRow = Ticketed & (Omit<LabelRecord, "oneOf"> & { readonly oneOf: string | null });
/** The columns of what was not found are null. */
type FoundLabel = LabelRow | (Ticketed & { readonly channel: null });

export function readLabels(account: string): Query<LabelRecord[]> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<FoundLabel[]>`
        SELECT ticket, channel, label, description, example, one_of AS "oneOf", max_bytes AS "maxBytes", ttl_s AS "ttlS",
          scope, hidden, created_at_ms AS "createdAtMs"
        FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.labels ON slot = ${DIRECTORY_SLOT} AND account = ${account} ORDER BY channel`,
    );
    return rows.flatMap((row) => (row.channel === null ? [] : [labelOf(row)]));
  };
}

/** One after the other on all nodes (bumpVersion), so that no channel is given twice. Resolves with the new version, too. */
export function addLabel(
  account: string,
  label: Omit<LabelRecord, "channel">,
): Query<{ outcome: AddLabelOutcome; version: number }> {
  return (sql) =>
    sql.begin(async (transaction) => {
      const tx = transaction as unknown as Sql;
      const version = await bumpVersion(tx);
      const own = (await readLabels(account)(tx)).filter(({ channel }) => channel >= CHANNEL_COUNT);
      const known = own.find((other) => other.label === label.label);
      if (known !== undefined) return { outcome: { outcome: "exists", label: known }, version };
      const channel = Math.max(CHANNEL_COUNT, ...own.map((other) => other.channel + 1));
      if (channel >= CHANNEL_COUNT_MAX) return { outcome: { outcome: "full" }, version };
      const added = { ...label, channel };
      await putLabel(tx, account, added);
      return { outcome: { outcome: "added", label: added }, version };
    }) as Promise<{ outcome: AddLabelOutcome; version: number }>;
}

/** Resolves with the new version of keys and labels. */
export function changeLabel(account: string, label: LabelRecord): Query<number> {
  return (sql) =>
    sql.begin(async (transaction) => {
      const tx = transaction as unknown as Sql;
      const version = await bumpVersion(tx);
      await putLabel(tx, account, label);
      return version;
    }) as Promise<number>;
}

async function putLabel(tx: Sql, account: string, label: LabelRecord): Promise<void> {
  const oneOf = label.oneOf === null ? null : JSON.stringify(label.oneOf);
  await tx`
    INSERT INTO sideband.labels (slot, account, channel, label, description, example, one_of, max_bytes, ttl_s, scope,
      hidden, created_at_ms)
    VALUES (${DIRECTORY_SLOT}, ${account}, ${label.channel}, ${label.label}, ${label.description}, ${label.example},
      ${oneOf}, ${label.maxBytes}, ${label.ttlS}, ${label.scope}, ${label.hidden}, ${label.createdAtMs})
    ON CONFLICT (slot, account, channel) DO UPDATE SET label = excluded.label, description = excluded.description,
      example = excluded.example, one_of = excluded.one_of, max_bytes = excluded.max_bytes, ttl_s = excluded.ttl_s,
      scope = excluded.scope, hidden = excluded.hidden, created_at_ms = excluded.created_at_ms`;
}

function labelOf(row: LabelRow): LabelRecord {
  const { oneOf, ...label } = recordOf(row);
  return { ...label, oneOf: oneOf === null ? null : JSON.parse(oneOf) };
}
