/** What the process says of itself: the last requests with a key, its health, store and demo, and its last server errors. */

import type { AdminStatusAnswer, KeyView } from "../api/admin.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { durationText, minuteText, plural } from "../parts/format.ts";
import { Card, Figures } from "../parts/layout.tsx";

interface RecentSectionProps {
  readonly status: AdminStatusAnswer;
  readonly keys: readonly KeyView[];
}

export function RecentSection({ status, keys }: RecentSectionProps) {
  const prefixes = new Map(keys.map(({ id, prefix }) => [id, `${prefix}…`]));
  return (
    <Card id="recent" title="Recent requests">
      <RequestsTable
        requests={status.recent_requests}
        caption="With a key, to this process"
        label="The last requests with a key"
        columns={[
          { name: "Account", class: "text", cell: ({ account }) => account },
          { name: "Key", class: "mono whole", cell: ({ key_id }) => prefixes.get(key_id) ?? key_id },
        ]}
      />
    </Card>
  );
}

export function StatusSection({ status }: { readonly status: AdminStatusAnswer }) {
  const { ready, version, store, demo, started_at, process_id, recent_errors } = status;
  const title = (
    <>
      Service <span class={`tag ${ready ? "good" : "bad"}`}>{ready ? "ready" : "not ready"}</span>
    </>
  );
  const figures = [
    [store.facts.toLocaleString("en"), plural(store.facts, "fact")],
    [store.users.toLocaleString("en"), plural(store.users, "user")],
    [(store.size_bytes / 2 ** 20).toFixed(1), "MiB stored"],
  ] as const;
  return (
    <Card id="status" title={title} head={<Figures of={figures} />}>
      <p class="hint">
        Version {version}, process {process_id}, up since {minuteText(started_at)} UTC.
      </p>
      <h3>Demo</h3>
      {demo === null ? (
        <p class="hint">Turned off.</p>
      ) : (
        <p>
          {demo.labels.length === 0 ? "Empty" : `Holds ${demo.labels.join(", ")}`}; reset in{" "}
          {durationText(demo.resets_in_s)}.
        </p>
      )}
      <h3>Recent errors</h3>
      <RequestsTable
        requests={recent_errors}
        caption="Of this process"
        label="Recent errors"
        columns={[{ name: "Code", cell: ({ code }) => code }]}
      />
    </Card>
  );
}

interface AnsweredRequest {
  readonly at: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly request_id: string;
}

interface RequestsTableProps<Row> {
  readonly requests: readonly Row[];
  /** Columns beside those that all requests have. */
  readonly columns: readonly Column<Row>[];
  readonly caption: string;
  readonly label: string;
}

function RequestsTable<Row extends AnsweredRequest>(props: RequestsTableProps<Row>) {
  const { requests, columns, caption, label } = props;
  if (requests.length === 0) return <p class="hint">None since this process started.</p>;
  return (
    <DataTable<Row>
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
