/**
 * A table whose rows are what the service tells. On a phone each row is a card that lists its cells with the names of
 * their columns (style/tables.css); on a wide screen a table that is too wide scrolls inside its own frame.
 */

import type { ComponentChildren } from "preact";

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Of all cells in the column. */
  readonly class?: string;
}

interface RowsTableProps<Row> {
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly caption: string;
  readonly label: string;
  readonly class?: string;
}

export function RowsTable<Row>({ columns, rows, keyOf, caption, label, ...rest }: RowsTableProps<Row>) {
  const [first, ...others] = columns;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section class={`scroll ${rest.class ?? ""}`} tabIndex={0} aria-label={label}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, class: kind }) => (
              <th key={name} scope="col" class={kind}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              <th scope="row" class={first.class}>
                {first.cell(row)}
              </th>
              {others.map(({ name, cell, class: kind }) => (
                <td key={name} data-name={name} class={kind}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
