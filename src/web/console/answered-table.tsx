/** Requests that this process has answered, as a table: all recent ones, or those that failed. */

import { type Column, RowsTable } from "../parts/rows-table.tsx";

interface Answered {
  readonly at: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly request_id: string;
}

interface AnsweredTableProps<Row> {
  readonly requests: readonly Row[];
  /** Columns beside those that all requests have. */
  readonly columns: readonly Column<Row>[];
  readonly caption: string;
  readonly label: string;
}

export function AnsweredTable<Row extends Answered>({
  requests,
  columns,
  caption,
  label,
}: AnsweredTableProps<Row>) {
  if (requests.length === 0) return <p class="hint">None since this process started.</p>;
  return (
    <RowsTable<Row>
      class="recent"
      caption={`${caption}: ${requests.length}, the newest first, times in UTC`}
      label={label}
      rows={requests}
      keyOf={({ at, request_id }) => `${at} ${request_id}`}
      columns={[
        { name: "When", class: "whole", cell: ({ at }) => at.slice(0, 19).replace("T", " ") },
        { name: "Call", cell: ({ method, route }) => `${method} ${route}` },
        { name: "Status", cell: ({ status }) => status },
        ...columns,
        { name: "Request", class: "mono text", cell: ({ request_id }) => request_id },
      ]}
    />
  );
}
