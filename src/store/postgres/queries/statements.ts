/**
 * Statements over many rows. Rows are parameters: an array for each column, so that a statement has the same text, and is
 * prepared once, for any number of rows. What belongs together is one statement (`read`, `change`): each costs the
 * database, the network and the node a message there and back. The text is put together from plain objects, since each
 * fragment of the client is a promise.
 *
 * What is inserted into the tables of a cluster is a list of values: there its planner finds the machine of each row. And
 * each part is a statement of its own there. Citus takes them together too; which of the two is faster was not measured.
 */

import { assert, elementAt } from "../../../base/assert.ts";
import type { Sql } from "../connection/database.ts";
import { asCommitFailure } from "../connection/database-failure.ts";
import { answerOf, asMixedUp, type Ticketed, rowsOf as ticketed } from "../connection/tickets.ts";

type ColumnType = "integer" | "bigint" | "text" | "bytea" | "boolean";
/** Bytes in the text form of bytea. */
type Cell = string | number | null;

/** A column of rows that are sent: its type, and what a row has there. */
export type Column<Row> = readonly [ColumnType, (row: Row) => Cell];

type Columns<Row> = readonly Column<Row>[];

/** Columns by the names of what a row has there. */
export function columnsOf<Row>(types: { readonly [Name in keyof Row]?: ColumnType }): Column<Row>[] {
  return Object.entries(types).map(([name, type]) => {
    return [type as ColumnType, (row) => (row[name as keyof Row] as Cell | undefined) ?? null];
  });
}

/** The same, of rows that have it under a name. */
export function columnsIn<Name extends string, Part>(
  name: Name,
  columns: Columns<Part>,
): Column<{ readonly [Key in Name]: Part }>[] {
  return columns.map(([type, cellOf]) => [type, (row) => cellOf(row[name])]);
}

/** A part of a statement: text with values in between, which are parameters or parts. A list that is there twice is sent once. */
export class Part {
  readonly texts: readonly string[];
  readonly values: readonly (Part | Cell | readonly Cell[])[];

  constructor(texts: Part["texts"], values: Part["values"]) {
    this.texts = texts;
    this.values = values;
  }
}

export function part(texts: TemplateStringsArray, ...values: Part["values"]): Part {
  return new Part(texts, values);
}

const NOTHING = part``;

/** With less to send the client waits for a turn of the event loop. */
const AT_ONCE_BYTES = 1_024;

/** Statements with the same text are prepared once. */
const PREPARED = { prepare: true, simple: false } as const;

/** A statement has 65,535 parameters at most. */
const VALUES_MAX = 1_000;

export class Statements {
  readonly #sql: Sql;
  /** The tables are distributed. */
  readonly isCluster: boolean;
  readonly #isTrial: boolean;

  /** @param isTrial what it does is taken back in the end */
  constructor(sql: Sql, isCluster: boolean, isTrial = false) {
    this.#sql = sql;
    this.isCluster = isCluster;
    this.#isTrial = isTrial;
  }

  /** Sends a statement, as soon as somebody waits for it. */
  send<Row>(texts: TemplateStringsArray, ...values: Part["values"]): PromiseLike<readonly Row[]> {
    const parameters: Parameter[] = [];
    const text = textOf(new Part(texts, values), parameters, new Map());
    return this.#sql.unsafe<Row[] & object[]>(text, parameters as never[], PREPARED);
  }

  /** Sends a text of one or more statements without parameters and answers, and all that was sent before it, at once. */
  async run(text: string): Promise<void> {
    const sent = this.#sql.unsafe(text.padEnd(AT_ONCE_BYTES)).execute();
    await sent.catch((error: unknown) => {
      throw asMixedUp(error);
    });
  }

