/** What a file leaves open: what kind it is, whose memory it has, whether it is about a project, and which one. */

import { useEffect, useState } from "preact/hooks";
import { UnreadableFileError } from "../../import/findings.ts";
import { FORMATS, type FormatName } from "../../import/formats.ts";
import type { PlannedFact } from "../../import/import-plan.ts";
import { projectsOf } from "../api/memory.ts";
import { Button, SelectField, TextField } from "../parts/fields.tsx";
import { useAction, useQuery } from "../parts/hooks.ts";
import { ErrorNotice } from "../parts/layout.tsx";
import type { DraftRow, FileTerms, ImportDraft } from "./import-draft.ts";
import { usePage } from "./page-context.ts";

interface FileQuestionsProps {
  readonly draft: ImportDraft | undefined;
  readonly error: unknown;
  readonly terms: FileTerms;
  readonly onTerms: (terms: FileTerms) => void;
}

/** What kind of file it is, whose memory it has, and whether it is about a project. */
export function FileQuestions({ draft, error, terms, onTerms }: FileQuestionsProps) {
  const missing = error instanceof UnreadableFileError ? error.missing : undefined;
  const named = typeof missing === "object" ? missing.users : [];
  const others = draft?.leftOut.flatMap(({ ofUser }) => ofUser ?? []) ?? [];
  const users = [...new Set([terms.of, ...named, ...others])].sort();
  return (
    <div class="add-terms">
      <SelectField
        label="Read the file as"
        value={terms.format ?? ""}
        onValue={(format) => onTerms({ ...terms, format: (format || undefined) as FormatName | undefined })}
      >
        <option value="">what it looks like</option>
        {Object.entries(FORMATS).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </SelectField>
      {users.length > 1 && (
        <SelectField
          label="Whose memory in it"
          value={terms.of}
          onValue={(of) => onTerms({ ...terms, of })}
          options={users}
        />
      )}
      {draft?.isAgentsFile && (
        <label class="check">
          <input
            type="checkbox"
            checked={terms.isOfPerson}
            onChange={() => onTerms({ ...terms, isOfPerson: !terms.isOfPerson })}
          />{" "}
          It is about the person, not about a project
        </label>
      )}
    </div>
  );
}

interface ProjectQuestionProps {
  readonly draft: ImportDraft;
  readonly unplaced: readonly DraftRow[];
  readonly onRows: (rows: readonly DraftRow[]) => void;
}

const NAMES_MAX = 3;

/** Facts of the work have no place outside a project. */
export function ProjectQuestion({ draft, unplaced, onRows }: ProjectQuestionProps) {
  const { api, memory } = usePage();
  const [project, setProject] = useState("");
  const [known, setKnown] = useState<readonly string[]>([]);
  const { query } = useQuery();
  const { busy, error, run } = useAction();
  useEffect(() => {
    query(() => projectsOf(api, memory.userId), setKnown);
  }, []);
  const isAsked = new Set(unplaced.map(({ id }) => id));
  const place = () =>
    run(async () => {
      const placed = new Map<number, PlannedFact>();
      for (const { id, fact } of unplaced) {
        const planned = (await draft.plan(fact, project.trim())).fact;
        if (planned !== undefined) placed.set(id, planned);
      }
      onRows(draft.rows.map((row) => ({ ...row, fact: placed.get(row.id) ?? row.fact })));
    });
  const names = unplaced.slice(0, NAMES_MAX).map(({ fact }) => fact.label);
  const more = unplaced.length > names.length ? ` and ${unplaced.length - names.length} more` : "";
  return (
    <form
      class="project-question"
      onSubmit={(event) => {
        event.preventDefault();
        place();
      }}
    >
      <TextField
        class="field grow"
        label={`Which project ${unplaced.length === 1 ? "is" : "are"} ${names.join(", ")}${more} of?`}
        required
        list="known-projects"
        autocomplete="off"
        value={project}
        onValue={setProject}
      />
      <datalist id="known-projects">
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Button type="submit" disabled={busy || project.trim() === ""} text="Keep there" />
      <Button
        onClick={() =>
          onRows(draft.rows.map((row) => (isAsked.has(row.id) ? { ...row, isWanted: false } : row)))
        }
        text="Leave out"
      />
      <ErrorNotice error={error} />
    </form>
  );
}
