/**
 * What keys have used elsewhere, from an import or another store: the counts of days are raised to it under a lock, and the counters of
 * months, by which keys and accounts are limited, by as much.
 */

import { TIER_LIMITS } from "../../../base/accounts.ts";
import { accountCounter } from "../../../memory/quota.ts";
import type { KeyRecord } from "../../../memory/records.ts";
import { DIRECTORY_SLOT, quotaSlot } from "../cluster/placement.ts";
import type { Query, Sql } from "../connection/database.ts";
import { rowsOf, type Ticketed } from "../connection/tickets.ts";
import { beginCounter, listKeys, readDailyUsage } from "./key-queries.ts";

/**
 * Everything goes into the key's own slot. A key without a limit may use any slot: readers add up all slots. Those who raise the same
 * key come one after the other (monthCounters). Days are locked before months, each in their order, as groups lock them (group-writes.ts).
 */
export function raiseUsage(key: UsedKey, days: readonly DayUsage[]): Query<void> {
  return async (sql) => {
    await sql.begin(async (transaction) => {
      const tx = transaction as unknown as Sql;
      const counters = await monthCounters(tx, key);
      const months = await raiseDays(tx, key.id, days);
      for (const { counter, keyIds } of counters)
        for (const [month, added] of months)
          if (keyIds !== undefined) await beginCounter(tx, { counter, month, keyIds, added });
          else
            await tx`
              UPDATE sideband.month_counters SET used = used + ${added}
              WHERE slot = ${quotaSlot(counter)} AND key_id = ${counter} AND month = ${month}`;
    });
  };
}

interface DayUsage {
  readonly day: string;
  readonly count: number;
}

type UsedKey = Pick<KeyRecord, "id" | "account" | "tier">;

interface MonthCounter {
  readonly counter: string;
  /** Whose days it counts; absent without a limit: then it need not be there. */
  readonly keyIds: string[] | undefined;
}

/** That of a key and that of its account, in the order of locks. Their limits stay as they are until the commit. */
async function monthCounters(tx: Sql, { id, account, tier }: UsedKey): Promise<MonthCounter[]> {
  const [key] = await rowsOf(
    (ticket) => tx<(Ticketed & Pick<KeyRecord, "tier">)[]>`
      SELECT ${ticket}::bigint AS ticket, tier FROM sideband.api_keys
      WHERE slot = ${DIRECTORY_SLOT} AND id = ${id} FOR NO KEY UPDATE`,
  );
  const [owner] = await rowsOf(
    (ticket) => tx<(Ticketed & { monthlyLimit: number | null })[]>`
      SELECT ${ticket}::bigint AS ticket, monthly_limit AS "monthlyLimit" FROM sideband.accounts
      WHERE slot = ${DIRECTORY_SLOT} AND account = ${account} FOR SHARE`,
  );
  const isKeyLimited = TIER_LIMITS[key?.tier ?? tier] !== null;
  const isLimited = owner !== undefined && owner.monthlyLimit !== null;
  const keys = isLimited ? await listKeys(account)(tx) : [];
  const counters = [
    { counter: id, keyIds: isKeyLimited ? [id] : undefined },
    { counter: accountCounter(account), keyIds: isLimited ? keys.map((one) => one.id) : undefined },
  ];
  return counters.sort(
    (a, b) => quotaSlot(a.counter) - quotaSlot(b.counter) || (a.counter < b.counter ? -1 : 1),
  );
}

/** By how much each month was raised, in the order of the months. */
async function raiseDays(tx: Sql, keyId: string, days: readonly DayUsage[]): Promise<Map<string, number>> {
  const months = new Map<string, number>();
  const wanted = [...days].sort((a, b) => (a.day < b.day ? -1 : 1));
  const [first, last] = [wanted.at(0), wanted.at(-1)];
  if (first === undefined || last === undefined) return months;
  const used = await readDailyUsage(keyId, first.day, last.day)(tx);
  const counts = new Map(used.map(({ day, count }) => [day, count]));
  for (const { day, count } of wanted) {
    const added = count - (counts.get(day) ?? 0);
    if (added <= 0) continue;
    counts.set(day, count);
    const month = day.slice(0, "YYYY-MM".length);
    months.set(month, (months.get(month) ?? 0) + added);
    await tx`
      INSERT INTO sideband.day_counters AS c (slot, used, key_id, day)
      VALUES (${quotaSlot(keyId)}, ${added}, ${keyId}, ${day})
      ON CONFLICT (slot, key_id, day) DO UPDATE SET used = c.used + excluded.used`;
  }
  return months;
}
