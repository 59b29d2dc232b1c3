/**
 * Rows as parameters of one statement: an array for each column, so that a statement has the same text, and is prepared
 * once, for any number of rows. Only what is inserted into the tables of a cluster is a list of values: there its planner
 * finds the machine of each row.
 */

import type postgres from "postgres";
import { assert } from "../../../base/assert.ts";
import type { Sql } from "../connection/database.ts";

export type ColumnType = "integer" | "bigint" | "text" | "bytea";
/** Bytes in the text form of bytea. */
export type Cell = string | number | null;

/** A part of a statement. */
type Fragment = postgres.PendingQuery<postgres.Row[]>;

type RowsOf = readonly (readonly Cell[])[];

export interface Rows {
  /** Rows to insert. */
  (types: readonly ColumnType[], rows: RowsOf): Fragment;
  /** As many rows to insert as a statement may have parameters for, each time; nothing of no rows. */
  parts<Row>(rows: readonly Row[]): (readonly Row[])[];
  /**
   * What a join of rows, led by their slots, with a distributed table `f` needs besides: without it a cluster asks
   * all of its machines, also one that is stopped.
   */
  slotsOf(rows: RowsOf): Fragment;
}

/** A statement has 65,535 parameters at most. */
const VALUES_MAX = 1_000;

export function rowsFor(sql: Sql, isCluster: boolean): Rows {
  const rowsOf = (types: readonly ColumnType[], rows: RowsOf) => {
    return isCluster ? valuesOf(sql, types, rows) : arraysOf(sql, types, rows);
  };
  const slotsOf = (rows: RowsOf) =>
    isCluster ? sql`AND f.slot = ANY(${[...new Set(rows.map(([slot]) => slot))]}::integer[])` : sql``;
  const parts = <Row>(rows: readonly Row[]) => {
    const size = isCluster ? VALUES_MAX : Math.max(1, rows.length);
    return Array.from({ length: Math.ceil(rows.length / size) }, (_, i) =>
      rows.slice(i * size, (i + 1) * size),
    );
  };
  return Object.assign(rowsOf, { slotsOf, parts });
}

/** Rows to join with a table. */
export function arraysOf(sql: Sql, types: readonly ColumnType[], rows: RowsOf): Fragment {
  assert(rows.length > 0, "a list of rows is not empty");
  const columns = types.map((type, i) => {
    const cells = rows.map((row) => row[i]);
    return type === "bytea" ? sql`${cells}::text[]::bytea[]` : sql`${cells}::${sql.unsafe(type)}[]`;
  });
  return sql`SELECT * FROM unnest(${joined(sql, columns)})`;
}

function valuesOf(sql: Sql, types: readonly ColumnType[], rows: RowsOf): Fragment {
  assert(rows.length > 0, "a list of rows is not empty");
  const lists = rows.map((row) => {
    const cells = row.map((cell, i) =>
      types[i] === "bytea" ? sql`${cell}::text::bytea` : sql`${cell}::${sql.unsafe(types[i])}`,
    );
    return sql`(${joined(sql, cells)})`;
  });
  return sql`VALUES ${joined(sql, lists)}`;
}

function joined(sql: Sql, parts: readonly Fragment[]): Fragment[] {
  return parts.map((part, i) => (i === 0 ? part : sql`, ${part}`));
}

/** Bytes as the text form of bytea. */
export function hexOf(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString("hex")}`;
}
