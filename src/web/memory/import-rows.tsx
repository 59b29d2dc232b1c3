/** The facts of an import as a table: each can be left out, and its label and value can be changed. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Finding } from "../../import/findings.ts";
import { newFreeLabel } from "../api/memory.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Button } from "../parts/fields.tsx";
import { countText } from "../parts/format.ts";
import { useAction } from "../parts/hooks.ts";
import { ErrorNotice } from "../parts/layout.tsx";
import { type DraftRow, type ImportDraft, isUnplaced, STRICT_ACCOUNT, slotOf } from "./import-draft.ts";
import { chosenLabel, LabelField } from "./label-field.tsx";
import { usePage } from "./page-context.ts";
import { exactTime } from "./times.tsx";
import { ValueField } from "./value-fields.tsx";

interface ImportRowsProps {
  readonly draft: ImportDraft;
  readonly onRows: (rows: readonly DraftRow[]) => void;
}

/** As many more each time. */
const PAGE = 200;

export function ImportRows({ draft, onRows }: ImportRowsProps) {
  const { mayMakeLabels } = usePage();
  const [shown, setShown] = useState(PAGE);
  const [edited, setEdited] = useState<number>();
  const { rows } = draft;
  const wasEdited = useRef<number>(undefined);
  useEffect(() => {
    if (edited === undefined) document.getElementById(`change-${wasEdited.current}`)?.focus();
    wasEdited.current = edited;
  }, [edited]);
  const replace = (row: DraftRow) => onRows(rows.map((other) => (other.id === row.id ? row : other)));
  const columns: Column<DraftRow>[] = [
    {
      name: "Label",
      class: "import-label",
      cell: (row) => (
        <label class="check">
          <input
            type="checkbox"
            checked={row.isWanted}
            disabled={row.fact.isNew && !mayMakeLabels}
            onChange={() => replace({ ...row, isWanted: !row.isWanted })}
          />{" "}
          <span class="mono">{row.fact.label}</span>
          {row.fact.isNew && <span class="tag">new label</span>}
        </label>
      ),
    },
    {
      name: "Value",
      class: "text",
      cell: (row) =>
        row.id === edited ? (
          <RowEditor
            draft={draft}
            row={row}
            onRow={(changed) => {
              replace(changed);
              setEdited(undefined);
            }}
            onClose={() => setEdited(undefined)}
          />
        ) : (
          <>
            {row.fact.value}{" "}
            <Button
              id={`change-${row.id}`}
              class="small"
              aria-label={`Change ${row.fact.label} of line ${row.fact.line}`}
              onClick={() => setEdited(row.id)}
              text="Change"
            />
            {row.fact.isNew && !mayMakeLabels && <p class="hint">Left out: {STRICT_ACCOUNT}.</p>}
          </>
        ),
    },
    { name: "Replaces", class: "text", cell: ({ fact }) => replacedText(fact) },
    {
      name: "For the",
      cell: ({ fact }) => (isUnplaced(fact) ? "project: which?" : placeText(fact)),
      class: "text",
    },
    { name: "From line", cell: ({ fact }) => lineText(fact) },
  ];
  if (rows.length === 0) return null;
  return (
    <>
      <DataTable
        class="import-rows"
        label="Facts of the file"
        caption="What would be written. Untick what you do not want."
        columns={columns}
        rows={rows.slice(0, shown)}
        keyOf={({ id }) => String(id)}
      />
      {rows.length > shown && (
        <p class="buttons">
          <Button
            onClick={() => setShown(shown + PAGE)}
            text={`Show more of ${countText(rows.length, "fact")}`}
          />
        </p>
      )}
    </>
  );
}

export function lineText({ line, part }: Finding): string {
  return part === undefined ? String(line) : `${line}, ${part}`;
}

function replacedText({ present, value, expiresAt }: DraftRow["fact"]): string {
  const until = expiresAt === undefined ? "" : ` (ends ${exactTime(expiresAt)})`;
  if (present === undefined) return `nothing${until}`;
  return (present.value === value ? "the same value" : `“${present.value}”`) + until;
}

function placeText({ kind, project }: DraftRow["fact"]): string {
  return kind === "person" ? kind : `${kind} ${project}`;
}

interface RowEditorProps {
  readonly draft: ImportDraft;
  readonly row: DraftRow;
  readonly onRow: (row: DraftRow) => void;
  readonly onClose: () => void;
}

function RowEditor({ draft, row, onRow, onClose }: RowEditorProps) {
  const { labels } = usePage();
  const { fact } = row;
  const [choice, setChoice] = useState(() => chosenLabel(fact));
  const [value, setValue] = useState(fact.value);
  const { busy, error, run } = useAction();
  const { label } = choice;
  const save = () =>
    run(async () => {
      const changed = { ...fact, label, value, isExact: true };
      const { fact: planned, why } = await draft.plan(changed, fact.project);
      if (planned === undefined) throw new Error(`It cannot be kept: ${why}.`);
      const twin = draft.rows.find(
        ({ id, fact: other }) => id !== row.id && slotOf(other) === slotOf(planned),
      );
      if (twin !== undefined) throw new Error(`Line ${lineText(twin.fact)} has the label ${label}, too.`);
      onRow({ ...row, fact: planned, isWanted: true });
    });
  return (
    <form
      class="fact-editor"
      aria-label={`Change ${fact.label} of line ${fact.line}`}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      <LabelField name="Label" choice={choice} onChoice={setChoice} />
      <ValueField
        terms={labels.get(label) ?? newFreeLabel(label)}
        name={`Value of ${label}`}
        value={value}
        onValue={setValue}
      />
      <ErrorNotice error={error} />
      <p class="buttons">
        <Button type="submit" class="primary" disabled={busy || label === ""} text="Take it" />
        <Button onClick={onClose} text="Cancel" />
      </p>
    </form>
  );
}
