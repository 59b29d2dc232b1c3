/** The users of the account, found by how their names begin, page by page. */

import { useEffect, useState } from "preact/hooks";
import { USER_ID_LENGTH_MAX } from "../../base/limits.ts";
import type { PageClient } from "../api/memory.ts";
import { Button, TextField } from "../parts/fields.tsx";
import { countText } from "../parts/format.ts";
import { usePages } from "../parts/hooks.ts";
import { Card, ErrorNotice, Loading } from "../parts/layout.tsx";
import { timeAgo } from "./times.tsx";

interface UserPickerProps {
  readonly api: PageClient;
  readonly canWrite: boolean;
  readonly onUser: (userId: string) => void;
}

/** After the last key: each letter asks the service. */
const TYPING_MS = 150;

export function UserPicker({ api, canWrite, onUser }: UserPickerProps) {
  const [prefix, setPrefix] = useState("");
  const pages = usePages(
    (cursor) => api.users({ prefix: prefix || undefined, cursor }),
    ({ users }) => users,
  );
  const { items: users, next, busy, error, show, cancel } = pages;
  useEffect(() => {
    // What was asked for the letters before is not wanted any more.
    cancel();
    const timer = setTimeout(show, prefix === "" ? 0 : TYPING_MS);
    return () => clearTimeout(timer);
  }, [api, prefix]);

  const isKnown = users?.some(({ user_id }) => user_id === prefix) ?? true;
  return (
    <Card id="users" title="Whose memory?">
      <TextField
        class="field filter"
        label="The name begins with"
        type="search"
        maxLength={USER_ID_LENGTH_MAX}
        value={prefix}
        onValue={setPrefix}
      />
      <ErrorNotice error={error} />
      {users === undefined && error === undefined && <Loading />}
      {users?.length === 0 && <p class="hint">There is no such user in this account.</p>}
      <ul class="users">
        {users?.map(({ user_id, projects, channel_count, updated_at }) => (
          <li key={user_id}>
            <button type="button" onClick={() => onUser(user_id)}>
              <b>{user_id}</b>
              <small>
                {countText(channel_count, "fact")}
                {projects.length > 0 && `, ${countText(projects.length, "project")}`}
                {updated_at !== null && `, ${timeAgo(updated_at, Date.now())}`}
              </small>
            </button>
          </li>
        ))}
      </ul>
      {next !== null && <Button class="small" disabled={busy} onClick={() => show(next)} text="Show more" />}
      {canWrite && prefix !== "" && !isKnown && (
        <Button onClick={() => onUser(prefix)} text={`Begin a memory for ${prefix}`} />
      )}
    </Card>
  );
}
