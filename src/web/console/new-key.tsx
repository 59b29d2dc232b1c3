/** The form fields of a new key, and the key itself, shown only once, with a text that is ready to send. */

import { useEffect, useRef } from "preact/hooks";
import { TIERS, type Tier } from "../../base/accounts.ts";
import type { CreatedKey } from "../api/admin.ts";
import { Button, CopyButton, SelectField, TextField } from "../parts/fields.tsx";

/** What a new key may do, and for how long. */
export interface KeyTerms {
  readonly tier: Tier;
  /** A day, or "" for no expiry. */
  readonly expires: string;
}

/** The end of a day that a date field names, in UTC; null if it is empty. */
export function endOfDay(date: string): string | null {
  return date === "" ? null : `${date}T23:59:59.000Z`;
}

interface KeyTermsFieldsProps {
  readonly terms: KeyTerms;
  readonly onChange: (terms: KeyTerms) => void;
}

export function KeyTermsFields({ terms, onChange }: KeyTermsFieldsProps) {
  return (
    <>
      <SelectField
        label="Tier"
        value={terms.tier}
        onValue={(tier) => onChange({ ...terms, tier: tier as Tier })}
        options={TIERS}
      />
      <TextField
        label="Expires (optional)"
        type="date"
        value={terms.expires}
        onValue={(expires) => onChange({ ...terms, expires })}
      />
    </>
  );
}

interface NewKeyProps {
  readonly created: CreatedKey;
  /** Who it is for, if known. */
  readonly to?: { readonly name: string; readonly email: string };
  readonly onDone: () => void;
}

export function NewKey({ created, to, onDone }: NewKeyProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The key cannot be shown again: move the focus here, also for screen readers.
  useEffect(() => heading.current?.focus(), []);
  const letter = keyLetter(created, to?.name, location.origin);
  return (
    <div class="new-key">
      <h3 ref={heading} tabIndex={-1}>
        The key of {created.account}, shown only once
      </h3>
      <p class="key-line">
        <code>{created.key}</code> <CopyButton text={created.key} what="the key" />
      </p>
      <label class="field">
        <span>A text ready to send{to === undefined ? "" : ` to ${to.email}`}</span>
        <textarea rows={15} readOnly value={letter} />
      </label>
      <p class="buttons">
        <CopyButton text={letter} what="the text" size="normal" />
        {to !== undefined && (
          <a
            class="button"
            href={`mailto:${encodeURIComponent(to.email)}?subject=${encodeURIComponent("Your Sideband key")}&body=${encodeURIComponent(letter)}`}
          >
            Open in mail
          </a>
        )}
        <Button onClick={onDone} text="Done, hide the key" />
      </p>
    </div>
  );
}

export function keyLetter(created: CreatedKey, name: string | undefined, origin: string): string {
  const { user, access, groups } = created;
  const bound = user === null ? "" : ` It is for the user ${user} alone.`;
  const reads = access === "read" ? " It reads, and writes nothing." : "";
  const seen = groups === null ? "" : ` It is for labels of these groups: ${groups}.`;
  const authorization = `-H "Authorization: Bearer ${created.key}"`;
  const [inQuery, inBody] = user === null ? ["?user_id=me", '"user_id":"me",'] : ["", ""];
  const example =
    access === "read"
      ? `curl "${origin}/facts${inQuery}" ${authorization}`
      : `curl ${origin}/encode ${authorization} \\
    -H "Content-Type: application/json" \\
    -d '{${inBody}"label":"USER.name","value":"Ada"}'`;
  const until = created.expires_at === null ? "" : ` It works until ${created.expires_at.slice(0, 10)}.`;
  return `Hello${name === undefined ? "" : ` ${name}`},

here is your key to Sideband, tier ${created.tier}, account ${created.account}:

  ${created.key}

Keep it like a password: it is stored nowhere and cannot be shown again.${until}${bound}${reads}${seen} Try it:

  ${example}

Guides and reference: ${origin}/docs
What the key has used: ${origin}/account
`;
}
