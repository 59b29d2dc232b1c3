/** The users of an account with their projects, found by how their names begin, page by page. */

import { useEffect, useState } from "preact/hooks";
import type { ReceiptedErasureAnswer, UsersAnswer } from "../../contract/answers.ts";
import { DataTable } from "./data-table.tsx";
import { Button, ConfirmButton, TextField } from "./fields.tsx";
import { countText, memoryHash, minuteText } from "./format.ts";
import { useAction, usePages } from "./hooks.ts";
import { ErrorNotice, Loading } from "./layout.tsx";
import { ReceiptNotice } from "./receipt-notice.tsx";

interface UsersTableProps {
  readonly account: string;
  readonly ask: (prefix: string, cursor?: string) => Promise<UsersAnswer>;
  /** Whether each user leads to the memory page. */
  readonly linked?: boolean;
  /** Where users may be erased. */
  readonly erase?: ((userId: string) => Promise<ReceiptedErasureAnswer>) | undefined;
}

/** Of a user: a list of hundreds of projects would hide all other users. */
const PROJECTS_MAX = 8;

export function UsersTable({ account, ask, linked = false, erase }: UsersTableProps) {
  const [prefix, setPrefix] = useState("");
  const [erased, setErased] = useState<ReceiptedErasureAnswer>();
  const pages = usePages(
    (cursor) => ask(prefix, cursor),
    (page) => page.users,
  );
  const { items: users, next, busy, error, show } = pages;
  const { error: refusal, run } = useAction();
  useEffect(() => {
    show();
  }, []);
  const eraseUser = (userId: string) =>
    run(async () => {
      setErased(await erase?.(userId));
      await show();
    });
  return (
    <>
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault();
          show();
        }}
      >
        <TextField label="Users whose name begins with" type="search" value={prefix} onValue={setPrefix} />
        <Button type="submit" disabled={busy} text="Show" />
      </form>
      <ErrorNotice error={error} />
      <ErrorNotice error={refusal} />
      {erased !== undefined && <ReceiptNotice answer={erased} />}
      {users === undefined && error === undefined && <Loading />}
      {users?.length === 0 && <p class="hint">There are no such users.</p>}
      {users !== undefined && users.length > 0 && (
        <DataTable
          caption={captionOf(users.length, account, next !== null)}
          label="Users of the account"
          rows={users}
          keyOf={({ user_id }) => user_id}
          columns={[
            {
              name: "User",
              class: "text",
              cell: ({ user_id }) =>
                linked ? <a href={`/memory${memoryHash({ userId: user_id })}`}>{user_id}</a> : user_id,
            },
            { name: "Own facts", class: "number", cell: ({ channel_count }) => channel_count },
            { name: "Projects", class: "text", cell: ({ projects }) => projectsText(projects) },
            { name: "Changed", class: "whole", cell: ({ updated_at }) => minuteText(updated_at) },
            ...(erase === undefined
              ? []
              : [
                  {
                    name: "Erase",
                    class: "whole",
                    cell: ({ user_id }: UsersAnswer["users"][number]) => (
                      <ConfirmButton
                        label="Erase"
                        what={`everything of ${user_id}, which cannot be undone`}
                        onConfirm={() => eraseUser(user_id)}
                      />
                    ),
                  },
                ]),
          ]}
        />
      )}
      {next !== null && (
        <p class="buttons">
          <Button class="small" disabled={busy} onClick={() => show(next)} text="Show more users" />
        </p>
      )}
    </>
  );
}

function captionOf(count: number, account: string, hasMore: boolean): string {
  return `${countText(count, "user")} of ${account}${hasMore ? ", and more" : ""}, times in UTC`;
}

function projectsText(projects: readonly string[]): string {
  const more = projects.length - PROJECTS_MAX;
  return projects.slice(0, PROJECTS_MAX).join(", ") + (more > 0 ? `, and ${more} more` : "");
}
