/** Accounts and their keys: create one, let one expire, revoke one, see when each was last used. */

import { useState } from "preact/hooks";
import { TIERS } from "../../base/accounts.ts";
import { USER_ID_LENGTH_MAX } from "../../base/limits.ts";
import {
  type AccountView,
  type CreatedKey,
  changeTier,
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
          { name: "Change", cell: (view) => view.revoked_at === null && <Change view={view} run={run} /> },
        ]}
      />
    </Card>
  );
}

/** What a person has allowed an application is a key that only its tokens use. */
const APPLICATION = "sba_";

function AccountCell({ account, note, prefix, user, access, groups, write }: KeyView) {
  return (
    <>
      {account}
      {prefix === APPLICATION && <small class="note">an application</small>}
      {user !== null && <small class="note">for {user}</small>}
      {access === "read" && <small class="note">reads only</small>}
      {write !== null && <small class="note">writes {write.join(" ")}</small>}
      {groups !== null && <small class="note">{groups}</small>}
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
      <TierField view={view} run={run} />
      <ExpiryField view={view} run={run} />
      <ConfirmButton
        label="Revoke"
        what={`the key ${view.prefix}`}
        onConfirm={() => run(() => revokeKey(view.id))}
      />
    </span>
  );
}

/** Another tier is applied only by its button, which asks first: with less allowed, writes may be refused at once. */
function TierField({ view: { id, prefix, tier }, run }: ChangeProps) {
  const [chosen, setChosen] = useState<string>(tier);
  return (
    <>
      <SelectField
        class="inline"
        label={`Tier of ${prefix}`}
        hidesLabel
        value={chosen}
        onValue={setChosen}
        options={TIERS}
      />
      {chosen !== tier && (
        <ConfirmButton
          label="Set tier"
          what={`of the key ${prefix} to ${chosen}`}
          onConfirm={() => run(() => changeTier(id, chosen))}
        />
      )}
    </>
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
  const [terms, setTerms] = useState<KeyTerms>({ tier: "unlimited", expires: "" });
  const [note, setNote] = useState("");
  const [user, setUser] = useState("");
  const [access, setAccess] = useState<KeyView["access"]>("write");
  const [groups, setGroups] = useState("");
  const [write, setWrite] = useState("");
  const create = async (event: SubmitEvent) => {
    event.preventDefault();
    const labels = write.split(/[\s,]+/).filter((label) => label !== "");
    const limits = { ...(groups !== "" && { groups }), ...(labels.length > 0 && { write: labels }) };
    const rights = { user: user === "" ? null : user, access, ...limits };
    const created = await run(() =>
      createKey({ account, tier: terms.tier, note, expires_at: endOfDay(terms.expires), ...rights }),
    );
    if (created === undefined) return;
    onCreated(created);
    setAccount("");
    setNote("");
    setUser("");
    setAccess("write");
    setWrite("");
    setGroups("");
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
        <TextField
          label="Groups of labels (optional)"
          pattern="\s*-?[A-Z][A-Z0-9_]*(\s*,\s*-?[A-Z][A-Z0-9_]*)*\s*"
          title="Groups such as USER,PREF; with a minus all but those: -HEALTH,-HOME"
          autocomplete="off"
          placeholder="all groups"
          value={groups}
          onValue={setGroups}
        />
        <TextField
          label="Labels it may write (optional)"
          autocomplete="off"
          placeholder="all, or LANG.*, PREF.tone"
          value={write}
          onValue={setWrite}
        />
        <TextField class="field grow" label="Note" maxLength={200} value={note} onValue={setNote} />
        <Button type="submit" class="primary" disabled={busy} text="Create a key" />
      </div>
      <ErrorNotice error={error} />
    </form>
  );
}
