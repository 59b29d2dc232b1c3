/** One fact: its value, who wrote it and when, when it ends; with its editor, its history and a way to forget it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { groupOf } from "../../base/channel-labels.ts";
import type { StoredFact } from "../../contract/answers.ts";
import type { ForgetOptions } from "../../sdk/options.ts";
import { Button } from "../parts/fields.tsx";
import { useAction } from "../parts/hooks.ts";
import { ErrorNotice } from "../parts/layout.tsx";
import { FactEditor } from "./fact-editor.tsx";
import { FactHistory } from "./fact-history.tsx";
import { usePage } from "./page-context.ts";
import { RenameFact } from "./rename-fact.tsx";
import { RelativeTime } from "./times.tsx";
import { putBack, undoAction } from "./writes.ts";

interface FactRowProps {
  readonly label: string;
  /** Undefined where it was forgotten while its editor is open. */
  readonly fact: StoredFact | undefined;
  /** The editor is open: the row stays, whatever becomes of the fact. */
  readonly opened: StoredFact | undefined;
  readonly onEdit: (opened: StoredFact | undefined) => void;
}

/** How long a change of somebody else is marked. */
const MARKED_MS = 60_000;

export function FactRow({ label, fact, opened, onEdit }: FactRowProps) {
  const page = usePage();
  const { api, memory, live, state, labels, overflow, canWrite, nowMs, showToast } = page;
  const [showsHistory, setShowsHistory] = useState(false);
  const [renames, setRenames] = useState(false);
  const { busy, error, run } = useAction();
  const edit = useRef<HTMLButtonElement>(null);
  const rename = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    if (wasOpen.current && opened === undefined) edit.current?.focus();
    wasOpen.current = opened !== undefined;
  }, [opened]);

  const forget = (known: StoredFact) =>
    run(async () => {
      const place = { project: memory.project, scope: known.place };
      const forgetWith = (options: ForgetOptions) =>
        live.write([label], () => api.forget(memory.userId, label, { ...place, ...options }));
      await forgetWith({ ifRevision: known.revision, keepHistory: true });
      const forGood = async () => {
        await forgetWith({});
        showToast({ text: `${label} is forgotten for good, with its earlier values.` });
      };
      showToast({
        text: `${label} is forgotten. Its earlier values are kept.`,
        actions: [
          undoAction(page, () => putBack(page, known, 0), `${label} is back.`),
          { name: "Forget for good", run: forGood, asks: `${label}, which cannot be undone` },
        ],
      });
    });

  const markedAtMs = state.marks.get(label);
  const isMarked = markedAtMs !== undefined && nowMs - markedAtMs < MARKED_MS;
  const shown = fact ?? opened;
  if (shown === undefined) return null;
  const { place, written_by: by, expires_at: end, description } = shown;
  return (
    <li class={isMarked ? "fact fresh" : "fact"} data-label={label}>
      <h3 class="fact-label" title={labels.get(label)?.description}>
        <span class="visually-hidden">{groupOf(label)}.</span>
        {breakable(label.slice(groupOf(label).length + 1))}
      </h3>
      <div class="fact-body">
        {opened === undefined ? (
          <p class="fact-value">{shown.value}</p>
        ) : (
          <FactEditor opened={opened} now={fact} onClose={() => onEdit(undefined)} />
        )}
        {opened === undefined && (
          <p class="fact-meta">
            <RelativeTime at={shown.updated_at} />
            {by !== undefined && <span>by {by}</span>}
            {end !== undefined && (
              <span class="ends">
                ends <RelativeTime at={end} isEnd />
              </span>
            )}
            {isMarked && <span class="tag good">changed just now</span>}
            {place !== undefined && <span class="tag">{place}</span>}
            {overflow.has(label) && <span class="tag warn">not in the block</span>}
            {labels.get(label)?.hidden && <span class="tag">hidden from agents</span>}
            {description !== undefined && <span class="what">{description}</span>}
          </p>
        )}
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
        {canWrite && opened === undefined && (
          <button
            ref={edit}
            type="button"
            class="small"
            aria-label={`Edit ${label}`}
            onClick={() => onEdit(shown)}
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
        {canWrite && fact !== undefined && (
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
        {canWrite && fact !== undefined && (
          <Button
            class="small danger"
            disabled={busy}
            aria-label={`Forget ${label}`}
            onClick={() => forget(fact)}
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
