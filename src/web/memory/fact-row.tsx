/** One fact: its value, who wrote it and when, when it ends; with its editor, its history and a way to forget it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { groupOf } from "../../base/channel-labels.ts";
import type { StoredFact } from "../../contract/answers.ts";
import { Button } from "../parts/fields.tsx";
import { useAction } from "../parts/hooks.ts";
import { ErrorNotice } from "../parts/layout.tsx";
import { draftOf, type FactDraft, FactEditor } from "./fact-editor.tsx";
import { FactHistory } from "./fact-history.tsx";
import { mayChange, usePage } from "./page-context.ts";
import { RenameFact } from "./rename-fact.tsx";
import { Author, HiddenFact, PlaceTag } from "./sharing.tsx";
import { RecentChange, RelativeTime } from "./times.tsx";
import { forgetFact } from "./writes.ts";

interface FactRowProps {
  readonly label: string;
  /** Undefined where it was forgotten while its editor is open. */
  readonly fact: StoredFact | undefined;
  /** The editor is open: the row stays, whatever becomes of the fact. */
  readonly draft: FactDraft | undefined;
  readonly onEdit: (draft: FactDraft | undefined) => void;
  /** The row does not stand below its group's heading. */
  readonly showsGroup: boolean;
}

export function FactRow({ label, fact, draft, onEdit, showsGroup }: FactRowProps) {
  const page = usePage();
  const { state, labels } = page;
  const [showsHistory, setShowsHistory] = useState(false);
  const [renames, setRenames] = useState(false);
  const { busy, error, run } = useAction();
  const edit = useRef<HTMLButtonElement>(null);
  const rename = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    if (wasOpen.current && draft === undefined) edit.current?.focus();
    wasOpen.current = draft !== undefined;
  }, [draft]);

  const shown = fact ?? draft?.opened;
  if (shown === undefined) return null;
  const { place, written_by: by, user_id: author, expires_at: end, description, hides } = shown;
  const canChange = mayChange(page, place);
  return (
    <li class="fact" data-label={label} data-row>
      <h3 class="fact-label" title={labels.get(label)?.description}>
        <span class={showsGroup ? undefined : "visually-hidden"}>{groupOf(label)}.</span>
        {breakable(label.slice(groupOf(label).length + 1))}
      </h3>
      <div class="fact-body">
        {draft === undefined ? (
          <p class="fact-value">{shown.value}</p>
        ) : (
          <FactEditor draft={draft} now={fact} onClose={() => onEdit(undefined)} />
        )}
        {draft === undefined && (
          <p class="fact-meta">
            <RelativeTime at={shown.updated_at} />
            <Author by={by} user={author} />
            {end !== undefined && (
              <span class="ends">
                ends <RelativeTime at={end} isEnd />
              </span>
            )}
            <RecentChange atMs={state.marks.get(label)} />
            <PlaceTag place={place} />
            {shown.origin === "read" && <span class="tag warn">read somewhere</span>}
            {labels.get(label)?.hidden && <span class="tag">hidden from agents</span>}
            {description !== undefined && <span class="what">{description}</span>}
          </p>
        )}
        {hides !== undefined && <HiddenFact fact={hides} />}
        <ErrorNotice error={error} />
        {renames && fact !== undefined && (
          <RenameFact
            fact={fact}
            onClose={() => {
              setRenames(false);
              rename.current?.focus();
            }}
          />
        )}
        {showsHistory && <FactHistory label={label} />}
      </div>
      <p class="fact-buttons">
        {canChange && draft === undefined && (
          <button
            ref={edit}
            type="button"
            class="small"
            aria-label={`Edit ${label}`}
            onClick={() => onEdit(draftOf(shown))}
          >
            Edit
          </button>
        )}
        <Button
          class="small"
          aria-expanded={showsHistory}
          aria-label={`History of ${label}`}
          onClick={() => setShowsHistory(!showsHistory)}
          text="History"
        />
        {canChange && fact !== undefined && (
          <button
            ref={rename}
            type="button"
            class="small"
            aria-expanded={renames}
            aria-label={`Rename ${label}`}
            onClick={() => setRenames(!renames)}
          >
            Rename
          </button>
        )}
        {canChange && fact !== undefined && (
          <Button
            class="small danger"
            disabled={busy}
            aria-label={`Forget ${label}`}
            onClick={() => run(() => forgetFact(page, fact))}
            text="Forget"
          />
        )}
      </p>
    </li>
  );
}

/** A name that a narrow column may break after its underscores. */
function breakable(name: string) {
  return name.split(/(?<=_)/).map((part, i) => [i > 0 && <wbr key={i} />, part]);
}
