/** What a group counts for its keys, by day and by month, on its second trip. */

import type { WriteRequest } from "../../../memory/ports.ts";
import { quotaSlot } from "../cluster/placement.ts";
import { answerOf, type Ticketed } from "../connection/tickets.ts";
import { compare, counterName, countersOf, type GroupUser } from "./group-locks.ts";
import { arraysOf, columnsOf, type Part, part, type Statements } from "./statements.ts";

/** Encodes of a write with a quota. */
export interface CountedWrite {
  readonly quota: NonNullable<WriteRequest["quota"]>;
  readonly user: GroupUser;
  readonly count: number;
}

interface Counted {
  readonly counted: readonly CountedWrite[];
  /** What the counters that are there had used when it was read. */
  readonly used: ReadonlyMap<string, number>;
}

/** Without a limit. */
const MOST = Number.MAX_SAFE_INTEGER;

/** Of a key or an account, in a month or on a day. */
interface CounterName {
  readonly slot: number;
  readonly keyId: string;
  readonly period: string;
}

interface Count extends CounterName {
  count: number;
  /** What may have been used before: with more the law had refused one of the writes. */
  most: number;
}

/**
 * Sums for each counter, sorted, since others may lock them at the same time. A key without a limit counts its days in the slot of
 * the user, and in months only where there is a counter.
 */
export function countsOf({ counted, used }: Counted): {
  months: Count[];
  days: Count[];
} {
  const months = new Map<string, Count>();
  const days = new Map<string, Count>();
  const add = (
    sums: Map<string, Count>,
    keyId: string,
    period: string,
    slot: number | undefined,
    count: number,
  ) => {
    const name = `${slot}\0${keyId}\0${period}`;
    const sum = sums.get(name) ?? { slot: slot ?? quotaSlot(keyId), keyId, period, count: 0, most: MOST };
    sum.count += count;
    sums.set(name, sum);
    return sum;
  };
  for (const { quota, user, count } of counted) {
    const { keyId, month, day, limit, counter = keyId } = quota;
    add(days, keyId, day, limit === null ? user.slot : undefined, count);
    for (const name of countersOf({ account: user.account, quota })) {
      const isLimited = limit !== null && name === counter;
      if (!isLimited && !used.has(counterName({ keyId: name, month }))) continue;
      const sum = add(months, name, month, undefined, count);
      if (isLimited) sum.most = Math.min(sum.most, limit - sum.count);
    }
  }
  const sorted = (sums: Map<string, Count>) => [...sums.values()].sort(inSlots);
  return { months: sorted(months), days: sorted(days) };
}

/** The order in which counters are locked. */
export function inSlots(a: CounterName, b: CounterName): number {
  return a.slot - b.slot || compare(a.keyId, b.keyId) || compare(a.period, b.period);
}

const COUNT = columnsOf<Count>({ slot: "integer", keyId: "text", period: "text", count: "bigint" });
const LIMITED_COUNT = [...COUNT, ...columnsOf<Count>({ most: "bigint" })];

export function countDays(statements: Statements, days: readonly Count[]): Part[] {
  return statements.parts(days).map(
    (rows) => part`
      INSERT INTO sideband.day_counters AS c (slot, key_id, day, used) ${statements.rows(COUNT, rows)}
      ON CONFLICT (slot, key_id, day) DO UPDATE SET used = c.used + excluded.used`,
  );
}

interface MonthRow extends Ticketed {
  readonly key_id: string;
  readonly month: string;
  readonly used: number;
}

/**
 * The law has let writes through by what was used when it was read. Where others have used so much meanwhile that it would not
 * have, the counter becomes null, which its column refuses, and nothing is stored. New counters come first: whoever waits for one
 * has locked none that others know.
 */
export function countMonths(
  statements: Statements,
  months: readonly Count[],
  used: ReadonlyMap<string, number>,
): Promise<readonly MonthRow[]>[] {
  const isKnown = ({ keyId, period }: Count) => used.has(counterName({ keyId, month: period }));
  const known = months.filter(isKnown);
  const first = months.filter((count) => !isKnown(count));
  const counting: Promise<readonly MonthRow[]>[] = [];
  if (first.length > 0)
    counting.push(
      answerOf(
        (ticket) => statements.send<MonthRow>`
          INSERT INTO sideband.month_counters AS c (slot, key_id, month, used)
          ${statements.rows(COUNT, first)}
          ON CONFLICT (slot, key_id, month) DO UPDATE SET used = NULL
          RETURNING ${ticket}::bigint AS ticket, c.key_id, c.month, c.used`,
      ),
    );
  if (known.length > 0)
    counting.push(
      answerOf(
        (ticket) => statements.send<MonthRow>`
          UPDATE sideband.month_counters AS c SET used = CASE WHEN c.used <= t.most THEN c.used + t.count END
          FROM (${arraysOf(LIMITED_COUNT, known)}) AS t (slot, key_id, month, count, most)
          WHERE c.slot = t.slot AND c.key_id = t.key_id AND c.month = t.month
          RETURNING ${ticket}::bigint AS ticket, c.key_id, c.month, c.used`,
      ),
    );
  return counting.map((rows) =>
    rows.catch((error: unknown) => {
      throw isRefusedCount(error) ? Object.assign(new Error("others have counted"), CONFLICT) : error;
    }),
  );
}

/** As the database says it: the transaction may be repeated. */
const CONFLICT = { code: "40001" };

function isRefusedCount(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23502";
}
