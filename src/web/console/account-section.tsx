/** What an account has: its users with their projects, page by page, and the labels that it has added or hidden. */

import { useEffect, useState } from "preact/hooks";
import type { UsersAnswer } from "../../contract/answers.ts";
import { type AccountLabelsView, type AccountView, fetchLabels, fetchUsers } from "../api/admin.ts";
import { useReading } from "../parts/newest.ts";
import { ErrorNotice } from "../parts/notice.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { minuteOf } from "./action.ts";

type Users = UsersAnswer["users"];

/** Of a user: a list of hundreds of projects would hide all other users. */
const PROJECTS_MAX = 8;

export function AccountSection({ accounts }: { readonly accounts: readonly AccountView[] }) {
  const [chosen, setChosen] = useState<string>();
  const account = chosen ?? accounts[0]?.account;
  return (
    <section class="card" id="accounts" aria-labelledby="accounts-title">
      <div class="card-head">
        <h2 id="accounts-title">Users and labels</h2>
        {account !== undefined && (
          <label class="inline">
            <span>Account</span>
            <select value={account} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
              {accounts.map(({ account: name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      {account === undefined ? (
        <p class="hint">There is no account yet.</p>
      ) : (
        <>
          <UsersOf key={`users ${account}`} account={account} />
          <LabelsOf key={`labels ${account}`} account={account} />
        </>
      )}
    </section>
  );
}

function UsersOf({ account }: { readonly account: string }) {
  const [prefix, setPrefix] = useState("");
  const [users, setUsers] = useState<Users>();
  const [next, setNext] = useState<string | null>(null);
  const { busy, error, read } = useReading();
  const show = (cursor?: string) =>
    read(
      () => fetchUsers(account, prefix, cursor),
      (page) => {
        setUsers(cursor === undefined ? page.users : [...(users ?? []), ...page.users]);
        setNext(page.next_cursor);
      },
    );
  useEffect(() => {
    show();
  }, []);
  return (
    <>
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault();
          show();
        }}
      >
        <label class="field">
          <span>Users whose name begins with</span>
          <input
            type="search"
            value={prefix}
            onInput={({ currentTarget }) => setPrefix(currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={busy}>
          Show
        </button>
      </form>
      <ErrorNotice error={error} />
      {users === undefined && error === undefined && <Waiting what="Loading" />}
      {users?.length === 0 && <p class="hint">There are no such users.</p>}
      {users !== undefined && users.length > 0 && (
        <RowsTable
          caption={`${users.length} users of ${account}${next === null ? "" : ", and more"}, times in UTC`}
          label="Users of the account"
          rows={users}
          keyOf={({ user_id }) => user_id}
          columns={[
            { name: "User", class: "text", cell: ({ user_id }) => user_id },
            { name: "Own facts", class: "number", cell: ({ channel_count }) => channel_count },
            { name: "Projects", class: "text", cell: ({ projects }) => projectsText(projects) },
            { name: "Changed", class: "whole", cell: ({ updated_at }) => minuteOf(updated_at) },
          ]}
        />
      )}
      {next !== null && (
        <p class="buttons">
          <button type="button" class="small" disabled={busy} onClick={() => show(next)}>
            Show more users
          </button>
        </p>
      )}
    </>
  );
}

function projectsText(projects: readonly string[]): string {
  const more = projects.length - PROJECTS_MAX;
  return projects.slice(0, PROJECTS_MAX).join(", ") + (more > 0 ? `, and ${more} more` : "");
}

function LabelsOf({ account }: { readonly account: string }) {
  const [view, setView] = useState<AccountLabelsView>();
  const { error, read } = useReading();
  useEffect(() => {
    read(() => fetchLabels(account), setView);
  }, []);
  const { labels = [], free = 0 } = view ?? {};
  return (
    <>
      <h3 class="apart">Labels</h3>
      <ErrorNotice error={error} />
      {view === undefined && error === undefined && <Waiting what="Loading" />}
      {view !== undefined && labels.length === 0 && (
        <p class="hint">The account has the 40 standard labels, and may add {free}.</p>
      )}
      {labels.length > 0 && (
        <RowsTable
          caption={`Added to the 40 standard labels, or hidden; ${free} more may be added`}
          label="Labels of the account"
          rows={labels}
          keyOf={({ label }) => label}
          columns={[
            { name: "Label", class: "mono text", cell: ({ label }) => label },
            { name: "What", class: "text", cell: ({ description }) => description },
            { name: "Kept for", cell: ({ scope }) => scope },
            { name: "Terms", class: "text", cell: (label) => termsText(label) },
          ]}
        />
      )}
    </>
  );
}

/** What a label asks of its values. */
function termsText(label: AccountLabelsView["labels"][number]): string {
  const { hidden, one_of: choices, max_bytes: sizeMax, ttl_s: lifeS } = label;
  return [
    ...(hidden ? ["hidden"] : []),
    ...(choices === undefined ? [] : [`one of ${choices.join(", ")}`]),
    ...(sizeMax === undefined ? [] : [`at most ${sizeMax} bytes`]),
    ...(lifeS === undefined ? [] : [`ends after ${lifeS.toLocaleString("en")} s`]),
  ].join("; ");
}
