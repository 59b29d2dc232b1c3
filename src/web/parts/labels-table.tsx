/** Labels of an account with what they ask of their values; where one may, with a button that hides or shows each. */

import { RowsTable } from "./rows-table.tsx";

/** What the service tells of a label, to its account and to the operator. */
export interface ListedLabel {
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

export function LabelsTable({ labels, caption, onHidden }: LabelsTableProps) {
  return (
    <RowsTable
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
                  <button
                    type="button"
                    class="small"
                    aria-label={`${hidden ? "Show" : "Hide"} ${label}`}
                    onClick={() => onHidden(label, !hidden)}
                  >
                    {hidden ? "Show" : "Hide"}
                  </button>
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
