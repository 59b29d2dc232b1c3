/** The last requests with a key that the process answered: when, which call, its status, whose key. */

import type { AdminStatusAnswer, KeyView } from "../api/admin.ts";

interface RecentSectionProps {
  readonly status: AdminStatusAnswer;
  readonly keys: readonly KeyView[];
}

export function RecentSection({ status, keys }: RecentSectionProps) {
  const prefixes = new Map(keys.map(({ id, prefix }) => [id, `${prefix}…`]));
  const requests = status.recent_requests;
  return (
    <section class="card" id="recent" aria-labelledby="recent-title">
      <h2 id="recent-title">Recent requests</h2>
      {requests.length === 0 ? (
        <p class="hint">None with a key since this process started.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
        <section class="scroll recent" tabIndex={0} aria-label="The last requests with a key">
          <table>
            <caption>With a key, to this process, the newest first, times in UTC</caption>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Call</th>
                <th scope="col">Status</th>
                <th scope="col">Account</th>
                <th scope="col">Key</th>
                <th scope="col">Request</th>
              </tr>
            </thead>
            <tbody>
              {requests.map(({ at, method, route, status: code, account, key_id, request_id }) => (
                <tr key={`${at} ${request_id}`}>
                  <th scope="row">{at.slice(0, 19).replace("T", " ")}</th>
                  <td>
                    {method} {route}
                  </td>
                  <td>{code}</td>
                  <td>{account}</td>
                  <td class="mono">{prefixes.get(key_id) ?? key_id}</td>
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
