/** Accounts, API keys and usage. All but usage are in one slot: they are few, and nodes cache them. */

import { TIER_LIMITS } from "../../../base/accounts.ts";
import { assert } from "../../../base/assert.ts";
import type { EndedGrants } from "../../../memory/ports.ts";
import { accountCounter } from "../../../memory/quota.ts";
import type {
  AccountRecord,
  AddKeyOutcome,
  AuditNote,
  KeyApproval,
  KeyChange,
  KeyGrant,
  KeyRecord,
} from "../../../memory/records.ts";
import { DIRECTORY_SLOT, quotaSlot } from "../cluster/placement.ts";
import type { Query, Sql } from "../connection/database.ts";
import { answerOf, recordOf, rowsOf, type Ticketed } from "../connection/tickets.ts";
import { storeNote } from "./audit-queries.ts";
import { inSlots } from "./group-counts.ts";
import { decideKeyRequest } from "./key-request-queries.ts";

/** Notified at every change of a key or label. The payload is empty: nodes read the version from the settings table. */
export const KEYS_CHANNEL = "sideband_keys";

const KEY_COLUMNS = (sql: Sql) => sql`
  id, account, tier, hash, prefix, note, bound_user AS "user", access, groups, write_labels AS "write", grant_terms AS "grantTerms",
  created_at_ms AS "createdAtMs", expires_at_ms AS "expiresAtMs",
  revoked_at_ms AS "revokedAtMs", last_used_at_ms AS "lastUsedAtMs"`;

/** The columns of what was not found are null. */
type FoundKey = Ticketed & (ApiKeyRow | { readonly id: null });
type ApiKeyRow = Omit<KeyRecord, "groups" | "write" | "grant"> & {
  readonly groups: string | null;
  readonly write: string | null;
  readonly grantTerms: string | null;
};

function keyOf(row: Ticketed & ApiKeyRow): KeyRecord {
  const { groups, write, grantTerms, ...record } = recordOf(row);
  return {
    ...record,
    ...(groups === null ? {} : { groups }),
    ...(write === null ? {} : { write }),
    ...(grantTerms === null ? {} : { grant: JSON.parse(grantTerms) as KeyGrant }),
  };
}

/** The same bytes for the same terms, whoever has made the record. */
function grantTermsOf({ keyId, resource, client, returnsTo, refreshes, recentMs }: KeyGrant): string {
  return JSON.stringify({ keyId, resource, client, returnsTo, refreshes, recentMs });
}

export function findKey(hash: string): Query<KeyRecord | undefined> {
  return async (sql) => {
    const [row] = await answerOf(
      (ticket) => sql<FoundKey[]>`
        SELECT ticket, ${KEY_COLUMNS(sql)} FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.api_keys ON slot = ${DIRECTORY_SLOT} AND hash = ${hash}`,
    );
    return row.id === null ? undefined : keyOf(row);
  };
}

export function readKey(id: string): Query<KeyRecord | undefined> {
  return async (sql) => {
    const [row] = await answerOf(
      (ticket) => sql<FoundKey[]>`
        SELECT ticket, ${KEY_COLUMNS(sql)} FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.api_keys ON slot = ${DIRECTORY_SLOT} AND id = ${id}`,
    );
    return row.id === null ? undefined : keyOf(row);
  };
}

export function listKeys(account: string | undefined): Query<KeyRecord[]> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<FoundKey[]>`
        SELECT ticket, ${KEY_COLUMNS(sql)} FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.api_keys ON slot = ${DIRECTORY_SLOT}
          AND (${account ?? null}::text IS NULL OR account = ${account ?? null}::text)
        ORDER BY created_at_ms, id`,
    );
    return rows.flatMap((row) => (row.id === null ? [] : [keyOf(row)]));
  };
}

export function listAccounts(): Query<AccountRecord[]> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<FoundAccount[]>`
        SELECT ticket, ${ACCOUNT_COLUMNS(sql)} FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.accounts ON slot = ${DIRECTORY_SLOT} ORDER BY account`,
    );
    return rows.flatMap((row) => (row.account === null ? [] : [accountOf(row)]));
  };
}

const ACCOUNT_COLUMNS = (sql: Sql) =>
  sql`account, created_at_ms AS "createdAtMs", monthly_limit AS "monthlyLimit"`;

interface AccountRow extends Ticketed {
  readonly account: string;
  readonly createdAtMs: number;
  readonly monthlyLimit: number | null;
}
type FoundAccount = AccountRow | (Ticketed & { readonly account: null });

function accountOf({ account, createdAtMs, monthlyLimit }: AccountRow): AccountRecord {
  return { account, createdAtMs, ...(monthlyLimit !== null && { monthlyLimit }) };
}

