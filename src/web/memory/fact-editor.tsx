/**
 * Changes a fact in place. It is written only if the fact is still as it was when the form opened: what somebody else has
 * written meanwhile is shown beside what was typed, which is never lost.
 */

import { useState } from "preact/hooks";
import type { StoredFact } from "../api/memory.ts";
import { ApiError } from "../api/request.ts";
import { useAttempt } from "../parts/attempt.ts";
import { ErrorNotice, Notice } from "../parts/notice.tsx";
import { useDesk } from "./desk.ts";
import { Difference } from "./difference.tsx";
import { TimeText } from "./time-text.tsx";
import { EndField, endChoiceOf, endOfChoice, ValueField } from "./value-fields.tsx";

interface FactEditorProps {
  /** As it was when the form opened. */
  readonly opened: StoredFact;
  /** As it is now; undefined where it was forgotten meanwhile. */
  readonly now: StoredFact | undefined;
  readonly onClose: () => void;
}

export function FactEditor({ opened, now, onClose }: FactEditorProps) {
  const { api, memory, live, labels } = useDesk();
  const [value, setValue] = useState(opened.value);
  const [end, setEnd] = useState(() => endChoiceOf(opened.expires_at));
  /** The revision that the person has seen. */
  const [seen, setSeen] = useState(opened.revision);
  const { busy, error, attempt } = useAttempt();
  const { label } = opened;
  const terms = labels.get(label);
  const hasChanged = (now?.revision ?? 0) !== seen;

  const save = (expected: number) =>
    attempt(async () => {
      const draft = { label, value, scope: opened.place, ...endOfChoice(end, opened.expires_at) };
      try {
        await live.write([label], () => api.write(memory, draft, expected));
      } catch (failure) {
        // The facts have been read again by now: the form says what has changed.
        if (failure instanceof ApiError && failure.code === "revision_mismatch") return;
        throw failure;
      }
      onClose();
    });
  return (
    <form
      class="fact-editor"
      aria-label={`Change ${label}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (!hasChanged) save(seen);
      }}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      {terms !== undefined && <p class="hint">{terms.description}</p>}
      <ValueField terms={terms} name={`Value of ${label}`} value={value} onValue={setValue} focus />
      <EndField terms={terms} expiresAt={opened.expires_at} choice={end} onChoice={setEnd} />
      <ErrorNotice error={error} />
      {hasChanged && (
        <>
          <Notice kind="plain">
            {now === undefined ? (
              <>It was forgotten while you were typing. Nothing of your text is lost.</>
            ) : (
              <>
                It was changed while you were typing
                {now.written_by !== undefined && <>, by {now.written_by}</>}, <TimeText at={now.updated_at} />
                . It is now: <Difference before={opened.value} after={now.value} />
              </>
            )}
          </Notice>
          <p class="buttons">
            <button type="button" class="primary" disabled={busy} onClick={() => save(now?.revision ?? 0)}>
              Save mine all the same
            </button>
            {now !== undefined && (
              <button
                type="button"
                disabled={busy}
                onClick={() => {
                  setValue(now.value);
                  setEnd(endChoiceOf(now.expires_at));
                  setSeen(now.revision);
                }}
              >
                Take the new value
              </button>
            )}
            <button type="button" onClick={onClose}>
              Cancel
            </button>
          </p>
        </>
      )}
      {!hasChanged && (
        <p class="buttons">
          <button type="submit" class="primary" disabled={busy}>
            Save
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </p>
      )}
    </form>
  );
}
