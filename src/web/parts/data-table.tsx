/**
 * A table whose rows are what the service tells, and the one of labels. On a phone each row is a card that lists its cells with the names of
 * their columns (style/tables.css); on a wide screen a table that is too wide scrolls inside its own frame.
 */

import type { ComponentChildren } from "preact";
import { Button } from "./fields.tsx";

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Of all cells in the column. */
  readonly class?: string;
}

interface DataTableProps<Row> {
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly caption: string;
  readonly label: string;
  readonly class?: string;
}

export function DataTable<Row>({ columns, rows, keyOf, caption, label, ...rest }: DataTableProps<Row>) {
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

/** What the service tells of a label, to its account and to the operator. */
interface ListedLabel {
  readonly label: string;
  readonly description: string;
  readonly scope: string;
  readonly hidden: boolean;
  readonly one_of?: readonly string[];
  readonly max_bytes?: number;
  readonly ttl_s?: number;
}

interface LabelsTableProps {
  readonly labels: readonly ListedLabel[];
  readonly caption: string;
  /** Hides or shows a label; undefined where that is not allowed. */
  readonly onHidden?: ((label: string, hidden: boolean) => void) | undefined;
}

/** Labels of an account with what they ask of their values; where one may, with a button that hides or shows each. */
export function LabelsTable({ labels, caption, onHidden }: LabelsTableProps) {
  return (
    <DataTable
      caption={caption}
      label={caption}
      rows={labels}
      keyOf={({ label }) => label}
      columns={[
        { name: "Label", class: "mono text", cell: ({ label }) => label },
        { name: "What", class: "text", cell: ({ description }) => description },
        { name: "Kept for", cell: ({ scope }) => scope },
        { name: "Terms", class: "text", cell: termsText },
        ...(onHidden === undefined
          ? []
          : [
              {
                name: "Change",
                cell: ({ label, hidden }: ListedLabel) => (
                  <Button
                    class="small"
                    aria-label={`${hidden ? "Show" : "Hide"} ${label}`}
                    onClick={() => onHidden(label, !hidden)}
                    text={hidden ? "Show" : "Hide"}
                  />
                ),
              },
            ]),
      ]}
    />
  );
}

/** What a label asks of its values. */
function termsText({ hidden, one_of: choices, max_bytes: sizeMax, ttl_s: lifeS }: ListedLabel): string {
  return [
    ...(hidden ? ["hidden"] : []),
    ...(choices === undefined ? [] : [`one of ${choices.join(", ")}`]),
    ...(sizeMax === undefined ? [] : [`at most ${sizeMax} bytes`]),
    ...(lifeS === undefined ? [] : [`ends after ${lifeS.toLocaleString("en")} s`]),
  ].join("; ");
}