export function readAccount(account: string): Query<AccountRecord | undefined> {
  return async (sql) => {
    const [row] = await answerOf(
      (ticket) => sql<FoundAccount[]>`
        SELECT ticket, ${ACCOUNT_COLUMNS(sql)} FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.accounts ON slot = ${DIRECTORY_SLOT} AND account = ${account}`,
    );
    return row.account === null ? undefined : accountOf(row);
  };
}

/** A limit begins with what all keys have used in the month, and without one each key with what it has used itself. */
export function changeAccount(
  account: string,
  monthlyLimit: number | null,
  month: string,
  audit?: AuditNote,
  onlyNew = false,
): Query<{ record: AccountRecord; version: number } | undefined> {
  return (sql) =>
    sql.begin(async (transaction) => {
      const tx = transaction as unknown as Sql;
      const version = await bumpVersion(tx);
      const known = onlyNew ? await readAccount(account)(tx) : undefined;
      if (known?.monthlyLimit !== undefined) return { record: known, version };
      const [row] = await rowsOf(
        (ticket) => tx<AccountRow[]>`
          UPDATE sideband.accounts SET monthly_limit = ${monthlyLimit}
          WHERE slot = ${DIRECTORY_SLOT} AND account = ${account}
          RETURNING ${ticket}::bigint AS ticket, ${ACCOUNT_COLUMNS(tx)}`,
      );
      if (row === undefined) return undefined;
      const keys = await listKeys(account)(tx);
      if (monthlyLimit !== null) {
        const keyIds = keys.map(({ id }) => id);
        await beginCounter(tx, { counter: accountCounter(account), month, keyIds });
      } else {
        const limited = keys.filter(({ tier }) => TIER_LIMITS[tier] !== null);
        const counters = limited.map(({ id }) => ({ slot: quotaSlot(id), keyId: id, period: month }));
        for (const { keyId } of counters.sort(inSlots))
          await beginCounter(tx, { counter: keyId, month, keyIds: [keyId] });
      }
      await storeNote(tx, audit, row);
      return { record: accountOf(row), version };
    }) as Promise<{ record: AccountRecord; version: number } | undefined>;
}

interface CounterStart {
  readonly counter: string;
  readonly month: string;
  readonly keyIds: string[];
  /** What was added to their days in this transaction. */
  readonly added?: number;
}

/** Counts from what these keys have used in the month; a counter that is there already may know more. */
export async function beginCounter(
  tx: Sql,
  { counter, month, keyIds, added = 0 }: CounterStart,
): Promise<void> {
  const [{ used }] = await answerOf(
    (ticket) => tx<(Ticketed & { used: number })[]>`
      SELECT ${ticket}::bigint AS ticket, coalesce(sum(used), 0)::bigint AS used FROM sideband.day_counters
      WHERE key_id = ANY(${keyIds}::text[]) AND day BETWEEN ${`${month}-01`} AND ${`${month}-31`}`,
  );
  await tx`
    INSERT INTO sideband.month_counters AS c (slot, used, key_id, month)
    VALUES (${quotaSlot(counter)}, ${used}, ${counter}, ${month})
    ON CONFLICT (slot, key_id, month) DO UPDATE SET used = greatest(c.used + ${added}, excluded.used)`;
}

/** Resolves with the new version of the keys. */
export function addKey(
  record: KeyRecord,
  approval?: KeyApproval,
  audit?: AuditNote,
): Query<{ outcome: AddKeyOutcome; version: number }> {
  const { id, account, tier, hash, prefix, note } = record;
  return (sql) =>
    sql.begin(async (transaction) => {
      const tx = transaction as unknown as Sql;
      const version = await bumpVersion(tx);
      const refusal = approval && (await refusalOf(tx, account, approval));
      if (refusal !== undefined) return { outcome: refusal, version };
      const added = await rowsOf(
        (ticket) => tx<Ticketed[]>`
        INSERT INTO sideband.api_keys (slot, created_at_ms, expires_at_ms, revoked_at_ms, last_used_at_ms,
          id, account, tier, hash, prefix, note, bound_user, access, groups, write_labels, grant_terms)
        VALUES (${DIRECTORY_SLOT}, ${record.createdAtMs}, ${record.expiresAtMs}, ${record.revokedAtMs},
          ${record.lastUsedAtMs}, ${id}, ${account}, ${tier}, ${hash}, ${prefix}, ${note}, ${record.user},
          ${record.access}, ${record.groups ?? null}, ${record.write ?? null},
          ${record.grant === undefined ? null : grantTermsOf(record.grant)})
        ON CONFLICT DO NOTHING RETURNING ${ticket}::bigint AS ticket`,
      );
      if (added.length === 0) return { outcome: "key_exists", version };
      if (approval !== undefined) {
        const decision = { status: "approved", decidedAtMs: record.createdAtMs, keyId: id } as const;
        const decided = await decideKeyRequest(approval.requestId, decision)(tx);
        assert(decided !== undefined, "a request that this transaction has locked is still open");
      }
      await transaction`
        INSERT INTO sideband.accounts (slot, created_at_ms, account)
        VALUES (${DIRECTORY_SLOT}, ${record.createdAtMs}, ${account}) ON CONFLICT (slot, account) DO NOTHING`;
      await storeNote(tx, audit, "added");
      return { outcome: "added", version };
    }) as Promise<{ outcome: AddKeyOutcome; version: number }>;
}

