/** A new key, shown only once, with a text that is ready to send. */

import { useEffect, useRef } from "preact/hooks";
import type { CreatedKey } from "../api/admin.ts";
import { CopyButton } from "../parts/copy-button.tsx";

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
  const letter = letterOf(created, to?.name, location.origin);
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
        <button type="button" onClick={onDone}>
          Done, hide the key
        </button>
      </p>
    </div>
  );
}

export function letterOf(created: CreatedKey, name: string | undefined, origin: string): string {
  const { user, access } = created;
  const bound = user === null ? "" : ` It is for the user ${user} alone.`;
  const reads = access === "read" ? " It reads, and writes nothing." : "";
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

Keep it like a password: it is stored nowhere and cannot be shown again.${until}${bound}${reads} Try it:

  ${example}

Guides and reference: ${origin}/docs
What the key has used: ${origin}/account
`;
}
