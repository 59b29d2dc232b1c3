/** The applications that are connected to this memory by its address alone: since when, for what, until when; each can be ended. */

import { useEffect, useState } from "preact/hooks";
import type { GrantCalls, GrantView } from "../api/grants.ts";
import { DataTable } from "../parts/data-table.tsx";
import { ConfirmButton } from "../parts/fields.tsx";
import { minuteText } from "../parts/format.ts";
import { useAction } from "../parts/hooks.ts";
import { Card, ErrorNotice } from "../parts/layout.tsx";
import { usePage } from "./page-context.ts";

export function Applications({ calls }: { readonly calls: GrantCalls }) {
  const { userId } = usePage().memory;
  const [grants, setGrants] = useState<readonly GrantView[]>();
  const { error, run } = useAction();
  const read = () => run(async () => setGrants(await calls.list(userId)));
  useEffect(() => void read(), [calls, userId]);
  if (grants === undefined && error === undefined) return null;
  const end = (id: string) =>
    run(async () => {
      await calls.end(userId, id);
      setGrants(await calls.list(userId));
    });
  return (
    <Card id="applications" title="Applications">
      <p class="hint">
        What you have allowed to use this memory, such as Claude or ChatGPT. It ends at once, and the
        application can ask again.
      </p>
      <ErrorNotice error={error} />
      {grants?.length === 0 && <p class="hint">None is connected.</p>}
      {grants !== undefined && grants.length > 0 && (
        <DataTable
          caption="Connected applications, times in UTC"
          label="Connected applications"
          rows={grants}
          keyOf={({ id }) => id}
          columns={[
            { name: "Application", class: "text", cell: NameCell },
            { name: "Until", cell: ({ expires_at }) => expires_at?.slice(0, 10) ?? "you end it" },
            { name: "Last used", cell: ({ last_used_at }) => minuteText(last_used_at) },
            {
              name: "End",
              cell: ({ id, application }) => (
                <ConfirmButton
                  label="End"
                  what={`the connection of ${application}`}
                  onConfirm={() => end(id)}
                />
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}

function NameCell({ application, returns_to, access, groups, created_at }: GrantView) {
  return (
    <>
      {application}
      <small class="note">
        {returns_to}, since {created_at.slice(0, 10)}
      </small>
      {access === "read" && <small class="note">reads only</small>}
      {groups !== null && <small class="note">{groups}</small>}
    </>
  );
}