/** Accounts are added one after the other (bumpVersion); the lock on the request keeps it from being declined now. */
async function refusalOf(
  tx: Sql,
  account: string,
  approval: KeyApproval,
): Promise<AddKeyOutcome | undefined> {
  const open = await tx`
    SELECT id FROM sideband.key_requests
    WHERE slot = ${DIRECTORY_SLOT} AND id = ${approval.requestId} AND status = 'open' FOR UPDATE`;
  if (open.length === 0) return "request_not_open";
  const known = await tx`
    SELECT account FROM sideband.accounts WHERE slot = ${DIRECTORY_SLOT} AND account = ${account}`;
  const used = await tx`SELECT account FROM sideband.users WHERE account = ${account} LIMIT 1`;
  const exists = known.length + used.length > 0;
  if (approval.account === "new") return exists ? "account_exists" : undefined;
  return exists ? undefined : "account_missing";
}

/** A revocation is final, and keeps its first time. */
export function changeKey(
  id: string,
  change: KeyChange,
  audit?: AuditNote,
): Query<{ record: KeyRecord; version: number } | undefined> {
  return (sql) =>
    sql.begin(async (transaction) => {
      const tx = transaction as unknown as Sql;
      const version = await bumpVersion(tx);
      const [row] = await rowsOf(
        (ticket) => tx<(Ticketed & ApiKeyRow)[]>`
          UPDATE sideband.api_keys SET
            tier = coalesce(${change.tier ?? null}::text, tier),
            revoked_at_ms = coalesce(revoked_at_ms, ${change.revokedAtMs ?? null}::bigint),
            expires_at_ms = CASE WHEN ${change.expiresAtMs !== undefined}::boolean
              THEN ${change.expiresAtMs ?? null}::bigint ELSE expires_at_ms END
          WHERE slot = ${DIRECTORY_SLOT} AND id = ${id} RETURNING ${ticket}::bigint AS ticket, ${KEY_COLUMNS(tx)}`,
      );
      const { tier, month } = change;
      if (row !== undefined && tier !== undefined && month !== undefined && TIER_LIMITS[tier] !== null)
        await beginCounter(tx, { counter: id, month, keyIds: [id] });
      await storeNote(tx, audit, row);
      return row && { record: keyOf(row), version };
    }) as Promise<{ record: KeyRecord; version: number } | undefined>;
}

/** Under the condition that nobody has changed it meanwhile. */
export function changeGrant(id: string, before: KeyGrant, after: KeyGrant): Query<boolean> {
  return async (sql) => {
    const { count } = await sql`
      UPDATE sideband.api_keys SET grant_terms = ${grantTermsOf(after)}
      WHERE slot = ${DIRECTORY_SLOT} AND id = ${id} AND revoked_at_ms IS NULL AND grant_terms = ${grantTermsOf(before)}`;
    return count > 0;
  };
}

export function removeGrants(account: string, user: string, endedBeforeMs: number): Query<void> {
  return async (sql) => {
    await sql`
      DELETE FROM sideband.api_keys
      WHERE slot = ${DIRECTORY_SLOT} AND account = ${account} AND bound_user = ${user} AND grant_terms IS NOT NULL
        AND least(revoked_at_ms, expires_at_ms) < ${endedBeforeMs}`;
  };
}

/**
 * Removes all grants of a user, which end with it. Resolves with the new version of the keys, too, where there were any. As in every
 * other change of keys the version is locked before them; an erasure of somebody without grants does not lock it.
 */