  async commit(): Promise<void> {
    await this.run(this.#isTrial ? "ROLLBACK" : "COMMIT").catch((error: unknown) => {
      throw asCommitFailure(error);
    });
  }

  /** The rows of all queries, which have the same columns. */
  async read<Row extends Ticketed>(columns: Part, queries: readonly Part[]): Promise<readonly Row[]> {
    const statements = this.isCluster ? queries : [joined(queries, " UNION ALL ")];
    const answers = statements.map((query) =>
      ticketed(
        (ticket) => this.send<Row>`SELECT ${ticket}::bigint AS ticket, t.* FROM (${query}) AS t ${columns}`,
      ),
    );
    const [first = [], ...more] = await allOf(answers);
    return more.length === 0 ? first : [first, ...more].flat();
  }

  /** Makes changes, each an INSERT, UPDATE or DELETE without RETURNING, of which none needs to see another. The first one is made last. */
  change(changes: readonly Part[]): Promise<unknown>[] {
    if (this.isCluster)
      return changes
        .toReversed()
        .map((change) =>
          ticketed((ticket) => this.send<Ticketed>`${change} RETURNING ${ticket}::bigint AS ticket`),
        );
    if (changes.length === 0) return [];
    const named = changes.map((change, i) => new Part([`change_${i} AS (`, ")"], [change]));
    return [
      answerOf((ticket) => this.send<Ticketed>`WITH ${joined(named)} SELECT ${ticket}::bigint AS ticket`),
    ];
  }

  /** Rows to insert. */
  rows<Row>(columns: Columns<Row>, rows: readonly Row[]): Part {
    return this.isCluster ? valuesOf(columns, rows) : arraysOf(columns, rows);
  }

  /** As many rows to insert as a statement may have parameters for, each time; nothing of no rows. */
  parts<Row>(rows: readonly Row[]): (readonly Row[])[] {
    const size = this.isCluster ? VALUES_MAX : Math.max(1, rows.length);
    return Array.from({ length: Math.ceil(rows.length / size) }, (_, i) =>
      rows.slice(i * size, (i + 1) * size),
    );
  }

  /**
   * What a join of rows with each distributed table needs besides: without it a cluster asks all of its machines, also one
   * that is stopped.
   */
  slotsOf<Row>(rows: readonly Row[], slotOf: (row: Row) => number, table: "f" | "u" | "a" | "c" = "f"): Part {
    if (!this.isCluster) return NOTHING;
    const slots = [...new Set(rows.map(slotOf))];
    return new Part([`AND ${table}.slot = ANY(`, "::integer[])"], [slots]);
  }
}

type Parameter = Cell | readonly Cell[];

/** Adds its parameters to those before it. */
function textOf({ texts, values }: Part, parameters: Parameter[], lists: Map<Parameter, number>): string {
  let text = elementAt(texts, 0);
  for (const [i, value] of values.entries()) {
    if (value instanceof Part) text += textOf(value, parameters, lists);
    else {
      const number = lists.get(value) ?? parameters.push(value);
      if (Array.isArray(value)) lists.set(value, number);
      text += `$${number}`;
    }
    text += elementAt(texts, i + 1);
  }
  return text;
}

/** What all resolve to, or the first failure, which is the cause of all the others. */
export async function allOf<T>(answers: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(answers);
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

/** Rows to join with a table. Of a list that ends before the others, the rest is null. */
export function arraysOf<Row>(columns: Columns<Row>, rows: readonly Row[]): Part {
  assert(rows.length > 0, "a list of rows is not empty");
  const lists = columns.map(([type, cellOf]) => {
    const cells = rows.map(cellOf);
    return cast([cells.slice(0, cells.findLastIndex((cell) => cell !== null) + 1)], type, "[]");
  });
  return part`SELECT * FROM unnest(${joined(lists)})`;
}

export function valuesOf<Row>(columns: Columns<Row>, rows: readonly Row[]): Part {
  assert(rows.length > 0, "a list of rows is not empty");
  const lists = rows.map(
    (row) => part`(${joined(columns.map(([type, cellOf]) => cast([cellOf(row)], type)))})`,
  );
  return part`VALUES ${joined(lists)}`;
}

function cast(value: Part["values"], type: ColumnType, list = ""): Part {
  // The driver writes arrays of these as text.
  const isText = type === "bytea" || type === "boolean";
  return new Part(["", isText ? `::text${list}::${type}${list}` : `::${type}${list}`], value);
}

function joined(parts: readonly Part[], joint = ", "): Part {
  return new Part(["", ...parts.slice(1).map(() => joint), ""], parts);
}

/** Bytes as the text form of bytea. */
export function hexOf(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString("hex")}`;
}
