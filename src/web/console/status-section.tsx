/** The state of the service: health, store, demo, and its last server errors. */

import type { AdminStatusAnswer } from "../api/admin.ts";
import { duration } from "../api/request.ts";
import { minuteOf } from "../parts/minute.ts";
import { AnsweredTable } from "./answered-table.tsx";

export function StatusSection({ status }: { readonly status: AdminStatusAnswer }) {
  const { ready, version, store, demo, started_at, process_id, recent_errors } = status;
  return (
    <section class="card" id="status" aria-labelledby="status-title">
      <div class="card-head">
        <h2 id="status-title">
          Service <span class={`tag ${ready ? "good" : "bad"}`}>{ready ? "ready" : "not ready"}</span>
        </h2>
        <p class="figures">
          <span>
            <b>{store.facts.toLocaleString("en")}</b> {store.facts === 1 ? "fact" : "facts"}
          </span>
          <span>
            <b>{store.users.toLocaleString("en")}</b> {store.users === 1 ? "user" : "users"}
          </span>
          <span>
            <b>{(store.size_bytes / 2 ** 20).toFixed(1)}</b> MiB stored
          </span>
        </p>
      </div>
      <p class="hint">
        Version {version}, process {process_id}, up since {minuteOf(started_at)} UTC.
      </p>
      <h3>Demo</h3>
      {demo === null ? (
        <p class="hint">Turned off.</p>
      ) : (
        <p>
          {demo.labels.length === 0 ? "Empty" : `Holds ${demo.labels.join(", ")}`}; reset in{" "}
          {duration(demo.resets_in_s)}.
        </p>
      )}
      <h3>Recent errors</h3>
      <AnsweredTable
        requests={recent_errors}
        caption="Of this process"
        label="Recent errors"
        columns={[{ name: "Code", cell: ({ code }) => code }]}
      />
    </section>
  );
}
