/** Adds a fact: its label, with what belongs there, its value, when it ends, and in a project for whom it is kept. */

import { useState } from "preact/hooks";
import { groupOf } from "../../base/channel-labels.ts";
import type { PlaceKind } from "../../contract/answers.ts";
import { isWorktree } from "../api/memory.ts";
import { Button, SelectField } from "../parts/fields.tsx";
import { groupName, STANDARD_GROUPS } from "../parts/format.ts";
import { useAction } from "../parts/hooks.ts";
import { Card, ErrorNotice } from "../parts/layout.tsx";
import { NewLabel } from "./new-label.tsx";
import { usePage, writeSeen } from "./page-context.ts";
import { EndField, endChoiceOf, endOfChoice, ValueField } from "./value-fields.tsx";

interface AddFactProps {
  /** A label whose fact is there already: its editor is to be opened. */
  readonly onEdit: (label: string) => void;
  readonly onClose: () => void;
}

const NEW_LABEL = "new";

export function AddFact({ onEdit, onClose }: AddFactProps) {
  const page = usePage();
  const { memory, state, labels, freeLabels, showToast } = page;
  const [label, setLabel] = useState("");
  const [value, setValue] = useState("");
  const [end, setEnd] = useState(() => endChoiceOf(undefined));
  const [scope, setScope] = useState<PlaceKind>();
  const { busy, error, run } = useAction();
  const terms = labels.get(label);
  const known = state.facts?.find((fact) => fact.label === label);

  const choose = (chosen: string) => {
    setLabel(chosen);
    setValue("");
    setScope(undefined);
  };
  const add = (event: SubmitEvent) => {
    event.preventDefault();
    run(async () => {
      const fact = { label, value, scope, ...endOfChoice(end, undefined), ifRevision: 0 };
      // If somebody was faster the form shows what is there.
      if (!(await writeSeen(page, fact))) return;
      showToast({ text: `${label} is remembered.` });
      onClose();
    });
  };
  const place =
    memory.project === undefined ? undefined : placeIn(memory.project, scope ?? terms?.scope ?? "person");
  const isTaken = known !== undefined && known.place === place;
  return (
    <Card id="add" title="Add a fact" class="card add-fact">
      <form onSubmit={add} onKeyDown={(event) => event.key === "Escape" && onClose()}>
        <LabelField label={label} mayAdd={freeLabels > 0} onLabel={choose} />
        {terms !== undefined && (
          <>
            <p class="hint">
              {terms.description}
              {terms.example !== "" && <>, for example “{terms.example}”</>}.
            </p>
            {isTaken ? (
              <TakenNotice label={label} value={known.value} onEdit={() => onEdit(label)} />
            ) : (
              <ValueField terms={terms} name={`Value of ${label}`} value={value} onValue={setValue} />
            )}
            <div class="add-terms">
              {!isTaken && <EndField terms={terms} choice={end} onChoice={setEnd} />}
              {memory.project !== undefined && (
                <ScopeField project={memory.project} scope={place ?? "person"} onScope={setScope} />
              )}
            </div>
            {known !== undefined && !isTaken && (
              <p class="hint">
                There is also “{known.value}”, kept for the {known.place}. Where both are, the inner one
                counts.
              </p>
            )}
          </>
        )}
        <ErrorNotice error={error} />
        {label !== NEW_LABEL && (
          <p class="buttons">
            <Button
              type="submit"
              class="primary"
              disabled={busy || terms === undefined || isTaken}
              text="Remember it"
            />
            <Button onClick={onClose} text="Cancel" />
          </p>
        )}
      </form>
      {label === NEW_LABEL && <NewLabel onAdded={choose} onCancel={() => choose("")} />}
    </Card>
  );
}

interface TakenNoticeProps {
  readonly label: string;
  readonly value: string;
  readonly onEdit: () => void;
}

function TakenNotice({ label, value, onEdit }: TakenNoticeProps) {
  return (
    <p class="notice plain" role="status">
      {label} is “{value}”. <Button class="small" onClick={onEdit} text="Edit it" />
    </p>
  );
}

interface LabelFieldProps {
  readonly label: string;
  readonly mayAdd: boolean;
  readonly onLabel: (label: string) => void;
}

function LabelField({ label, mayAdd, onLabel }: LabelFieldProps) {
  const { labels, state } = usePage();
  const offered = [...labels.values()].filter(({ hidden }) => !hidden);
  const taken = new Set(state.facts?.map((fact) => fact.label));
  const own = offered.filter(({ own }) => own);
  const groups = [
    ...(own.length === 0 ? [] : [{ name: "Your own", entries: own }]),
    ...STANDARD_GROUPS.map((group) => ({
      name: groupName(group),
      entries: offered.filter((entry) => !entry.own && groupOf(entry.label) === group),
    })),
  ];
  const focus = (element: HTMLSelectElement | null) => {
    if (element !== null && label === "") element.focus();
  };
  return (
    <label class="field">
      <span>Label</span>
      <select
        ref={focus}
        required
        value={label}
        onChange={({ currentTarget }) => onLabel(currentTarget.value)}
      >
        <option value="" disabled>
          Choose what it is about
        </option>
        {groups.map(({ name, entries }) => (
          <optgroup key={name} label={name}>
            {entries.map((entry) => (
              <option key={entry.label} value={entry.label}>
                {entry.label}
                {taken.has(entry.label) ? " (has a value)" : ""}
              </option>
            ))}
          </optgroup>
        ))}
        {mayAdd && (
          <optgroup label="Nothing fits?">
            <option value={NEW_LABEL}>A label of your own …</option>
          </optgroup>
        )}
      </select>
    </label>
  );
}

interface ScopeFieldProps {
  readonly project: string;
  readonly scope: PlaceKind;
  readonly onScope: (scope: PlaceKind) => void;
}

/** In a project that is no worktree, both are the same place. */
function placeIn(project: string, scope: PlaceKind): PlaceKind {
  return scope === "worktree" && !isWorktree(project) ? "project" : scope;
}

function ScopeField({ project, scope, onScope }: ScopeFieldProps) {
  return (
    <SelectField label="Kept for" value={scope} onValue={(chosen) => onScope(chosen as PlaceKind)}>
      <option value="person">the person, everywhere</option>
      <option value="project">this project</option>
      {isWorktree(project) && <option value="worktree">this worktree</option>}
    </SelectField>
  );
}
