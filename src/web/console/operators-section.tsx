/** The people who operate the service: add one, whose token is shown once, and remove one. */

import { useEffect, useRef, useState } from "preact/hooks";
import { OPERATOR_MAY } from "../../base/accounts.ts";
import { type AddedOperatorView, addOperator, type OperatorView, removeOperator } from "../api/admin.ts";
import { DataTable } from "../parts/data-table.tsx";
import { Button, ConfirmButton, CopyButton, SelectField, TextField } from "../parts/fields.tsx";
import { plural } from "../parts/format.ts";
import { useAction } from "../parts/hooks.ts";
import { Card, ErrorNotice, Figures } from "../parts/layout.tsx";

export function OperatorsSection({ operators }: { readonly operators: readonly OperatorView[] }) {
  const [added, setAdded] = useState<AddedOperatorView>();
  const { error, run } = useAction();
  const figures = [[operators.length, plural(operators.length, "operator")]] as const;
  return (
    <Card id="operators" title="Operators" head={<Figures of={figures} />}>
      <AddForm onAdded={setAdded} />
      {added !== undefined && <NewToken added={added} onDone={() => setAdded(undefined)} />}
      <ErrorNotice error={error} />
      {operators.length === 0 ? (
        <p class="hint">Nobody by name. Whoever has the admin token is the operator “admin”.</p>
      ) : (
        <DataTable
          class="keys"
          caption="Each has a token of their own for this page and /admin"
          label="Operators"
          rows={operators}
          keyOf={({ name }) => name}
          columns={[
            { name: "Operator", class: "text", cell: ({ name }) => name },
            { name: "May", cell: ({ access }) => OPERATOR_MAY[access] },
            { name: "Since", class: "whole", cell: ({ created_at }) => created_at.slice(0, 10) },
            {
              name: "Change",
              cell: ({ name }) => (
                <ConfirmButton
                  label="Remove"
                  what={`the operator ${name}`}
                  onConfirm={() => run(() => removeOperator(name))}
                />
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}

function AddForm({ onAdded }: { readonly onAdded: (added: AddedOperatorView) => void }) {
  const { busy, error, run } = useAction();
  const [name, setName] = useState("");
  const [access, setAccess] = useState<OperatorView["access"]>("read");
  const add = async (event: SubmitEvent) => {
    event.preventDefault();
    const added = await run(() => addOperator(name, access));
    if (added === undefined) return;
    onAdded(added);
    setName("");
  };
  return (
    <form onSubmit={add} aria-label="Add an operator">
      <div class="composer">
        <TextField
          label="Name of the operator"
          required
          pattern="[a-z0-9._\-]{1,64}"
          title="1 to 64 of a-z, 0-9, dot, underscore and hyphen"
          autocomplete="off"
          value={name}
          onValue={setName}
        />
        <SelectField
          label="May"
          value={access}
          onValue={(chosen) => setAccess(chosen as OperatorView["access"])}
          options={["read", "write"]}
        />
        <Button type="submit" class="primary" disabled={busy} text="Add an operator" />
      </div>
      <ErrorNotice error={error} />
    </form>
  );
}

function NewToken({ added, onDone }: { readonly added: AddedOperatorView; readonly onDone: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The token cannot be shown again: move the focus here, also for screen readers.
  useEffect(() => heading.current?.focus(), []);
  return (
    <div class="new-key">
      <h3 ref={heading} tabIndex={-1}>
        The token of {added.name}, shown only once
      </h3>
      <p class="key-line">
        <code>{added.token}</code> <CopyButton text={added.token} what="the token" />
      </p>
      <Button onClick={onDone} text="Done, hide the token" />
    </div>
  );
}
