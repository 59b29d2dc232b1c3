/** Adds a label of the account's own. It stays: labels can be hidden, and not removed. */

import { useState } from "preact/hooks";
import { VALUE_BYTES_MAX } from "../../base/limits.ts";
import type { LabelDraft, PlaceKind } from "../api/memory.ts";
import { useAttempt } from "../parts/attempt.ts";
import { ErrorNotice } from "../parts/notice.tsx";
import { useDesk } from "./desk.ts";

interface NewLabelProps {
  readonly onAdded: (label: string) => void;
  readonly onCancel: () => void;
}

export function NewLabel({ onAdded, onCancel }: NewLabelProps) {
  const { api, readLabels } = useDesk();
  const { busy, error, attempt } = useAttempt();
  const [texts, setTexts] = useState({ label: "", description: "", example: "", choices: "", size: "" });
  const [scope, setScope] = useState<PlaceKind>("person");
  const field = (name: keyof typeof texts) => ({
    value: texts[name],
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      setTexts({ ...texts, [name]: currentTarget.value }),
  });
  const add = (event: SubmitEvent) => {
    event.preventDefault();
    attempt(async () => {
      const { label } = await api.addLabel(labelDraft(texts, scope));
      await readLabels();
      onAdded(label);
    });
  };
  return (
    <form class="new-label" onSubmit={add} aria-label="Add a label">
      <div class="composer">
        <label class="field">
          <span>Label: GROUP.name</span>
          <input
            required
            autocomplete="off"
            spellcheck={false}
            pattern="[A-Z][A-Z0-9_]{0,15}\.[a-z0-9_]{1,48}"
            title="A group of capitals, digits and _, a dot, and a name of small letters, digits and _"
            placeholder="FAMILY.birthday"
            {...field("label")}
          />
        </label>
        <label class="field grow">
          <span>What belongs there. Agents choose by it.</span>
          <input required maxLength={200} {...field("description")} />
        </label>
        <label class="field grow">
          <span>An example (optional)</span>
          <input maxLength={200} {...field("example")} />
        </label>
      </div>
      <details>
        <summary>More: fixed choices, size, where it is kept</summary>
        <div class="composer">
          <label class="field grow">
            <span>Only these values, with commas between</span>
            <input placeholder="S, M, L" {...field("choices")} />
          </label>
          <label class="field">
            <span>At most, in bytes</span>
            <input type="number" min={1} max={VALUE_BYTES_MAX} {...field("size")} />
          </label>
          <label class="field">
            <span>Kept for the</span>
            <select
              value={scope}
              onChange={({ currentTarget }) => setScope(currentTarget.value as PlaceKind)}
            >
              <option>person</option>
              <option>project</option>
              <option>worktree</option>
            </select>
          </label>
        </div>
      </details>
      <ErrorNotice error={error} />
      <p class="buttons">
        <button type="submit" class="primary" disabled={busy}>
          Add the label
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </p>
      <p class="hint">A label can be hidden, and not renamed. One that has facts cannot be removed.</p>
    </form>
  );
}

function labelDraft(
  texts: { label: string; description: string; example: string; choices: string; size: string },
  scope: PlaceKind,
): LabelDraft {
  const { label, description, example, choices, size } = texts;
  const values = choices.split(",").map((choice) => choice.trim());
  return {
    label,
    description,
    scope,
    ...(example === "" ? {} : { example }),
    ...(choices.trim() === "" ? {} : { one_of: values.filter((choice) => choice !== "") }),
    ...(size === "" ? {} : { max_bytes: Number(size) }),
  };
}
