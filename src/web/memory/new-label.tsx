/** Adds a label of the account's own, with terms. */

import { useState } from "preact/hooks";
import { VALUE_BYTES_MAX } from "../../base/limits.ts";
import type { LabelScope } from "../../contract/answers.ts";
import type { OwnLabelTerms } from "../../sdk/options.ts";
import { Button, SelectField, TextField } from "../parts/fields.tsx";
import { useAction } from "../parts/hooks.ts";
import { ErrorNotice } from "../parts/layout.tsx";
import { usePage } from "./page-context.ts";
import { undoAction } from "./writes.ts";

interface NewLabelProps {
  readonly onAdded: (label: string) => void;
  readonly onCancel: () => void;
}

const NO_TEXTS = { label: "", description: "", example: "", choices: "", size: "" };
type LabelTexts = typeof NO_TEXTS;

export function NewLabel({ onAdded, onCancel }: NewLabelProps) {
  const page = usePage();
  const { api, readLabels, showToast } = page;
  const { busy, error, run } = useAction();
  const [texts, setTexts] = useState(NO_TEXTS);
  const [scope, setScope] = useState<LabelScope>("person");
  const field = (name: keyof typeof texts) => ({
    value: texts[name],
    onValue: (value: string) => setTexts({ ...texts, [name]: value }),
  });
  const add = (event: SubmitEvent) => {
    event.preventDefault();
    run(async () => {
      await api.addLabel(texts.label, termsOf(texts, scope));
      await readLabels();
      onAdded(texts.label);
      const undo = async () => {
        await api.removeLabel(texts.label);
        await readLabels();
      };
      showToast({
        text: `The account has the label ${texts.label} now.`,
        actions: [undoAction(page, undo, `The label ${texts.label} is gone.`)],
      });
    });
  };
  return (
    <form class="new-label" onSubmit={add} aria-label="Add a label">
      <div class="composer">
        <TextField
          label="Label: GROUP.name"
          required
          autocomplete="off"
          spellcheck={false}
          pattern="[A-Z][A-Z0-9_]{0,15}\.[a-z0-9_]{1,48}"
          title="A group of capitals, digits and _, a dot, and a name of small letters, digits and _"
          placeholder="FAMILY.birthday"
          {...field("label")}
        />
        <TextField
          class="field grow"
          label="What belongs there. Agents choose by it."
          required
          maxLength={200}
          {...field("description")}
        />
        <TextField class="field grow" label="An example (optional)" maxLength={200} {...field("example")} />
      </div>
      <details>
        <summary>More: fixed choices, size, where it is kept</summary>
        <div class="composer">
          <TextField
            class="field grow"
            label="Only these values, with commas between"
            placeholder="S, M, L"
            {...field("choices")}
          />
          <TextField
            label="At most, in bytes"
            type="number"
            min={1}
            max={VALUE_BYTES_MAX}
            {...field("size")}
          />
          <SelectField
            label="Kept for the"
            value={scope}
            onValue={(chosen) => setScope(chosen as LabelScope)}
            options={["person", "project", "worktree"]}
          />
        </div>
      </details>
      <ErrorNotice error={error} />
      <p class="buttons">
        <Button type="submit" class="primary" disabled={busy} text="Add the label" />
        <Button onClick={onCancel} text="Cancel" />
      </p>
      <p class="hint">A label can be hidden, and not renamed. One that has facts cannot be removed.</p>
    </form>
  );
}

function termsOf({ description, example, choices, size }: LabelTexts, scope: LabelScope): OwnLabelTerms {
  const values = choices.split(",").map((choice) => choice.trim());
  return {
    description,
    scope,
    example: example || undefined,
    oneOf: choices.trim() === "" ? undefined : values.filter((choice) => choice !== ""),
    maxBytes: size === "" ? undefined : Number(size),
  };
}
