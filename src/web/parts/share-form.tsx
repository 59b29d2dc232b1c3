/**
 * Shares a project, or changes who shares it; takes along what a person has in it, which is listed first; ends the sharing,
 * and erases what was shared, both after a question.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ProjectAnswer, SharedProjectAnswer } from "../../contract/answers.ts";
import type { PageClient } from "../api/memory.ts";
import { Button, ConfirmButton, SelectField, TextField } from "./fields.tsx";
import { countText } from "./format.ts";
import { useAction } from "./hooks.ts";
import { ErrorNotice } from "./layout.tsx";

interface ShareFormProps {
  readonly api: PageClient;
  /** Undefined: one that is not shared yet. */
  readonly known: ProjectAnswer | undefined;
  /** @param text what was done */
  readonly onDone: (text: string) => void;
  readonly onCancel: () => void;
}

const ALL = "all of the account";
const NAMED = "these members";

export function ShareForm({ api, known, onDone, onCancel }: ShareFormProps) {
  const [name, setName] = useState(known?.project ?? "");
  const [whom, setWhom] = useState(known?.members == null ? ALL : NAMED);
  const [listed, setListed] = useState(known?.members?.join("\n") ?? "");
  const [access, setAccess] = useState(known?.access ?? "write");
  const [taken, setTaken] = useState("");
  /** What would be taken along, once it was asked for. */
  const [plan, setPlan] = useState<SharedProjectAnswer["taken"]>();
  const { busy, error, run } = useAction();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);

  const members = whom === ALL ? null : listed.split("\n").filter((line) => line.trim() !== "");
  const share = (dryRun: boolean) =>
    run(async () => {
      const take = taken === "" ? undefined : { userId: taken };
      const answer = await api.shareProject(name, { members, access, take, dryRun });
      if (dryRun) setPlan(answer.taken);
      else onDone(doneText(answer, known !== undefined));
    });
  // What was listed is not what another person has.
  const changed =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      setPlan(undefined);
      set(value);
    };
  const asksFirst = taken !== "" && plan === undefined;
  return (
    <>
      <form
        class="stack narrow share-form"
        onSubmit={(event) => {
          event.preventDefault();
          share(asksFirst);
        }}
        onKeyDown={(event) => event.key === "Escape" && onCancel()}
      >
        <h3 ref={heading} tabIndex={-1} class="apart">
          {known === undefined ? "Share a project" : `Change ${known.project}`}
        </h3>
        {known === undefined && (
          <TextField
            label="Project, as agents name it (sideband project)"
            required
            autocomplete="off"
            spellcheck={false}
            value={name}
            onValue={changed(setName)}
          />
        )}
        <SelectField label="Shared with" value={whom} onValue={changed(setWhom)} options={[ALL, NAMED]} />
        {whom === NAMED && (
          <label class="field">
            <span>
              Members: one user_id in each line. Who is removed reads nothing from the next request on.
            </span>
            <textarea
              required
              rows={5}
              spellcheck={false}
              value={listed}
              onInput={({ currentTarget }) => changed(setListed)(currentTarget.value)}
            />
          </label>
        )}
        <SelectField
          label="Members may"
          value={access}
          onValue={(chosen) => setAccess(chosen as ProjectAnswer["access"])}
        >
          <option value="write">read and write</option>
          <option value="read">only read</option>
        </SelectField>
        <TextField
          label="Take along what this person has in the project (optional). It is listed first."
          autocomplete="off"
          spellcheck={false}
          placeholder="a user_id"
          value={taken}
          onValue={changed(setTaken)}
        />
        {plan !== undefined && <TakenList user={taken} facts={plan} />}
        <ErrorNotice error={error} />
        <p class="buttons">
          <Button
            type="submit"
            class="primary"
            disabled={busy}
            text={
              asksFirst ? "Show what would be shared" : submitText(known !== undefined, plan?.length ?? 0)
            }
          />
          <Button onClick={onCancel} text="Cancel" />
        </p>
      </form>
      {known !== undefined && <EndSharing api={api} known={known} onDone={onDone} />}
    </>
  );
}

function submitText(isKnown: boolean, count: number): string {
  const what = isKnown ? "Save" : "Share the project";
  return count === 0 ? what : `${what}, with ${countText(count, "fact")}`;
}

function doneText({ project, facts, taken }: SharedProjectAnswer, wasKnown: boolean): string {
  const along = taken.length === 0 ? "" : ` ${countText(taken.length, "fact")} came along.`;
  return `${project} is ${wasKnown ? "changed" : "shared"}: it has ${countText(facts, "fact")}.${along}`;
}

interface TakenListProps {
  readonly user: string;
  readonly facts: SharedProjectAnswer["taken"];
}

function TakenList({ user, facts }: TakenListProps) {
  if (facts.length === 0) return <p class="hint">{user} has nothing in this project that can be shared.</p>;
  return (
    <>
      <p>
        These facts of {user} become the team's, with their history. They are not {user}'s any more:
      </p>
      <ul class="taken">
        {facts.map(({ label, value }) => (
          <li key={label}>
            <b class="mono">{label}</b> {value}
          </li>
        ))}
      </ul>
    </>
  );
}

interface EndSharingProps {
  readonly api: PageClient;
  readonly known: ProjectAnswer;
  readonly onDone: (text: string) => void;
}

/** Ends the sharing: one member gets what was shared, or nobody has it any more. */
function EndSharing({ api, known: { project, facts }, onDone }: EndSharingProps) {
  const [giveTo, setGiveTo] = useState("");
  const { busy, error, run } = useAction();
  const end = () =>
    run(async () => {
      const { given = 0 } = await api.unshareProject(project, giveTo === "" ? {} : { giveTo });
      const got = giveTo === "" ? "" : ` ${giveTo} has got ${countText(given, "fact")}.`;
      onDone(`${project} is not shared any more.${got}`);
    });
  const erase = () =>
    run(async () => {
      const { erased } = await api.eraseProject(project);
      onDone(`${countText(erased, "fact")} of ${project} ${erased === 1 ? "is" : "are"} erased for all.`);
    });
  return (
    <div class="stack narrow">
      <h3 class="apart">End the sharing of {project}</h3>
      <TextField
        label="Give what is shared to this member (empty: only where nothing is)"
        autocomplete="off"
        spellcheck={false}
        placeholder="a user_id"
        value={giveTo}
        onValue={setGiveTo}
      />
      <ErrorNotice error={error} />
      <p class="buttons">
        <Button
          disabled={busy}
          onClick={end}
          text={giveTo === "" ? "End the sharing" : `Give it to ${giveTo}`}
        />
        <ConfirmButton
          label={`Erase ${countText(facts, "fact")} for all`}
          what={`of ${project}, with their history, which cannot be undone`}
          onConfirm={erase}
        />
      </p>
    </div>
  );
}
