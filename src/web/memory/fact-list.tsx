/** The facts by group, own groups after the standard ones. A folded group has no rows, but for those whose editors are open. */

import { groupOf } from "../../base/channel-labels.ts";
import type { StoredFact } from "../../contract/answers.ts";
import { useArrowKeys } from "../parts/arrow-keys.ts";
import { Button } from "../parts/fields.tsx";
import { countText, groupName } from "../parts/format.ts";
import type { FactDraft } from "./fact-editor.tsx";
import { FactRow } from "./fact-row.tsx";
import type { Folds } from "./folds.ts";
import { usePage } from "./page-context.ts";
import { RecentChange } from "./times.tsx";

/** The facts whose editors are open, by label. */
export interface OpenEditors {
  readonly drafts: ReadonlyMap<string, FactDraft>;
  readonly edit: (label: string, draft: FactDraft | undefined) => void;
}

interface FactListProps {
  /** How many facts each group has, in order. */
  readonly counts: ReadonlyMap<string, number>;
  readonly folds: Folds;
  readonly editors: OpenEditors;
}

export function FactList({ counts, folds, editors }: FactListProps) {
  const { state } = usePage();
  const list = useArrowKeys();
  const byGroup = new Map<string, StoredFact[]>([...counts.keys()].map((group) => [group, []]));
  for (const fact of state.facts ?? []) byGroup.get(groupOf(fact.label))?.push(fact);
  // What was forgotten while it is edited keeps its row.
  for (const { opened } of editors.drafts.values()) {
    const facts = byGroup.get(groupOf(opened.label)) ?? [];
    if (facts.every(({ label }) => label !== opened.label))
      byGroup.set(groupOf(opened.label), [...facts, opened]);
  }
  const groups = [...byGroup.keys()];
  const isAnyFolded = groups.some(folds.isFolded);
  const { facts = [] } = state;
  return (
    <>
      <p class="hint list-state">
        <span role="status">
          {facts.length === 0 ? "Nothing is remembered here yet." : countText(facts.length, "fact")}
        </span>
        {groups.length > 1 && (
          <Button
            class="small link"
            onClick={() => folds.fold(groups, !isAnyFolded)}
            text={isAnyFolded ? "Unfold all" : "Fold all"}
          />
        )}
      </p>
      <div ref={list}>
        {[...byGroup].map(([group, inGroup]) => (
          <FactGroup key={group} group={group} facts={inGroup} folds={folds} editors={editors} />
        ))}
      </div>
    </>
  );
}

interface FactGroupProps {
  readonly group: string;
  readonly facts: readonly StoredFact[];
  readonly folds: Folds;
  readonly editors: OpenEditors;
}

function FactGroup({ group, facts, folds, editors }: FactGroupProps) {
  const { state } = usePage();
  const isFolded = folds.isFolded(group);
  const shown = isFolded ? facts.filter(({ label }) => editors.drafts.has(label)) : facts;
  const changedAtMs = Math.max(...facts.map(({ label }) => state.marks.get(label) ?? 0));
  return (
    <section class="card fact-group" aria-labelledby={`group-${group}`}>
      <div class="group-head" data-row>
        <h2 id={`group-${group}`}>
          <button type="button" aria-expanded={!isFolded} onClick={() => folds.fold([group], !isFolded)}>
            {groupName(group)} {groupName(group) !== group && <small class="mono">{group}</small>}
          </button>
        </h2>
        <small>{countText(facts.length, "fact")}</small>
        {isFolded && <RecentChange atMs={changedAtMs} />}
      </div>
      {shown.length > 0 && <FactRows labels={shown.map(({ label }) => label)} editors={editors} />}
    </section>
  );
}

interface FactRowsProps {
  readonly labels: readonly string[];
  readonly editors: OpenEditors;
  readonly showsGroup?: boolean;
}

export function FactRows({ labels, editors: { drafts, edit }, showsGroup = false }: FactRowsProps) {
  const { byLabel } = usePage();
  return (
    <ul class="rows">
      {labels.map((label) => (
        <FactRow
          key={label}
          label={label}
          fact={byLabel.get(label)}
          draft={drafts.get(label)}
          onEdit={(draft) => edit(label, draft)}
          showsGroup={showsGroup}
        />
      ))}
    </ul>
  );
}
