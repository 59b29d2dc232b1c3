/** Accounts and their keys: create one, let one expire, revoke one, see when each was last used. */

import { useState } from "preact/hooks";
import { USER_ID_LENGTH_MAX } from "../../base/limits.ts";
import {
  type AccountView,
  type CreatedKey,
  createKey,
  expireKey,
  type KeyView,
  revokeKey,
  type UsageReport,
} from "../api/admin.ts";
import { DataTable } from "../parts/data-table.tsx";
import { Button, ConfirmButton, SelectField, TextField } from "../parts/fields.tsx";
import { minuteText, plural } from "../parts/format.ts";
import { useAction } from "../parts/hooks.ts";
import { Card, ErrorNotice, Figures } from "../parts/layout.tsx";
import { endOfDay, type KeyTerms, KeyTermsFields, NewKey } from "./new-key.tsx";

interface KeysSectionProps {
  readonly keys: readonly KeyView[];
  readonly accounts: readonly AccountView[];
  readonly usage: UsageReport;
}

/** To see more keys, use the filter or the command line. */
const ROWS_MAX = 200;

export function KeysSection({ keys, accounts, usage }: KeysSectionProps) {
  const used = new Map(usage.keys.map(({ key_id, used_this_month }) => [key_id, used_this_month]));
  const [created, setCreated] = useState<CreatedKey>();
  const [filter, setFilter] = useState("");
  const { error, run } = useAction();
  const matching = keys
    .filter(({ account, note, prefix, user }) =>
      `${account} ${note} ${prefix} ${user ?? ""}`.includes(filter),
    )
    .sort((a, b) => b.created_at.localeCompare(a.created_at));
  const shown = matching.slice(0, ROWS_MAX);
  const figures = [
    [accounts.length, plural(accounts.length, "account")],
    [keys.length, plural(keys.length, "key")],
  ] as const;
  return (
    <Card id="keys" title="Accounts and keys" head={<Figures of={figures} />}>
      <CreateForm accounts={accounts} onCreated={setCreated} />
      {created !== undefined && <NewKey created={created} onDone={() => setCreated(undefined)} />}
      <TextField
        class="field filter"
        label="Show keys whose account, user or note contains"
        type="search"
        value={filter}
        onValue={setFilter}
      />
      <ErrorNotice error={error} />
      <DataTable
        class="keys"
        caption={`${shown.length} of ${keys.length} keys, times in UTC`}
        label="Keys"
        rows={shown}
        keyOf={({ id }) => id}
        columns={[
          { name: "Account", class: "text", cell: AccountCell },
          { name: "Key", class: "mono", cell: ({ prefix }) => `${prefix}…` },
          { name: "Tier", cell: ({ tier }) => tier },
          { name: "State", cell: StateCell },
          {
            name: "Facts this month",
            class: "number",
            cell: ({ id }) => (used.get(id) ?? 0).toLocaleString("en"),
          },
          { name: "Last used", class: "whole", cell: ({ last_used_at }) => minuteText(last_used_at) },
          { name: "Created", class: "whole", cell: ({ created_at }) => created_at.slice(0, 10) },
          { name: "Expires", cell: (view) => view.revoked_at === null && <Change view={view} run={run} /> },
        ]}
      />
    </Card>
  );
}

function AccountCell({ account, note, user, access }: KeyView) {
  return (
    <>
      {account}
      {user !== null && <small class="note">for {user}</small>}
      {access === "read" && <small class="note">reads only</small>}
      {note !== "" && <small class="note">{note}</small>}
    </>
  );
}

function StateCell(view: KeyView) {
  const state = keyState(view, Date.now());
  return (
    <>
      <span class={`tag ${state === "active" ? "good" : "bad"}`}>{state}</span>
      {state === "active" && view.expires_at !== null && (
        <small class="note">until {view.expires_at.slice(0, 10)}</small>
      )}
    </>
  );
}

interface ChangeProps {
  readonly view: KeyView;
  readonly run: ReturnType<typeof useAction>["run"];
}

function Change({ view, run }: ChangeProps) {
  return (
    <span class="row-buttons">
      <ExpiryField view={view} run={run} />
      <ConfirmButton
        label="Revoke"
        what={`the key ${view.prefix}`}
        onConfirm={() => run(() => revokeKey(view.id))}
      />
    </span>
  );
}

/** A changed day is applied only by its button, which asks first: programs with an expired key stop working. */
function ExpiryField({ view: { id, prefix, expires_at }, run }: ChangeProps) {
  const [typed, setTyped] = useState<string>();
  const current = expires_at?.slice(0, 10) ?? "";
  const day = typed ?? current;
  const apply = async () => {
    await run(() => expireKey(id, endOfDay(day)));
    setTyped(undefined);
  };
  return (
    <>
      <input
        type="date"
        aria-label={`Expiry of ${prefix}`}
        value={day}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      {day !== current && (
        <ConfirmButton
          label="Set expiry"
          what={`of the key ${prefix} to ${day === "" ? "never" : day}`}
          onConfirm={apply}
        />
      )}
    </>
  );
}

export function keyState(
  { revoked_at, expires_at }: KeyView,
  nowMs: number,
): "active" | "revoked" | "expired" {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && Date.parse(expires_at) <= nowMs ? "expired" : "active";
}

interface CreateFormProps {
  readonly accounts: readonly AccountView[];
  readonly onCreated: (created: CreatedKey) => void;
}

function CreateForm({ accounts, onCreated }: CreateFormProps) {
  const { busy, error, run } = useAction();
  const [account, setAccount] = useState("");
  const [terms, setTerms] = useState<KeyTerms>({ tier: "free", expires: "" });
  const [note, setNote] = useState("");
  const [user, setUser] = useState("");
  const [access, setAccess] = useState<KeyView["access"]>("write");
  const create = async (event: SubmitEvent) => {
    event.preventDefault();
    const rights = { user: user === "" ? null : user, access };
    const created = await run(() =>
      createKey({ account, tier: terms.tier, note, expires_at: endOfDay(terms.expires), ...rights }),
    );
    if (created === undefined) return;
    onCreated(created);
    setAccount("");
    setNote("");
    setUser("");
    setAccess("write");
    setTerms({ ...terms, expires: "" });
  };
  return (
    <form onSubmit={create} aria-label="Create a key">
      <div class="composer">
        <TextField
          label="Account, new or existing"
          required
          list="account-names"
          pattern="[a-z0-9._\-]{1,64}"
          title="1 to 64 of a-z, 0-9, dot, underscore and hyphen"
          autocomplete="off"
          value={account}
          onValue={setAccount}
        />
        <datalist id="account-names">
          {accounts.map(({ account: name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <KeyTermsFields terms={terms} onChange={setTerms} />
        <TextField
          label="For one user (optional)"
          maxLength={USER_ID_LENGTH_MAX}
          autocomplete="off"
          placeholder="all users"
          value={user}
          onValue={setUser}
        />
        <SelectField
          label="Access"
          value={access}
          onValue={(chosen) => setAccess(chosen as KeyView["access"])}
          options={["write", "read"]}
        />
        <TextField class="field grow" label="Note" maxLength={200} value={note} onValue={setNote} />
        <Button type="submit" class="primary" disabled={busy} text="Create a key" />
      </div>
      <ErrorNotice error={error} />
    </form>
  );
}
