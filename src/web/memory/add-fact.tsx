/** Adds a fact: its label, with what belongs there, its value, when it ends, and in a project for whom it is kept. */

import { useState } from "preact/hooks";
import type { PlaceKind } from "../../contract/answers.ts";
import { SidebandError } from "../../sdk/errors.ts";
import { newFreeLabel } from "../api/memory.ts";
import { Button, TextField } from "../parts/fields.tsx";
import { useAction } from "../parts/hooks.ts";
import { Card } from "../parts/layout.tsx";
import { chosenLabel, type LabelChoice, LabelField, NO_CHOICE, SlipNotice } from "./label-field.tsx";
import { NewLabel } from "./new-label.tsx";
import { usePage } from "./page-context.ts";
import { PlaceField, placesOf, usualPlace } from "./place-field.tsx";
import { keptValue, SecretNotice } from "./secret-notice.tsx";
import { EndField, endChoiceOf, endOfChoice, ValueField } from "./value-fields.tsx";
import { writeIfUnchanged } from "./writes.ts";

interface AddFactProps {
  /** A label whose fact is there already: its editor is to be opened. */
  readonly onEdit: (label: string) => void;
  readonly onAdded: (label: string) => void;
  readonly onClose: () => void;
}

const DESCRIPTION_LENGTH_MAX = 200;

export function AddFact({ onEdit, onAdded, onClose }: AddFactProps) {
  const page = usePage();
  const { memory, state, labels, labelsLeft, me } = page;
  const [choice, setChoice] = useState(NO_CHOICE);
  const [description, setDescription] = useState("");
  const [value, setValue] = useState("");
  const [end, setEnd] = useState(() => endChoiceOf(undefined));
  const [scope, setScope] = useState<PlaceKind>();
  const [near, setNear] = useState<string>();
  /** That the value is no secret. */
  const [insists, setInsists] = useState(false);
  /** Whether a label of the account is declared first. */
  const [declares, setDeclares] = useState(false);
  const { busy, error, run, clearError } = useAction();
  const { label, isNew } = choice;
  const terms = label === "" ? undefined : (labels.get(label) ?? newFreeLabel(label));
  const known = state.facts?.find((fact) => fact.label === label);

  const choose = (chosen: LabelChoice) => {
    setChoice(chosen);
    setNear(undefined);
    clearError();
    if (chosen.label === label) return;
    // A text that was typed before the label was settled stays.
    if (labels.get(chosen.label)?.one_of?.includes(value) === false) setValue("");
    setScope(undefined);
  };
  const type = (text: string) => {
    setValue(text);
    setInsists(false);
    clearError();
  };
  const add = (newLabel: true | "certain", isSure = insists) =>
    run(async () => {
      const made = isNew ? { newLabel, description: description.trim() || undefined } : {};
      // A project that was not shared when the person chose it may be by now: what was meant for it is the person's own.
      const kept = place === "project" ? "own" : place;
      const open = await keptValue(label, value, isSure);
      const fact = {
        label,
        value: open,
        scope: kept,
        ...endOfChoice(end, undefined),
        ifRevision: 0,
        ...made,
      };
      try {
        // If somebody was faster the form shows what is there.
        if (await writeIfUnchanged(page, fact)) onAdded(label);
      } catch (failure) {
        const hint = SidebandError.isInstance(failure) ? failure.hint : undefined;
        if (!isNew || hint === undefined) throw failure;
        setNear(hint);
      }
    });
  const places = placesOf(page);
  const place = memory.project === undefined ? undefined : (scope ?? usualPlace(places, terms?.scope));
  const isTaken = known !== undefined && known.place === place;
  if (declares) {
    return (
      <Card id="add" title="Add a label for all users of the account" class="card add-fact">
        <NewLabel
          onAdded={(added) => {
            choose(chosenLabel({ label: added, isNew: false }));
            setDeclares(false);
          }}
          onCancel={() => setDeclares(false)}
        />
      </Card>
    );
  }
  return (
    <Card id="add" title="Add a fact" class="card add-fact">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add(true);
        }}
        onKeyDown={(event) => event.key === "Escape" && onClose()}
      >
        <LabelField name="Label" choice={choice} onChoice={choose} />
        {terms !== undefined && (
          <>
            {terms.description !== "" && (
              <p class="hint">
                {terms.description}
                {terms.example !== "" && <>, for example “{terms.example}”</>}.
              </p>
            )}
            {isNew && (
              <TextField
                label={`What belongs under ${label} (optional). Agents choose by it.`}
                maxLength={DESCRIPTION_LENGTH_MAX}
                value={description}
                onValue={setDescription}
              />
            )}
            {isTaken ? (
              <TakenNotice label={label} value={known.value} onEdit={() => onEdit(label)} />
            ) : (
              <ValueField terms={terms} name={`Value of ${label}`} value={value} onValue={type} />
            )}
            <div class="add-terms">
              {!isTaken && <EndField terms={terms} choice={end} onChoice={setEnd} />}
              {place !== undefined && <PlaceField places={places} place={place} onPlace={setScope} />}
            </div>
            {known !== undefined && !isTaken && (
              <p class="hint">
                {known.place === "shared" ? (
                  <>
                    The team has “{known.value}”. A value only for {me} hides it from {me} alone.
                  </>
                ) : (
                  <>
                    There is also “{known.value}”, kept for the {known.place}. Where both are, the inner one
                    counts.
                  </>
                )}
              </p>
            )}
          </>
        )}
        <SecretNotice
          error={error}
          busy={busy}
          onInsist={() => {
            setInsists(true);
            add(true, true);
          }}
        />
        {near === undefined ? (
          <p class="buttons">
            <Button
              type="submit"
              class="primary"
              disabled={busy || terms === undefined || isTaken}
              text="Remember it"
            />
            <Button onClick={onClose} text="Cancel" />
            {labelsLeft > 0 && label === "" && (
              <Button
                class="link"
                onClick={() => setDeclares(true)}
                text="A label for all users of the account …"
              />
            )}
          </p>
        ) : (
          <SlipNotice
            label={label}
            near={near}
            onNear={() => choose(chosenLabel({ label: near, isNew: false }))}
            onInsist={() => add("certain")}
            onCancel={onClose}
          />
        )}
      </form>
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
