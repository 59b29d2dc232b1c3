/** The facts of a user of the account. Each can be forgotten, after a confirmation. */

import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { USER_ID_LENGTH_MAX } from "../../base/limits.ts";
import { callForget, type Fact, fetchFacts } from "../api/account.ts";
import { ConfirmButton } from "./confirm-button.tsx";
import { ErrorNotice, Notice } from "./notice.tsx";
import { RowsTable } from "./rows-table.tsx";

interface Shown {
  readonly userId: string;
  readonly facts: readonly Fact[];
}

interface UserFactsProps {
  readonly apiKey: string;
  /** The one user that the key is for, if it is bound. */
  readonly boundUser: string | undefined;
  readonly canForget: boolean;
}

export function UserFacts({ apiKey, boundUser, canForget }: UserFactsProps) {
  const [userId, setUserId] = useState(boundUser ?? "");
  const [shown, setShown] = useState<Shown>();
  const [said, setSaid] = useState<string>();
  const [error, setError] = useState<unknown>();

  const attempt = async (work: () => Promise<void>) => {
    setError(undefined);
    setSaid(undefined);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    }
  };
  const show = (event: SubmitEvent) => {
    event.preventDefault();
    return attempt(async () => setShown({ userId, facts: await fetchFacts(apiKey, userId) }));
  };
  const forget = (user: string, label: string) =>
    attempt(async () => {
      await callForget(apiKey, user, label);
      setShown({ userId: user, facts: await fetchFacts(apiKey, user) });
      setSaid(`${label} is forgotten.`);
    });

  return (
    <section class="card" aria-labelledby="facts-title">
      <h2 id="facts-title">Facts of a user</h2>
      <form class="composer" onSubmit={show}>
        <label class="field grow">
          <span>User id</span>
          <input
            required
            readOnly={boundUser !== undefined}
            maxLength={USER_ID_LENGTH_MAX}
            autocomplete="off"
            value={userId}
            onInput={({ currentTarget }) => setUserId(currentTarget.value)}
          />
        </label>
        <button type="submit">Show facts</button>
      </form>
      <ErrorNotice error={error} />
      {said !== undefined && <Notice kind="good">{said}</Notice>}
      {shown !== undefined && shown.facts.length === 0 && (
        <p class="hint">{shown.userId} has no facts in this account.</p>
      )}
      {shown !== undefined && shown.facts.length > 0 && (
        <RowsTable
          caption={`${shown.facts.length} ${shown.facts.length === 1 ? "fact" : "facts"} of ${shown.userId}, times in UTC`}
          label="Facts"
          rows={shown.facts}
          keyOf={({ label }) => label}
          columns={[
            { name: "Label", class: "whole", cell: BreakableLabel },
            { name: "Value", class: "text", cell: ({ value }) => value },
            {
              name: "Written",
              class: "whole",
              cell: ({ updated_at }) => updated_at.slice(0, 16).replace("T", " "),
            },
            {
              name: "Change",
              cell: ({ label }) =>
                canForget && (
                  <ConfirmButton label="Forget" what={label} onConfirm={() => forget(shown.userId, label)} />
                ),
            },
          ]}
        />
      )}
    </section>
  );
}

/** A label that a narrow table may break after its dot and its underscores. */
function BreakableLabel({ label }: Fact) {
  return (
    <>
      {label.split(/(?<=[._])/).map((part) => (
        <Fragment key={part}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </>
  );
}
