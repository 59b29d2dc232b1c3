/** The state of the service: health, store, demo, and its last server errors. */

import type { AdminStatusAnswer } from "../api/admin.ts";
import { duration } from "../api/request.ts";
import { minuteOf } from "./action.ts";

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
            <b>{store.facts.toLocaleString("en")}</b> facts
          </span>
          <span>
            <b>{store.users.toLocaleString("en")}</b> users
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
      {recent_errors.length === 0 ? (
        <p class="hint">None since this process started.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
        <section class="scroll" tabIndex={0} aria-label="Recent errors">
          <table>
            <caption>Of this process, the newest first, times in UTC</caption>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Call</th>
                <th scope="col">Status</th>
                <th scope="col">Code</th>
                <th scope="col">Request</th>
              </tr>
            </thead>
            <tbody>
              {recent_errors.map(({ at, method, route, status: code, code: name, request_id }) => (
                <tr key={`${at} ${request_id}`}>
                  <th scope="row">{at.slice(0, 19).replace("T", " ")}</th>
                  <td>
                    {method} {route}
                  </td>
                  <td>{code}</td>
                  <td>{name}</td>
                  <td class="mono">{request_id}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}
