/**
 * No answer of the database is believed before it has shown whose it is. Each statement is given a ticket, a number that
 * no other statement has, and returns it in every row. A pooler or proxy that mixes up answers then causes an error and
 * never a wrong value. A statement that may find nothing still returns one row: it joins what it looks for to its
 * ticket (LEFT JOIN), because an empty answer shows no ticket.
 */

import { randomInt } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { assert } from "../../../base/assert.ts";
import { inSlices, type Sliced } from "../../../base/slices.ts";

class MismatchedAnswerError extends Error {
  override name = "MismatchedAnswerError";
  readonly code = "ANSWER_MIXED_UP";

  constructor(cause?: unknown) {
    super(
      "the database's answer belongs to another request: a pooler or proxy in between mixes up answers; " +
        "connect to PostgreSQL without it, or use PgBouncer's session mode (docs/CLUSTER.md)",
      { cause },
    );
  }
}

export interface Ticketed {
  readonly ticket: number;
}

/**
 * The prototype of every row. A column that is not there is asked of it: the client has read the row with the columns of
 * another statement, since the answer came after the head of the next one.
 */
const NO_COLUMN: object = new Proxy(Object.create(null), {
  get(_, name) {
    if (typeof name === "string") throw new MismatchedAnswerError(new Error(`the row has no column ${name}`));
    return undefined;
  },
});

/** Begins anywhere, so that two nodes behind one pooler do not have the same tickets. */
let lastTicket = randomInt(2 ** 47);

/** The rows of a statement that always returns at least one. `ask` sends the ticket along. */
export async function answerOf<Row extends Ticketed>(
  ask: (ticket: number) => PromiseLike<readonly Row[]>,
): Promise<readonly [Row, ...Row[]]> {
  const rows = await rowsOf(ask);
  if (rows.length === 0) throw new MismatchedAnswerError();
  return rows as unknown as readonly [Row, ...Row[]];
}

/** The rows of a change that may touch none: an answer without rows has no ticket to show. */
export async function rowsOf<Row extends Ticketed>(
  ask: (ticket: number) => PromiseLike<readonly Row[]>,
): Promise<readonly Row[]> {
  lastTicket += 1;
  assert(Number.isSafeInteger(lastTicket), "no two tickets are equal");
  const ticket = lastTicket;
  let rows: readonly Row[];
  try {
    // Sent at once: statements that are asked one after the other are sent in that order.
    rows = await new Promise<readonly Row[]>((resolve, reject) => ask(ticket).then(resolve, reject));
  } catch (error) {
    throw asMixedUp(error);
  }
  await inSlices(check(rows, ticket), setImmediate);
  return rows;
}

function* check(rows: readonly Ticketed[], ticket: number): Sliced<void> {
  for (const row of rows) {
    yield;
    Object.setPrototypeOf(row, NO_COLUMN);
    if (row.ticket !== ticket) throw new MismatchedAnswerError();
  }
}

/** The row of a statement that always returns one, outside of requests. */
export function onlyRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  assert(row !== undefined && rows.length === 1, "the statement returns one row");
  return row;
}

/** The client throws these errors if an answer has another shape than it asked for. */
export function asMixedUp(error: unknown): unknown {
  return error instanceof TypeError || error instanceof RangeError ? new MismatchedAnswerError(error) : error;
}

/** Without its ticket, and as a plain object. */
export function recordOf<Row extends Ticketed>({ ticket: _, ...record }: Row): Omit<Row, "ticket"> {
  return record;
}
