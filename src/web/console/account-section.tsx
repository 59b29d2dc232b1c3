/** What an account has: its users with their projects, page by page, and the labels that it has added or hidden. */

import { useEffect, useState } from "preact/hooks";
import { type AccountLabelsView, type AccountView, fetchLabels, fetchUsers } from "../api/admin.ts";
import { LabelsTable } from "../parts/labels-table.tsx";
import { useReading } from "../parts/newest.ts";
import { ErrorNotice } from "../parts/notice.tsx";
import { UsersTable } from "../parts/users-table.tsx";
import { Waiting } from "../parts/waiting.tsx";

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
          <UsersTable
            key={`users ${account}`}
            account={account}
            ask={(prefix, cursor) => fetchUsers(account, prefix, cursor)}
          />
          <LabelsOf key={`labels ${account}`} account={account} />
        </>
      )}
    </section>
  );
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
        <LabelsTable
          labels={labels}
          caption={`Added to the 40 standard labels, or hidden; ${free} more may be added`}
        />
      )}
    </>
  );
}
