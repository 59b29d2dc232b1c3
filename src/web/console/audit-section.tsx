/** Who has changed what: the audit of all accounts or one, with its filters, page by page. */

import { useEffect, useState } from "preact/hooks";
import type { AuditedChange } from "../../contract/answers.ts";
import { type AccountView, type AuditFilter, fetchAudit } from "../api/admin.ts";
import { DataTable } from "../parts/data-table.tsx";
import { Button, SelectField, TextField } from "../parts/fields.tsx";
import { countText, minuteText } from "../parts/format.ts";
import { usePages } from "../parts/hooks.ts";
import { Card, ErrorNotice, Loading } from "../parts/layout.tsx";

const EVERYTHING: AuditFilter = { account: "", user: "", operation: "", since: "", until: "" };

export function AuditSection({ accounts }: { readonly accounts: readonly AccountView[] }) {
  const [filter, setFilter] = useState(EVERYTHING);
  const pages = usePages(
    (cursor) => fetchAudit(filter, cursor),
    (page) => page.entries,
  );
  const { items: entries, next, busy, error, show } = pages;
  useEffect(() => {
    show();
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    show();
  };
  return (
    <Card id="audit" title="Audit" head={null}>
      <form class="composer" onSubmit={submit}>
        <Filters accounts={accounts} filter={filter} onFilter={setFilter} />
        <Button type="submit" disabled={busy} text="Show entries" />
      </form>
      <ErrorNotice error={error} />
      {entries === undefined && error === undefined && <Loading />}
      {entries?.length === 0 && <p class="hint">There are no such entries.</p>}
      {entries !== undefined && entries.length > 0 && <Entries entries={entries} hasMore={next !== null} />}
      {next !== null && (
        <p class="buttons">
          <Button class="small" disabled={busy} onClick={() => show(next)} text="Show earlier entries" />
        </p>
      )}
    </Card>
  );
}

interface FiltersProps {
  readonly accounts: readonly AccountView[];
  readonly filter: AuditFilter;
  readonly onFilter: (filter: AuditFilter) => void;
}

function Filters({ accounts, filter, onFilter }: FiltersProps) {
  const change = (name: keyof AuditFilter) => (value: string) => onFilter({ ...filter, [name]: value });
  return (
    <>
      <SelectField label="Entries of" value={filter.account} onValue={change("account")}>
        <option value="">all accounts</option>
        {accounts.map(({ account }) => (
          <option key={account}>{account}</option>
        ))}
      </SelectField>
      <TextField
        label="By or about (of one account)"
        value={filter.user}
        onValue={change("user")}
        disabled={filter.account === ""}
      />
      <TextField label="Operation" value={filter.operation} onValue={change("operation")} />
      <TextField label="First day" type="date" value={filter.since} onValue={change("since")} />
      <TextField label="Last day" type="date" value={filter.until} onValue={change("until")} />
    </>
  );
}

function Entries({
  entries,
  hasMore,
}: {
  readonly entries: readonly AuditedChange[];
  readonly hasMore: boolean;
}) {
  return (
    <DataTable
      caption={`${countText(entries.length, "change")}${hasMore ? ", and earlier ones" : ""}, times in UTC`}
      label="Audited changes"
      rows={entries}
      keyOf={({ id }) => id}
      columns={[
        { name: "When", class: "whole", cell: ({ at }) => minuteText(at) },
        { name: "What", class: "mono text", cell: ({ operation }) => operation },
        { name: "Of", class: "text", cell: ofText },
        { name: "By", class: "text", cell: byText },
        { name: "From", class: "mono text", cell: ({ address }) => address ?? "this machine" },
        { name: "Request", class: "mono text", cell: ({ request_id }) => request_id },
      ]}
    />
  );
}

const ERASED = "erased";

function ofText({ account, of }: AuditedChange): string {
  const { members, ...names } = of;
  return [
    ...(account === null ? [] : [account]),
    ...Object.entries(names).map(([name, value]) => `${name.replace("_id", "")} ${value ?? ERASED}`),
    ...(members === undefined ? [] : [`members ${members.join(", ")}`]),
  ].join("; ");
}

function byText({ by }: AuditedChange): string {
  return [
    ...(by.operator === undefined ? [] : [`operator ${by.operator}`]),
    ...(by.key_id === undefined ? [] : [`key ${by.key_id}`]),
    ...(by.person === undefined ? [] : [`for ${by.person ?? ERASED}`]),
  ].join("; ");
}
