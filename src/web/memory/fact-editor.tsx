/**
 * Changes a fact in place. It is written only if the fact is still as it was when the form opened: what somebody else has
 * written meanwhile is shown beside what was typed, which is never lost.
 */

import { useState } from "preact/hooks";
import type { PlaceKind, StoredFact } from "../../contract/answers.ts";
import { Button } from "../parts/fields.tsx";
import { authorName } from "../parts/format.ts";
import { useAction } from "../parts/hooks.ts";
import { Notice } from "../parts/layout.tsx";
import { Diff } from "./diff.tsx";
import { usePage } from "./page-context.ts";
import { PlaceField } from "./place-field.tsx";
import { keptValue, SecretNotice } from "./secret-notice.tsx";
import { RelativeTime } from "./times.tsx";
import { type EndChoice, EndField, endChoiceOf, endOfChoice, ValueField } from "./value-fields.tsx";
import { writeIfUnchanged } from "./writes.ts";

/** What is typed into the form of a fact. It outlives the form, which goes while the list shows something else. */
export interface FactDraft {
  /** As it was when the form opened. */
  readonly opened: StoredFact;
  value: string;
  /** The end that the person has chosen; undefined: the one that the fact has, whoever gave it that. */
  end: EndChoice | undefined;
  /** Where it goes, of what a team shares; undefined: where it is. */
  place: PlaceKind | undefined;
  /** What the person has seen of it. */
  seen: StoredFact;
}

export function draftOf(fact: StoredFact): FactDraft {
  return { opened: fact, value: fact.value, end: undefined, place: undefined, seen: fact };
}

interface FactEditorProps {
  readonly draft: FactDraft;
  /** As it is now; undefined where it was forgotten meanwhile. */
  readonly now: StoredFact | undefined;
  readonly onClose: () => void;
}

export function FactEditor({ draft, now, onClose }: FactEditorProps) {
  const page = usePage();
  const [{ value, end: chosen, place: chosenPlace, seen }, show] = useState({ ...draft });
  const change = (typed: Partial<FactDraft>) => show({ ...Object.assign(draft, typed) });
  const { busy, error, run, clearError } = useAction();
  /** That the value is no secret. */
  const [insists, setInsists] = useState(false);
  const { label } = draft.opened;
  const terms = page.labels.get(label);
  const hasChanged = now?.revision !== seen.revision || now?.place !== seen.place;
  const { place, expires_at: expiresAt } = now ?? seen;
  const staysThere = chosenPlace === undefined || chosenPlace === place;
  const writer = authorName(now?.written_by, now?.user_id);
  const end = chosen ?? endChoiceOf(expiresAt);

  const save = (ifRevision: number, isSure = insists) =>
    run(async () => {
      // What is kept already may get another end.
      const isKept = value === now?.value;
      // A label that went with its last value is made again.
      const terms = { newLabel: page.mayMakeLabels ? ("certain" as const) : undefined };
      // What an agent had read is said by the person now.
      const origin = now?.origin === "read" ? ("said" as const) : undefined;
      const fact = {
        label,
        value: isKept ? value : await keptValue(label, value, isSure),
        scope: chosenPlace ?? place,
        ...endOfChoice(end, expiresAt),
        ifRevision: staysThere ? ifRevision : 0,
        origin,
        ...terms,
      };
      // Otherwise the form says what has changed.
      if (await writeIfUnchanged(page, fact, staysThere ? now : undefined)) onClose();
    });
  return (
    <form
      class="fact-editor"
      aria-label={`Change ${label}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (!hasChanged) save(seen.revision);
      }}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      {terms !== undefined && terms.description !== "" && <p class="hint">{terms.description}</p>}
      <ValueField
        terms={terms}
        name={`Value of ${label}`}
        value={value}
        onValue={(text) => {
          change({ value: text });
          setInsists(false);
          clearError();
        }}
        focus
      />
      <EndField
        terms={terms}
        expiresAt={expiresAt}
        choice={end}
        onChoice={(choice) => change({ end: choice.kind === "as-now" ? undefined : choice })}
      />
      {place === "shared" && (
        <div class="add-terms">
          <PlaceField
            places={["shared", "own"]}
            place={chosenPlace ?? place}
            onPlace={(chosen) => change({ place: chosen })}
          />
        </div>
      )}
      <SecretNotice
        error={error}
        busy={busy}
        onInsist={() => {
          setInsists(true);
          save(seen.revision, true);
        }}
      />
      {hasChanged && (
        <Notice kind="plain">
          {now === undefined ? (
            <>It was forgotten while you were typing. Nothing of your text is lost.</>
          ) : (
            <>
              It was changed while you were typing{writer !== undefined && <>, by {writer}</>},{" "}
              <RelativeTime at={now.updated_at} />. It is now: <Diff before={seen.value} after={now.value} />
              {expiresAt !== seen.expires_at && (
                <>
                  , and {expiresAt === undefined ? "does not end" : "ends "}
                  {expiresAt !== undefined && <RelativeTime at={expiresAt} isEnd />}
                </>
              )}
            </>
          )}
        </Notice>
      )}
      <p class="buttons">
        {hasChanged ? (
          <Button
            class="primary"
            disabled={busy}
            onClick={() => save(now?.revision ?? 0)}
            text="Save mine all the same"
          />
        ) : (
          <Button type="submit" class="primary" disabled={busy} text="Save" />
        )}
        {hasChanged && now !== undefined && (
          <Button
            disabled={busy}
            onClick={() => change({ value: now.value, end: undefined, seen: now })}
            text="Take the new value"
          />
        )}
        <Button onClick={onClose} text="Cancel" />
      </p>
    </form>
  );
}
