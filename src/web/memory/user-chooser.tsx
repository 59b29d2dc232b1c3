/** The users of the account, found by how their names begin, page by page. */

import { useEffect, useState } from "preact/hooks";
import { USER_ID_LENGTH_MAX } from "../../base/limits.ts";
import type { UsersAnswer } from "../../contract/answers.ts";
import type { MemoryApi, UserEntry } from "../api/memory.ts";
import { useReading } from "../parts/newest.ts";
import { ErrorNotice } from "../parts/notice.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { timeAgo } from "./times.ts";

interface UserChooserProps {
  readonly api: MemoryApi;
  readonly canWrite: boolean;
  readonly onUser: (userId: string) => void;
}

/** After the last key: each letter asks the service. */
const TYPING_MS = 150;

export function UserChooser({ api, canWrite, onUser }: UserChooserProps) {
  const [prefix, setPrefix] = useState("");
  const [users, setUsers] = useState<readonly UserEntry[]>();
  const [next, setNext] = useState<string | null>(null);
  const { busy, error, read, drop } = useReading();
  useEffect(() => {
    // What was asked for the letters before is not wanted any more.
    drop();
    const take = (page: UsersAnswer) => {
      setUsers(page.users);
      setNext(page.next_cursor);
    };
    const timer = setTimeout(() => read(() => api.users(prefix), take), prefix === "" ? 0 : TYPING_MS);
    return () => clearTimeout(timer);
  }, [api, prefix]);
  const more = () =>
    read(
      () => api.users(prefix, next ?? undefined),
      (page) => {
        setUsers([...(users ?? []), ...page.users]);
        setNext(page.next_cursor);
      },
    );

  const isKnown = users?.some(({ user_id }) => user_id === prefix) ?? true;
  return (
    <section class="card" aria-labelledby="users-title">
      <h2 id="users-title">Whose memory?</h2>
      <label class="field filter">
        <span>The name begins with</span>
        <input
          type="search"
          maxLength={USER_ID_LENGTH_MAX}
          value={prefix}
          onInput={({ currentTarget }) => setPrefix(currentTarget.value)}
        />
      </label>
      <ErrorNotice error={error} />
      {users === undefined && error === undefined && <Waiting what="Loading" />}
      {users?.length === 0 && <p class="hint">There is no such user in this account.</p>}
      <ul class="users">
        {users?.map(({ user_id, projects, channel_count, updated_at }) => (
          <li key={user_id}>
            <button type="button" onClick={() => onUser(user_id)}>
              <b>{user_id}</b>
              <small>
                {channel_count} {channel_count === 1 ? "fact" : "facts"}
                {projects.length > 0 &&
                  `, ${projects.length} ${projects.length === 1 ? "project" : "projects"}`}
                {updated_at !== null && `, ${timeAgo(updated_at, Date.now())}`}
              </small>
            </button>
          </li>
        ))}
      </ul>
      {next !== null && (
        <button type="button" class="small" disabled={busy} onClick={more}>
          Show more
        </button>
      )}
      {canWrite && prefix !== "" && !isKnown && (
        <button type="button" onClick={() => onUser(prefix)}>
          Begin a memory for {prefix}
        </button>
      )}
    </section>
  );
}
