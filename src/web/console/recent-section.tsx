/** The last requests with a key that the process answered: when, which call, its status, whose key. */

import type { AdminStatusAnswer, KeyView } from "../api/admin.ts";
import { AnsweredTable } from "./answered-table.tsx";

interface RecentSectionProps {
  readonly status: AdminStatusAnswer;
  readonly keys: readonly KeyView[];
}

export function RecentSection({ status, keys }: RecentSectionProps) {
  const prefixes = new Map(keys.map(({ id, prefix }) => [id, `${prefix}…`]));
  return (
    <section class="card" id="recent" aria-labelledby="recent-title">
      <h2 id="recent-title">Recent requests</h2>
      <AnsweredTable
        requests={status.recent_requests}
        caption="With a key, to this process"
        label="The last requests with a key"
        columns={[
          { name: "Account", class: "text", cell: ({ account }) => account },
          { name: "Key", class: "mono whole", cell: ({ key_id }) => prefixes.get(key_id) ?? key_id },
        ]}
      />
    </section>
  );
}