export function endGrants(
  account: string,
  user: string,
  nowMs: number,
  audit?: AuditNote,
): Query<{ outcome: EndedGrants & { readonly removed: number }; version: number | undefined }> {
  return (sql) =>
    sql.begin(async (transaction) => {
      const tx = transaction as unknown as Sql;
      const isOfUser = tx`slot = ${DIRECTORY_SLOT} AND account = ${account} AND bound_user = ${user}`;
      const counts = tx`revoked_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > ${nowMs})`;
      const [{ found }] = await answerOf(
        (ticket) => tx<(Ticketed & { found: boolean })[]>`
          SELECT ${ticket}::bigint AS ticket,
            EXISTS (SELECT FROM sideband.api_keys WHERE ${isOfUser} AND grant_terms IS NOT NULL) AS found`,
      );
      const version = found ? await bumpVersion(tx) : undefined;
      const removing = (ticket: number) => tx<(Ticketed & { counts: boolean })[]>`
        DELETE FROM sideband.api_keys WHERE ${isOfUser} AND grant_terms IS NOT NULL
        RETURNING ${ticket}::bigint AS ticket, ${counts} AS counts`;
      const grants = found ? await rowsOf(removing) : [];
      const keys = await rowsOf(
        (ticket) => tx<Ticketed[]>`
          SELECT ${ticket}::bigint AS ticket FROM sideband.api_keys WHERE ${isOfUser} AND grant_terms IS NULL AND ${counts}`,
      );
      const connections = grants.filter((grant) => grant.counts).length;
      await storeNote(tx, audit, grants.length > 0);
      return { outcome: { connections, removed: grants.length, keysLeft: keys.length }, version };
    }) as Promise<{ outcome: EndedGrants & { removed: number }; version: number | undefined }>;
}

/** One statement for each key: a node holds no row lock while it waits for another. */
export function touchKeys(uses: ReadonlyMap<string, number>): Query<void> {
  return async (sql) => {
    for (const [id, lastUsedAtMs] of uses) {
      await sql`
        UPDATE sideband.api_keys SET last_used_at_ms = ${lastUsedAtMs}
        WHERE slot = ${DIRECTORY_SLOT} AND id = ${id} AND coalesce(last_used_at_ms, 0) < ${lastUsedAtMs}`;
    }
  };
}

export function keysVersion(): Query<number> {
  return async (sql) => {
    return Number(await readSetting("keys-version")(sql));
  };
}

/** The row is locked until the commit: changes of keys and labels come one after the other. */
export async function bumpVersion(transaction: Sql): Promise<number> {
  const [row] = await answerOf(
    (ticket) => transaction<(Ticketed & { value: string })[]>`
      UPDATE sideband.settings SET value = (value::bigint + 1)::text
      WHERE slot = ${DIRECTORY_SLOT} AND name = 'keys-version' RETURNING ${ticket}::bigint AS ticket, value`,
  );
  await transaction`SELECT pg_notify(${KEYS_CHANNEL}, '')`;
  return Number(row.value);
}

export function readSetting(name: string): Query<string | undefined> {
  return async (sql) => {
    const [row] = await answerOf(
      (ticket) => sql<(Ticketed & { value: string | null })[]>`
        SELECT ticket, value FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.settings ON slot = ${DIRECTORY_SLOT} AND name = ${name}`,
    );
    return row.value ?? undefined;
  };
}

/** Stores the value unless the setting has one; resolves to the stored value. */
export function agreeOn(name: string, value: string): Query<string> {
  return async (sql) => {
    await sql`
      INSERT INTO sideband.settings (slot, name, value) VALUES (${DIRECTORY_SLOT}, ${name}, ${value})
      ON CONFLICT (slot, name) DO NOTHING`;
    return (await readSetting(name)(sql)) ?? value;
  };
}

/** A key with a limit has an exact counter. For a key without one, the days of all slots are added up. */
export function readUsage(keyId: string, month: string): Query<number> {
  return async (sql) => {
    const [counter] = await answerOf(
      (ticket) => sql<(Ticketed & { used: number | null })[]>`
        SELECT ticket, used FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.month_counters ON slot = ${quotaSlot(keyId)} AND key_id = ${keyId} AND month = ${month}`,
    );
    if (counter.used !== null) return counter.used;
    const [sum] = await answerOf(
      (ticket) => sql<(Ticketed & { used: number })[]>`
        SELECT ${ticket}::bigint AS ticket, coalesce(sum(used), 0)::bigint AS used FROM sideband.day_counters
        WHERE key_id = ${keyId} AND day BETWEEN ${`${month}-01`} AND ${`${month}-31`}`,
    );
    return sum.used;
  };
}

export function readDailyUsage(
  keyId: string,
  fromDay: string,
  toDay: string,
): Query<{ day: string; count: number }[]> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<(Ticketed & { day: string | null; count: number })[]>`
        SELECT ticket, day, count FROM (SELECT ${ticket}::bigint AS ticket) AS t LEFT JOIN (
          SELECT day, sum(used)::bigint AS count FROM sideband.day_counters
          WHERE key_id = ${keyId} AND day BETWEEN ${fromDay} AND ${toDay} GROUP BY day) AS days ON true
        ORDER BY day`,
    );
    return rows.flatMap(({ day, count }) => (day === null ? [] : [{ day, count }]));
  };
}
