/**
 * Requests for keys: open ones with a form to decide them, and a list of decided ones. An approval makes a new account
 * and shows its key once. The service names the account if the operator does not. If the name is taken, a second step
 * says what that account holds.
 */

import { useState } from "preact/hooks";
import { isSidebandError } from "../../sdk/errors.ts";
import {
  approveRequest,
  type CreatedKey,
  declineRequest,
  deleteRequest,
  type KeyRequestView,
} from "../api/admin.ts";
import { Button, ConfirmButton, TextField } from "../parts/fields.tsx";
import { minuteText } from "../parts/format.ts";
import { useAction } from "../parts/hooks.ts";
import { Card, ErrorNotice, errorText, Figures, Notice } from "../parts/layout.tsx";
import { endOfDay, type KeyTerms, KeyTermsFields, NewKey } from "./new-key.tsx";

interface Approved {
  readonly created: CreatedKey;
  readonly request: KeyRequestView;
}

interface RequestsSectionProps {
  readonly requests: readonly KeyRequestView[];
}

export function RequestsSection({ requests }: RequestsSectionProps) {
  const [approved, setApproved] = useState<Approved>();
  const { error, run } = useAction();
  const open = requests.filter(({ status }) => status === "open");
  const decided = requests
    .filter(({ status }) => status !== "open")
    .sort((a, b) => (b.decided_at ?? "").localeCompare(a.decided_at ?? ""));
  const figures = [
    [open.length, "open"],
    [decided.length, "decided"],
  ] as const;
  return (
    <Card id="requests" title="Requests for keys" head={<Figures of={figures} />}>
      {approved !== undefined && (
        <NewKey
          created={approved.created}
          to={{ name: approved.request.name, email: approved.request.email }}
          onDone={() => setApproved(undefined)}
        />
      )}
      {open.length === 0 && <p class="hint">No open requests.</p>}
      <ul class="requests">
        {open.map((request) => (
          <OpenRequest
            key={request.id}
            request={request}
            onApproved={(created) => setApproved({ created, request })}
          />
        ))}
      </ul>
      {decided.length > 0 && (
        <details>
          <summary>Decided</summary>
          <ErrorNotice error={error} />
          <ul class="decided">
            {decided.map(({ id, name, email, status, decided_at }) => (
              <li key={id}>
                {name} &lt;{email}&gt;{" "}
                <span class={`tag ${status === "approved" ? "good" : "bad"}`}>{status}</span>{" "}
                <small>{minuteText(decided_at)}</small>{" "}
                <ConfirmButton
                  label="Delete"
                  what={`the request of ${name}`}
                  onConfirm={() => run(() => deleteRequest(id))}
                />
              </li>
            ))}
          </ul>
        </details>
      )}
    </Card>
  );
}

interface OpenRequestProps {
  readonly request: KeyRequestView;
  readonly onApproved: (created: CreatedKey) => void;
}

function OpenRequest({ request, onApproved }: OpenRequestProps) {
  const { id, name, email, purpose, created_at } = request;
  const { busy, error, run } = useAction();
  const [account, setAccount] = useState("");
  const [taken, setTaken] = useState<{ account: string; text: string }>();
  const [terms, setTerms] = useState<KeyTerms>({ tier: request.tier, expires: "" });

  const approve = async (join: boolean) => {
    setTaken(undefined);
    const created = await run(async () => {
      try {
        return await approveRequest(id, {
          ...(account === "" ? {} : { account }),
          tier: terms.tier,
          expires_at: endOfDay(terms.expires),
          join,
        });
      } catch (failure) {
        if (!isSidebandError(failure, "account_exists")) throw failure;
        setTaken({ account, text: errorText(failure) });
        return undefined;
      }
    });
    if (created !== undefined) onApproved(created);
  };
  return (
    <li>
      <p class="who">
        <strong>{name}</strong> &lt;{email}&gt; asks for <span class="tag">{request.tier}</span>{" "}
        <small>{minuteText(created_at)} UTC</small>
      </p>
      <p class="purpose">{purpose}</p>
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault();
          approve(false);
        }}
        aria-label={`Approve the request of ${name}`}
      >
        <TextField
          label="Account"
          pattern="[a-z0-9._\-]{1,64}"
          title="1 to 64 of a-z, 0-9, dot, underscore and hyphen; empty: a new account under an unused name"
          placeholder="a new one"
          value={account}
          onValue={setAccount}
        />
        <KeyTermsFields terms={terms} onChange={setTerms} />
        <Button type="submit" class="primary" disabled={busy} text="Approve" />
        <ConfirmButton
          label="Decline"
          what={`the request of ${name}`}
          onConfirm={() => run(() => declineRequest(id))}
        />
        <ConfirmButton
          label="Delete"
          what={`the request of ${name}`}
          onConfirm={() => run(() => deleteRequest(id))}
        />
      </form>
      {taken?.account === account && (
        <>
          <Notice kind="bad">{taken.text}</Notice>
          <Button
            class="danger"
            disabled={busy}
            onClick={() => approve(true)}
            text={`Give this key access to ${account}`}
          />
        </>
      )}
      <ErrorNotice error={error} />
    </li>
  );
}
