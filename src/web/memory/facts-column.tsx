/** The facts: finding them, the way to each part of the page, what waits for the person, and the list or what was found. */

import { useEffect, useState } from "preact/hooks";
import { waitingFacts } from "../../agent-side/waiting-facts.ts";
import { groupOf } from "../../base/channel-labels.ts";
import type { Memory } from "../api/memory.ts";
import { Button } from "../parts/fields.tsx";
import { Loading } from "../parts/layout.tsx";
import { AddFact } from "./add-fact.tsx";
import { draftOf, type FactDraft } from "./fact-editor.tsx";
import { FactList, type OpenEditors } from "./fact-list.tsx";
import { FindField, NO_SEARCH, useFind } from "./find-field.tsx";
import { countByGroup, useFolds } from "./folds.ts";
import { FoundFacts } from "./found-facts.tsx";
import { FileButton } from "./imported-file.tsx";
import { focusHeading, JumpList } from "./jump-list.tsx";
import { usePage } from "./page-context.ts";
import { Review } from "./review.tsx";

interface FactsColumnProps {
  readonly onFile: (file: File) => void;
  readonly onMemory: (memory: Memory) => void;
}

export function FactsColumn({ onFile, onMemory }: FactsColumnProps) {
  const { state, byLabel, canWrite } = usePage();
  const [search, setSearch] = useState(NO_SEARCH);
  const [isAdding, setIsAdding] = useState(false);
  const [drafts, setDrafts] = useState<ReadonlyMap<string, FactDraft>>(new Map());
  /** The group to go to, once it is shown. */
  const [goal, setGoal] = useState<string>();
  const found = useFind(search);
  const counts = countByGroup(state.facts ?? []);
  const folds = useFolds(state.facts === undefined ? undefined : counts);
  const waiting = waitingFacts(state.facts);
  const isFinding = found.facts !== undefined || found.error !== undefined;

  const editors: OpenEditors = {
    drafts,
    edit: (label, draft) => {
      const next = new Map(drafts);
      if (draft === undefined) next.delete(label);
      else next.set(label, draft);
      setDrafts(next);
    },
  };
  /** Opens the editor of a fact, which takes the focus. */
  const openEditor = (label: string) => {
    const fact = byLabel.get(label);
    if (fact !== undefined) editors.edit(label, draftOf(fact));
  };
  const goToGroup = (group: string) => {
    setSearch({ ...search, query: "" });
    folds.fold([group], false);
    setGoal(group);
  };
  useEffect(() => {
    if (goal === undefined || found.facts !== undefined) return;
    focusHeading(`group-${goal}`);
    setGoal(undefined);
  }, [goal, found.facts]);
  return (
    <div>
      <div class="memory-tools">
        <FindField search={search} onSearch={setSearch} />
        {canWrite && !isAdding && (
          <Button class="primary" onClick={() => setIsAdding(true)} text="Add a fact" />
        )}
        {canWrite && <FileButton onFile={onFile} />}
      </div>
      {isAdding && (
        <AddFact
          onEdit={(label) => {
            setIsAdding(false);
            openEditor(label);
          }}
          onAdded={(label) => {
            setIsAdding(false);
            if (folds.isFolded(groupOf(label))) folds.fold([groupOf(label)], false);
          }}
          onClose={() => setIsAdding(false)}
        />
      )}
      <JumpList
        counts={found.facts === undefined ? counts : new Map()}
        waitingCount={waiting.length}
        onGroup={goToGroup}
      />
      {waiting.length > 0 && !isFinding && <Review waiting={waiting} onChange={openEditor} />}
      {state.facts === undefined ? (
        state.error === undefined && <Loading what="Reading the facts" tall />
      ) : isFinding ? (
        <FoundFacts
          found={found}
          editors={editors}
          onClear={() => setSearch({ ...search, query: "" })}
          onMemory={onMemory}
        />
      ) : (
        <FactList counts={counts} folds={folds} editors={editors} />
      )}
      {/* What was looked for comes first. */}
      {waiting.length > 0 && isFinding && <Review waiting={waiting} onChange={openEditor} />}
    </div>
  );
}
