/** Gives a fact another label. Where that has a fact, both can become a list. */

import { useState } from "preact/hooks";
import type { StoredFact } from "../../contract/answers.ts";
import { isSidebandError } from "../../sdk/errors.ts";
import { Button } from "../parts/fields.tsx";
import { useAction } from "../parts/hooks.ts";
import { ErrorNotice, Notice } from "../parts/layout.tsx";
import { chosenLabel, LabelField, NO_CHOICE, SlipNotice } from "./label-field.tsx";
import { nearLabel } from "./label-options.ts";
import { usePage } from "./page-context.ts";
import { renameFact } from "./writes.ts";

interface RenameFactProps {
  readonly fact: StoredFact;
  readonly onClose: () => void;
}

/** What the person has to answer first. */
type RenameQuestion = { readonly near: string } | "merge";

export function RenameFact({ fact, onClose }: RenameFactProps) {
  const page = usePage();
  const { labels, state } = page;
  const [choice, setChoice] = useState(NO_CHOICE);
  const [question, setQuestion] = useState<RenameQuestion>();
  const { busy, error, run, clearError } = useAction();
  const { label: to, isNew } = choice;
  const choose = (chosen: typeof choice) => {
    setChoice(chosen);
    setQuestion(undefined);
    clearError();
  };
  const rename = (merge?: "append") =>
    run(async () => {
      try {
        await renameFact(page, fact, to, merge);
      } catch (failure) {
        if (!isSidebandError(failure, "fact_exists")) throw failure;
        setQuestion("merge");
      }
    });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const near = isNew ? nearLabel(to, [...labels.values()]) : undefined;
    if (near === undefined || near === fact.label) rename();
    else setQuestion({ near });
  };
  const other = state.facts?.find(({ label, place }) => label === to && place === fact.place);
  return (
    <form
      class="fact-editor"
      aria-label={`Rename ${fact.label}`}
      onSubmit={submit}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      <LabelField name={`New label of ${fact.label}`} choice={choice} onChoice={choose} except={fact.label} />
      <ErrorNotice error={error} />
      {question === "merge" && (
        <Notice kind="plain">
          {to} has a fact{other !== undefined && <>: “{other.value}”</>}. Both can become a list there, with
          semicolons between.
        </Notice>
      )}
      {typeof question === "object" ? (
        <SlipNotice
          label={to}
          near={question.near}
          onNear={() => choose(chosenLabel({ label: question.near, isNew: false }))}
          onInsist={() => rename()}
          onCancel={onClose}
        />
      ) : (
        <p class="buttons">
          {question === "merge" ? (
            <Button
              class="primary"
              disabled={busy}
              onClick={() => rename("append")}
              text="Make a list of both"
            />
          ) : (
            <Button type="submit" class="primary" disabled={busy || to === ""} text="Rename" />
          )}
          <Button onClick={onClose} text="Cancel" />
        </p>
      )}
    </form>
  );
}
