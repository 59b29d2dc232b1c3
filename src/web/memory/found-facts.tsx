/** What was found, the best first, in place of the list. What counts here can be edited; the rest says where it is. */

import type { FindAnswer, StoredFact } from "../../contract/answers.ts";
import type { Memory } from "../api/memory.ts";
import { useArrowKeys } from "../parts/arrow-keys.ts";
import { Button } from "../parts/fields.tsx";
import { authorName, countText } from "../parts/format.ts";
import { Card, ErrorNotice } from "../parts/layout.tsx";
import { FactRows, type OpenEditors } from "./fact-list.tsx";
import type { Found } from "./find-field.tsx";
import { usePage } from "./page-context.ts";
import { Author } from "./sharing.tsx";
import { RelativeTime } from "./times.tsx";

type FoundFact = FindAnswer["facts"][number];

interface FoundFactsProps {
  readonly found: Found;
  readonly editors: OpenEditors;
  readonly onClear: () => void;
  /** Shows the place of a fact. */
  readonly onMemory: (memory: Memory) => void;
}

export function FoundFacts({ found, editors, onClear, onMemory }: FoundFactsProps) {
  const { state, memory, byLabel } = usePage();
  const list = useArrowKeys();
  const { query, facts = [], error } = found;
  const isHere = (fact: FoundFact) => isEffective(fact, byLabel.get(fact.label), memory);
  const here = facts.filter(isHere).map(({ label }) => label);
  // The service looks at no writers.
  const byWriter = (state.facts ?? []).filter(({ written_by, user_id }) =>
    authorName(written_by, user_id)?.toLowerCase().includes(query.toLowerCase()),
  );
  const labels = new Set([...here, ...byWriter.map(({ label }) => label), ...editors.drafts.keys()]);
  const elsewhere = facts.filter((fact) => !isHere(fact));
  const count = labels.size + elsewhere.length;
  return (
    <>
      <p class="hint list-state">
        <span role="status">
          {count === 0 ? `Nothing is found for “${query}”.` : `${countText(count, "fact")} for “${query}”`}
        </span>
        <Button class="small link" onClick={onClear} text="Show all facts" />
      </p>
      <ErrorNotice error={error} />
      {count > 0 && (
        <div ref={list}>
          {labels.size > 0 && (
            <Card id="found" title="Found">
              <FactRows labels={[...labels]} editors={editors} showsGroup />
            </Card>
          )}
          {elsewhere.length > 0 && (
            <Card id="elsewhere" title="Elsewhere">
              <ul class="rows">
                {elsewhere.map((fact) => (
                  <ElsewhereRow
                    key={`${fact.label} ${fact.project}`}
                    fact={fact}
                    onOpen={() => onMemory({ userId: memory.userId, project: fact.project })}
                  />
                ))}
              </ul>
            </Card>
          )}
        </div>
      )}
    </>
  );
}

/** Whether a fact that was found is the one that counts where the page looks, and that the list has. */
function isEffective({ place, project }: FoundFact, known: StoredFact | undefined, memory: Memory): boolean {
  if (known === undefined || (known.place ?? "person") !== place) return false;
  return (
    project === undefined || memory.project === project || memory.project?.startsWith(`${project}/`) === true
  );
}

interface ElsewhereRowProps {
  readonly fact: FoundFact;
  readonly onOpen: () => void;
}

function ElsewhereRow({ fact, onOpen }: ElsewhereRowProps) {
  const { label, value, project, place, updated_at: at, written_by: by, user_id: author } = fact;
  return (
    <li class="fact" data-row>
      <h3 class="fact-label">{label}</h3>
      <div class="fact-body">
        <p class="fact-value">{value}</p>
        <p class="fact-meta">
          <RelativeTime at={at} />
          <Author by={by} user={author} />
          {place === "shared" && <span class="tag team">team</span>}
          <span class="tag">{project === undefined ? "person" : `in ${project}`}</span>
        </p>
      </div>
      <p class="fact-buttons">
        <Button class="small" aria-label={`Go to where ${label} is`} onClick={onOpen} text="Go there" />
      </p>
    </li>
  );
}
