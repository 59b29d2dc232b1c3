/** What an account has: its users with their projects, page by page, the projects that it shares, its labels, and the limit of all its keys. */

import { useEffect, useState } from "preact/hooks";
import type { ProjectAnswer } from "../../contract/answers.ts";
import {
  type AccountLabelsView,
  type AccountView,
  changeLabels,
  fetchLabels,
  fetchProjects,
  fetchUsers,
  limitAccount,
} from "../api/admin.ts";
import { LabelsTable } from "../parts/data-table.tsx";
import { Button, SelectField, TextField } from "../parts/fields.tsx";
import { useAction, useQuery } from "../parts/hooks.ts";
import { LabelRules, type RulesChange } from "../parts/label-rules.tsx";
import { Card, ErrorNotice, Loading } from "../parts/layout.tsx";
import { ProjectsTable } from "../parts/projects-table.tsx";
import { UsersTable } from "../parts/users-table.tsx";

export function AccountSection({ accounts }: { readonly accounts: readonly AccountView[] }) {
  const [chosen, setChosen] = useState<string>();
  const names = accounts.map(({ account: name }) => name);
  const account = chosen ?? names[0];
  if (account === undefined) {
    return (
      <Card id="accounts" title="Users and labels" head={null}>
        <p class="hint">There is no account yet.</p>
      </Card>
    );
  }
  const choice = (
    <SelectField class="inline" label="Account" value={account} onValue={setChosen} options={names} />
  );
  return (
    <Card id="accounts" title="Users and labels" head={choice}>
      <UsersTable
        key={`users ${account}`}
        account={account}
        ask={(prefix, cursor) => fetchUsers(account, prefix, cursor)}
      />
      <ProjectsOf key={`projects ${account}`} account={account} />
      <LabelsOf key={`labels ${account}`} account={account} />
      <LimitOf key={`limit ${account}`} view={accounts.find(({ account: name }) => name === account)!} />
    </Card>
  );
}

/** All keys of the account together. */
function LimitOf({ view }: { readonly view: AccountView }) {
  const { account, monthly_limit: limit, used_this_month: used } = view;
  const [typed, setTyped] = useState(limit === null ? "" : String(limit));
  const { busy, error, run } = useAction();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    run(() => limitAccount(account, typed === "" ? null : Number(typed)));
  };
  return (
    <form class="stack narrow" onSubmit={submit}>
      <h3 class="apart">Limit</h3>
      <TextField
        label="Facts a month of all keys together (empty: what the tier of each allows)"
        inputMode="numeric"
        pattern="[0-9]{1,12}"
        value={typed}
        onValue={setTyped}
      />
      {used !== null && <p class="hint">{used.toLocaleString("en")} used this month.</p>}
      <ErrorNotice error={error} />
      <Button type="submit" disabled={busy} text="Set the limit" />
    </form>
  );
}

/** What its teams share. Its own key changes that, on the account page. */
function ProjectsOf({ account }: { readonly account: string }) {
  const [projects, setProjects] = useState<readonly ProjectAnswer[]>();
  const { error, query } = useQuery();
  useEffect(() => {
    query(
      () => fetchProjects(account),
      (answer) => setProjects(answer.projects),
    );
  }, []);
  return (
    <>
      <h3 class="apart">Shared projects</h3>
      <ErrorNotice error={error} />
      {projects === undefined && error === undefined && <Loading />}
      {projects?.length === 0 && <p class="hint">The account shares no project.</p>}
      {projects !== undefined && projects.length > 0 && (
        <ProjectsTable account={account} projects={projects} />
      )}
    </>
  );
}

function LabelsOf({ account }: { readonly account: string }) {
  const [view, setView] = useState<AccountLabelsView>();
  const { error, query } = useQuery();
  useEffect(() => {
    query(() => fetchLabels(account), setView);
  }, []);
  const change = async (wanted: RulesChange) => {
    const body = "set" in wanted ? { add_set: wanted.set } : wanted;
    setView(await changeLabels({ account, ...body }));
  };
  const { labels = [], free = 0 } = view ?? {};
  return (
    <>
      <h3 class="apart">Labels</h3>
      <ErrorNotice error={error} />
      {view === undefined && error === undefined && <Loading />}
      {view !== undefined && labels.length === 0 && (
        <p class="hint">The account has the 40 standard labels, and may add {free}.</p>
      )}
      {labels.length > 0 && (
        <LabelsTable
          labels={labels}
          caption={`Added to the 40 standard labels, or hidden; ${free} more may be added`}
        />
      )}
      {view !== undefined && <LabelRules own={labels} strict={view.strict} onChange={change} />}
    </>
  );
}
